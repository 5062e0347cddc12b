"""Run every benchmark and write what they print to benchmarks/RESULTS.md.

python benchmarks/run_all.py [--quick]

--quick (fewer repetitions and items) takes a quarter of an hour on two quiet cores, all of it several times as long.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
BENCHMARKS = (
    ("What the plugin costs a suite that does not use it", "plugin_overhead.py", (), ()),
    ("Web-CodeBLEU against the package", "codebleu.py", (), ()),
    ("Sandbox against a cold start", "sandbox.py", (), ()),
    ("Fetching against the ideal", "fetch.py", (), ("--runs", "1")),
    ("Judging with one worker and with two", "scaling.py", ("--runs", "1"), ("--samples", "1")),
    ("What an item costs beside its judging", "items.py", (), ("400", "4000")),
    ("Reports of many records", "reports.py", (), ("40000",)),
    ("Growth over cases, samples and models", "growth.py", ("--out", str(FOLDER / "growth.png")), ()),
)


def additions() -> float:
    """Return the CPU seconds of ten million additions: what the figures that are no ratios are to be read by."""
    started, total = time.process_time(), 0
    for number in range(10_000_000):
        total += number
    return time.process_time() - started


def main() -> None:
    """Run them one after the other, so that none disturbs another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    pace = f"ten million additions in a loop take {additions():.1f} s of CPU here"
    parts = [f"# Results\n\n{time.strftime('%Y-%m-%d')}, {machine}{', quick' if quick else ''}; {pace}."]
    for title, script, always, when_quick in BENCHMARKS:
        print(f"== {title}", flush=True)
        command = [sys.executable, str(FOLDER / script), *always, *(when_quick if quick else ())]
        done = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=False)
        shown = done.stdout
        if done.returncode:
            shown += f"exit status {done.returncode}\n{done.stderr[-2000:]}"
        print(shown, flush=True)
        parts.append(f"## {title}\n\n`python benchmarks/{script}`\n\n```\n{shown.rstrip()}\n```")
    parts.append("![growth](growth.png)")
    (FOLDER / "RESULTS.md").write_text("\n\n".join(parts) + "\n", "utf-8")


if __name__ == "__main__":
    main()
