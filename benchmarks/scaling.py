"""Judging with one worker against two: the same reference run with `-n 1` and `-n 2`, in turn.

python benchmarks/scaling.py [--samples 4] [--runs 3]

The bound is 2: start-up, collection and reports are not shared out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

CASES = Path(__file__).resolve().parent.parent / "cases"


def seconds(samples: int, workers: int) -> float:
    """Return how long a run of all cases' references takes."""
    with tempfile.TemporaryDirectory() as name:
        command = [
            *(sys.executable, "-m", "pytest", str(CASES), "--model=reference", f"--webbench-samples={samples}"),
            *("-q", "-n", str(workers), "-p", "no:cacheprovider", f"--webbench-report-dir={name}/reports"),
            f"--webbench-store={name}/store.sqlite",
        ]
        started = time.monotonic()
        subprocess.run(command, cwd=CASES.parent, check=True, capture_output=True)
        return time.monotonic() - started


def main() -> None:
    """Print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    pairs = [(seconds(options.samples, 1), seconds(options.samples, 2)) for _ in range(options.runs)]
    one, two = median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)
    ratio = median(first / second for first, second in pairs)
    print(f"one worker {one:.1f} s, two workers {two:.1f} s, {ratio:.2f} times as fast (bound: 2)")


if __name__ == "__main__":
    main()
