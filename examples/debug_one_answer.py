"""Look into one answer: why did it fail, and where does it differ from the reference solution?

python examples/debug_one_answer.py reports/latest flask/todo_crud
"""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

from pytest_webbench import extract_code, load_records, web_codebleu
from pytest_webbench.ledger import read_run
from pytest_webbench.reports.answer import find_answer
from pytest_webbench.reports.references import read_references


def main(run: str, case: str, sample: int = 0) -> None:
    """Print checks that failed, how the code was found, and a diff to the reference."""
    record = next(one for one in load_records(run) if one.case_name == case and one.sample == int(sample))
    print(f"{case}, {record.model}: {record.status} {record.failure_class or ''}".rstrip())
    for check in record.checks:
        if check.passed is False:
            print(f"{check.tier} {check.name}: {check.message}\n{check.request}\n{check.response}")
    folder = read_run(Path(run)).folder
    answer = find_answer(folder, record)
    if answer is None:
        print("there is no answer: the model was not heard")
        return
    code = extract_code(answer["reply"], record.framework)
    print(f"code found by {code.rule}: {len((code.text or '').splitlines())} lines")
    reference = read_references(folder)[case]
    score = web_codebleu(reference, code.text or "")
    print(f"Web-CodeBLEU {score.web_codebleu:.3f}: similarity to the reference, not correctness")
    pair = (reference.splitlines(), (code.text or "").splitlines())
    print("\n".join(difflib.unified_diff(*pair, "reference", "answer", lineterm="", n=1)))


if __name__ == "__main__":
    main(*sys.argv[1:])
