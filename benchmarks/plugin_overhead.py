"""What the plugin costs a suite that does not use it: its import, and whole runs with and without it in turn.

python benchmarks/plugin_overhead.py
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

IMPORT = """
import pytest, time
start = time.perf_counter()
import pytest_webbench.plugin
print(1000 * (time.perf_counter() - start))
"""
RUNS = 15


def import_milliseconds() -> float:
    """Return the time that importing the plugin takes in a process that has imported pytest."""
    return float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout)


def cpu_milliseconds(folder: Path, *arguments: str) -> float:
    """Return the CPU time of a pytest run of one test."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "pytest", "-q", *arguments], cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    """Print the medians."""
    print(f"import of the plugin: {median(import_milliseconds() for _ in range(RUNS)):.2f} ms (bound: 5 ms)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_one.py").write_text("def test_one(): pass\n")
        pairs = [(cpu_milliseconds(folder), cpu_milliseconds(folder, "-p", "no:webbench")) for _ in range(RUNS)]
    with_plugin, without = median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)
    ratio = median(one / other for one, other in pairs)
    print(f"a run of one test: {with_plugin:.0f} ms of CPU with it, {without:.0f} ms without, ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
