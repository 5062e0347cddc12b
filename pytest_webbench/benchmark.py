"""`run_benchmark`: what `pytest --model` does, from a Python program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_webbench.cases import Case, check_unique_ids, load_cases
from pytest_webbench.driver import opened
from pytest_webbench.ledger import new_run_id
from pytest_webbench.model_table import built_in_keys
from pytest_webbench.options import DEFAULT_STORE, DEFAULT_TEMPLATE, SettingsError
from pytest_webbench.records import Record
from pytest_webbench.reports.accumulated import BENCHMARK, read_benchmark
from pytest_webbench.reports.files import point_latest_at, write_accumulated, write_asked, write_run_reports
from pytest_webbench.selection import Wishes, choose_templates, read_models
from pytest_webbench.settings import Settings, Tier, store_location
from pytest_webbench.statistics.summary import Summary, summarise_samples


def run_benchmark(
    models: str | Sequence[str],
    cases: str | Path | Sequence[Case] = "cases",
    samples: int | None = None,
    templates: str | Sequence[str] = DEFAULT_TEMPLATE,
    *,
    temperature: float | None = None,
    tier: Tier = "functional",
    root: str | Path = ".",
    report_dir: str | Path = "reports",
    store: str | Path = DEFAULT_STORE,
    template_folder: str | Path | None = None,
    budget: float | None = None,
    offline: bool = False,
    sandbox: str = "auto",
    note: Callable[[Record], None] = lambda record: None,
) -> Summary:
    """Put cases to models and return all figures; leaves the reports and the store as `pytest --model` would.

    `models` are names of the models table below `root` or `PROVIDER:MODEL_ID`; `cases` a folder, a definition or
    what `load_cases` gave; `templates` names of prompt templates, `"all"` for every one. Without `samples` a model's
    own number is taken, 10 in general; `temperature` takes the place of the models' own. `budget` is in USD, and
    `offline` allows stored completions only. Paths are below `root`. `note` is told each record as it comes. Samples
    are judged in this process, one by one; a large run is quicker with `pytest -n`.

    Raises:
        SettingsError: an unknown model or template, a missing key, a budget without a price, no case at all.
        CaseError: a case that cannot be used.
        ConfigError: a model that cannot be asked on this machine.

    >>> summary = run_benchmark("local", "cases/flask", samples=1)  # doctest: +SKIP
    >>> summary.by_model[0].metrics["functional_pass_at_1"].value  # doctest: +SKIP
    0.25
    """
    folder = Path(root).resolve()
    chosen = load_cases(folder / cases) if isinstance(cases, str | Path) else list(cases)
    if not chosen:
        raise SettingsError(f"no case in {cases}")
    check_unique_ids(chosen)
    location = store_location(folder, str(store))
    settings = Settings(
        root=folder,
        run_id=new_run_id(),
        models=read_models(
            _names(models), folder, location, Wishes(samples=samples, temperature=temperature), asks=not offline
        ),
        templates=choose_templates(_names(templates), folder / template_folder if template_folder else None),
        store=location,
        report_dir=folder / report_dir,
        tier=tier,
        budget=budget,
        offline=offline,
        sandbox=sandbox,
    )
    read_benchmark(settings.report_dir / BENCHMARK)
    return _run(settings, chosen, note)


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _run(settings: Settings, cases: Sequence[Case], note: Callable[[Record], None]) -> Summary:
    with opened(settings, cases, {}) as driver:
        driver.take(
            [
                driver.sample(case, model, template.name, index)
                for case in cases
                for model in settings.models
                for template in settings.templates
                for index in range(model.samples)
            ],
            note,
        )
        records, taken = driver.run.ledger.all_records(), driver.taken()
    summary = summarise_samples(settings.run_id, taken)
    write_accumulated(settings.report_dir, cases, records, built_in_keys(), DEFAULT_TEMPLATE)
    write_asked(settings.run_folder, cases, settings.templates)
    write_run_reports(settings.run_folder, summary, taken, records=lambda: records)
    point_latest_at(settings.run_folder)
    return summary
