"""A run's results and a dataset in the files of the system that came first, one array of entries each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from pytest_webbench.cases import Case
from pytest_webbench.ledger import RunData
from pytest_webbench.records import Record
from pytest_webbench.reports.conversations import answers, identity

AGENT_FILE = "agent_final.json"


def dataset_entries(cases: Iterable[Case]) -> list[dict[str, str]]:
    """Return the cases as entries of a `dataset.json`."""
    return [
        {
            "id": case.id,
            "domain": case.domain,
            "language": case.language,
            "framework": case.framework,
            "source": case.source,
            "prompt": case.prompt,
            "reference_code": case.reference,
        }
        for case in cases
    ]


def result_files(data: RunData) -> dict[str, list[dict[str, Any]]]:
    """Return the contents by file name: two files for each model, one for the agent.

    `<model>_single.json`: the first sample of each case, with its code. `<model>_pass1.json`: n, passes and
    pass_at_1 (static: syntax and structure) of each case over its samples. `agent_final.json`: the agent's
    final code. Of several templates the run's first one counts; of several agents each has its alias in front.
    """
    first_template = next(iter(data.description["settings"]["templates"]))
    said = {identity(answer): answer for answer in answers(data.folder)}
    by_model: dict[str, list[Record]] = {}
    for record in data.records:
        if record.prompt_template == first_template:
            by_model.setdefault(record.model, []).append(record)
    agents = [alias for alias, records in by_model.items() if records[0].provider == "agent"]
    files: dict[str, list[dict[str, Any]]] = {}
    for alias, records in by_model.items():
        first = [_single(record, said) for record in records if record.sample == 0]
        if alias in agents:
            files[AGENT_FILE if len(agents) == 1 else f"{alias}_{AGENT_FILE}"] = first
        else:
            files |= {f"{alias}_single.json": first, f"{alias}_pass1.json": _pass1(records)}
    return files


def _single(record: Record, said: Mapping[tuple[str, str, str, int], Mapping[str, Any]]) -> dict[str, Any]:
    answer = said.get((record.case_name, record.model, record.prompt_template, record.sample), {})
    return {
        "id": record.case_id,
        "framework": record.framework,
        "model": record.model_id,
        "prompt": answer["messages"][-1]["content"] if answer else None,
        "generated_code": answer.get("code"),
        "status": record.status,
        "passed": record.static_pass,
        "functional_pass": record.functional_pass,
        "web_codebleu": record.web_codebleu,
        "kw_f1": record.kw_f1,
    }


def _pass1(records: Sequence[Record]) -> list[dict[str, Any]]:
    by_case: dict[str, list[Record]] = {}
    for record in records:
        by_case.setdefault(record.case_id, []).append(record)
    return [_rate(group) for group in by_case.values()]


def _rate(records: Sequence[Record]) -> dict[str, Any]:
    judged = [record for record in records if record.static_pass is not None]
    passes = [bool(record.static_pass) for record in judged]
    return {
        "id": records[0].case_id,
        "framework": records[0].framework,
        "model": records[0].model_id,
        "n": len(records),
        "k": len(judged),
        "n_passed": sum(passes),
        "pass_at_1": fmean(passes) if passes else None,
        "samples": passes,
    }
