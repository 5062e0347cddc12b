"""What an item costs beside its judging: collection, bookkeeping, records, reports, over the number of items.

python benchmarks/items.py [400 4000 40000] [--workers 2]

Runs of 100 cases with stored completions, static tiers, no model called. Start-up (a run of one item) is subtracted,
and so is judging (extraction, tiers, metrics), as the records tell it. CPU milliseconds of all processes together;
memory is the highest of the main process and of a worker.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

CASES = 100
APP = """```python
from flask import Flask, jsonify

app = Flask(__name__)


@app.get("/items/{number}")
def read():
    return jsonify(number={number})
```"""


@dataclass(frozen=True)
class Cost:
    """CPU seconds of all processes, seconds of judging in them, and the peak memory of each kind in MB."""

    cpu: float
    judging: float
    seconds: float
    main_mb: float
    worker_mb: float


def write_project(folder: Path, samples: int, *, cases: int = CASES, models: int = 1) -> list[str]:
    """Write a dataset, and a store with each model's replies for the samples; return the models' names."""
    entries = [
        {
            "id": f"item_{number}",
            "domain": "web",
            "language": "python",
            "framework": "Flask",
            "source": "made for a benchmark",
            "prompt": f"Write a Flask app that answers GET /items/{number} with its number.",
            "reference_code": APP.format(number=number).strip("`").removeprefix("python\n"),
        }
        for number in range(cases)
    ]
    (folder / "dataset.json").write_text(json.dumps(entries), "utf-8")
    replies = {f"item_{number}": [APP.format(number=number)] * samples for number in range(cases)}
    (folder / "replies.json").write_text(json.dumps(replies), "utf-8")
    names = [f"scripted-{number}" for number in range(models)]
    for model in names:
        command = [sys.executable, "-m", "pytest_webbench", "import", "--model", model, "replies.json"]
        subprocess.run([*command, "--cases", "dataset.json"], cwd=folder, check=True, capture_output=True)
    return names


def measure(folder: Path, samples: int, *arguments: str, models: Sequence[str] = ("scripted-0",)) -> Cost:
    """Run `samples` of every case and model."""
    chosen = f"--model={','.join(models)}"
    command = [sys.executable, "-m", "pytest", "dataset.json", chosen, "--webbench-offline", "-q", "-q"]
    options = ("--webbench-tiers=static", f"--webbench-samples={samples}", "-p", "no:cacheprovider", "--tb=no")
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen([*command, *options, *arguments], cwd=folder, stdout=subprocess.PIPE, text=True)
    peaks = {"main": 0.0, "worker": 0.0}
    watcher = threading.Thread(target=_watch, args=(psutil.Process(process.pid), peaks))
    watcher.start()
    printed, _ = process.communicate()
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0:
        sys.exit(printed[-3000:])
    with (folder / "reports" / "latest" / "records.jsonl").open(encoding="utf-8") as lines:
        judging = sum(json.loads(line)["duration_seconds"] for line in lines)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, judging, time.monotonic() - started, peaks["main"], peaks["worker"])


def _watch(process: psutil.Process, peaks: dict[str, float]) -> None:
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        try:
            children = process.children()
            peaks["main"] = max(peaks["main"], process.memory_info().rss / 1e6)
            peaks["worker"] = max([peaks["worker"], *(child.memory_info().rss / 1e6 for child in children)])
        except psutil.NoSuchProcess:
            return
        time.sleep(0.2)


def main() -> None:
    """Print a line for each number of items, alone and with workers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("items", nargs="*", type=int, default=[400, 4000, 40000])
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    print(
        f"{'':8}{'items':>7}{'seconds':>9}{'CPU ms an item':>16}{'beside judging':>16}{'main MB':>9}{'worker MB':>11}"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, max(options.items) // CASES)
        for label, arguments in (("alone", ()), (f"-n {options.workers}", ("-n", str(options.workers)))):
            start = measure(folder, 1, "-k", "item_0", *arguments)
            for items in options.items:
                cost = measure(folder, items // CASES, *arguments)
                each = 1000 * (cost.cpu - start.cpu) / items
                beside = each - 1000 * cost.judging / items
                print(
                    f"{label:8}{items:>7}{cost.seconds:>9.1f}{each:>16.2f}{beside:>16.2f}"
                    f"{cost.main_mb:>9.0f}{cost.worker_mb:>11.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
