"""Fetching against the ideal: a run of 200 samples whose server is slow and faulty, measured at the server.

python benchmarks/fetch.py [--samples 200] [--latency 0.5] [--concurrency 32] [--tiers static] [--runs 3]

The server answers every request after the latency, 10 % with 429 and 5 % by a connection reset in mid-body. The
ideal is the time that all its requests, retries included, take side by side: requests * latency / concurrency. The
ratio is (last reply - first arrival) / ideal, alone and with two workers, so it includes the waits before retries.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ("--rate-limited", "0.1", "--reset", "0.05")
TABLE = "[models.slow]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{url}'\nmax_retries = 8\n"


def measure(options: argparse.Namespace, *workers: str) -> str:
    """Run the samples against a fresh server and store; return a line of figures."""
    command = [sys.executable, str(ROOT / "tests" / "loopback.py"), "--latency", str(options.latency), *FAULTS]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as name:
            judged = _run(Path(name), url, options, workers)
        with urlopen(f"{url.removesuffix('/v1')}/log") as reply:
            log = json.load(reply)
    finally:
        server.kill()
    seconds = max(seen["replied"] for seen in log) - min(seen["arrived"] for seen in log)
    ideal = len(log) * options.latency / options.concurrency
    refused = sum(seen["status"] == 429 for seen in log)
    return (
        f"{' '.join(workers) or 'alone':8}{judged:>8}{len(log):>10}{refused:>6}{len(log) - judged - refused:>8}"
        f"{seconds:>10.2f}{ideal:>9.2f}{seconds / ideal:>8.2f}"
    )


def _run(folder: Path, url: str, options: argparse.Namespace, workers: tuple[str, ...]) -> int:
    (folder / "webbench.toml").write_text(TABLE.format(url=url), encoding="utf-8")
    cases = sorted((ROOT / "cases").glob("*/*/definition.toml"))[:10]
    arguments = (
        "--model=slow",
        f"--webbench-samples={options.samples // len(cases)}",
        f"--webbench-concurrency={options.concurrency}",
        f"--webbench-tiers={options.tiers}",
        "--webbench-report-only",
        *("-p", "no:cacheprovider"),
        f"--webbench-models={folder}/webbench.toml",
        f"--webbench-store={folder}/store.sqlite",
        f"--webbench-report-dir={folder}/reports",
    )
    command = [sys.executable, "-m", "pytest", "-q", *arguments, *workers, *map(str, cases)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(result.stdout[-3000:] + result.stderr)
    return len((folder / "reports/latest/records.jsonl").read_text(encoding="utf-8").splitlines())


def main() -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--latency", type=float, default=0.5, metavar="SECONDS")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--tiers", default="static")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(f"{'':8}{'judged':>8}{'requests':>10}{'429':>6}{'resets':>8}{'seconds':>10}{'ideal':>9}{'ratio':>8}")
    for _ in range(options.runs):
        print(measure(options))
        print(measure(options, "-n", "2"), flush=True)


if __name__ == "__main__":
    main()
