"""Web-CodeBLEU's four base parts beside the published `codebleu` package: speed, agreement, growth.

    python benchmarks/codebleu.py

The benchmark makes a virtual environment with the package and the tree-sitter releases that are installed
here, and runs both there: one process, one core, the same pairs, taking turns. Times are CPU time. Ratios
are what to compare between machines.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "metrics" / "data" / "golden_codebleu.jsonl"
PACKAGE = "codebleu==0.7.0"
STACK = ("tree-sitter", "tree-sitter-python")
HYPOTHESES = 10

VIEW = """
@app.route("/things/{n}", methods=["GET", "POST"])
def view_{n}(page=1):
    total = {n}
    if request.method == "POST":
        total += page
    for item in things:
        total = total - item.price
    return jsonify({{"total": total, "things": [thing.name for thing in things]}})
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare Web-CodeBLEU's speed with the published package.")
    parser.add_argument("--references", type=int, default=20, help="references of about 60 lines (default 20)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, of which the median counts (default 5)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        compare(options.references, options.rounds)
        show_growth()
        return
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder))
        subprocess.run([python, __file__, "--inside", *sys.argv[1:]], check=True)


def make_environment(folder: Path) -> Path:
    """Install the package's code, without its pins, on the tree-sitter releases that are installed here."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    stack = [f"{name}=={version(name)}" for name in STACK]
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*install, PACKAGE, *stack], check=True)
    return python


# ------------------------------------------------------------------ inside the environment


def compare(number: int, rounds: int) -> None:
    """Time both on the same pairs and print pairs per CPU-second, their ratio and the largest differences."""
    from codebleu import calc_codebleu  # type: ignore[import-not-found]

    from pytest_webbench.metrics import Reference

    logging.disable(logging.WARNING)
    pairs = [(reference, variants(reference)) for reference in references(number)]
    lines = [reference.count("\n") for reference, _ in pairs]
    count = sum(len(hypotheses) for _, hypotheses in pairs)
    print(f"Python {sys.version.split()[0]}, " + ", ".join(f"{name} {version(name)}" for name in STACK))
    print(f"{len(pairs)} references of {min(lines)}-{max(lines)} lines, {count} distinct hypotheses\n")
    prepared = [(Reference(reference), hypotheses) for reference, hypotheses in pairs]

    def published() -> list[tuple[float, ...]]:
        results = [calc_codebleu([r], [h], "python") for r, hypotheses in pairs for h in hypotheses]
        keys = ("ngram_match_score", "weighted_ngram_match_score", "syntax_match_score", "dataflow_match_score")
        return [tuple(result[key] for key in keys) for result in results]

    def ours() -> list[tuple[float, ...]]:
        return [reference.base_parts(h) for reference, hypotheses in prepared for h in hypotheses]

    def unprepared() -> list[tuple[float, ...]]:
        return [Reference(r).base_parts(h) for r, hypotheses in pairs for h in hypotheses]

    show_agreement(published(), ours())
    contestants: dict[str, Callable[[], object]] = {
        "published package": published,
        "four parts, reference prepared": ours,
        "four parts, reference parsed for each pair": unprepared,
    }
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            times[name].append(cpu_seconds(run))
    print(f"\n{'':<44}{'pairs/CPU-s':>12}{'ratio':>8}")
    for name, seconds in times.items():
        ratio = median(p / s for p, s in zip(times["published package"], seconds, strict=True))
        print(f"{name:<44}{count / median(seconds):>12.0f}{ratio:>7.1f}x")


def show_agreement(published: list[tuple[float, ...]], ours: list[tuple[float, ...]]) -> None:
    """Print the largest difference per part; data-flow differs where the package loses or mixes up edges."""
    for place, name in enumerate(("ngram", "weighted_ngram", "syntax", "dataflow")):
        differences = [abs(a[place] - b[place]) for a, b in zip(published, ours, strict=True)]
        unequal = sum(difference > 1e-9 for difference in differences)
        print(f"{name:<16} largest difference {max(differences):.1e}, {unequal} pairs differ")


def references(number: int) -> list[str]:
    """Return programs of 50 to 70 lines, each joined from two golden references."""
    rows = [json.loads(line) for line in GOLDEN.read_text("utf-8").split("\n") if line]
    texts = sorted({row["reference"] for row in rows if row["category"] == "identical"})
    joined = [f"{a}\n\n{b}" for a in texts for b in texts if a < b and 50 <= (a + b).count("\n") <= 70]
    return random.Random(0).sample(joined, number)


def variants(reference: str) -> list[str]:
    """Return distinct hypotheses: lines dropped, moved and renamed, more with each."""
    rng = random.Random(reference)
    found: dict[str, None] = {}
    while len(found) < HYPOTHESES:
        lines = reference.split("\n")
        for _ in range(len(found) + 1):
            lines.pop(rng.randrange(len(lines)))
            lines.insert(rng.randrange(len(lines)), rng.choice(lines))
        name = rng.choice(re.findall(r"\b[a-z_]{3,}\b", reference))
        found[re.sub(rf"\b{name}\b", f"{name}_{len(found)}", "\n".join(lines))] = None
    return list(found)


def show_growth() -> None:
    """Print how time grows with the length of a file and with the nesting of loops."""
    from codebleu import calc_codebleu

    from pytest_webbench.metrics import Reference

    def ours(text: str) -> float:
        return min(cpu_seconds(lambda: Reference(text).base_parts(text)) for _ in range(3))

    def published(text: str) -> float:
        return cpu_seconds(lambda: calc_codebleu([text], [text], "python"))

    print(f"\n{'':<20}{'ours':>12}{'package':>14}")
    of_lines = {}
    for lines in (50, 500, 5_000):
        text = "".join(VIEW.format(n=n) for n in range(lines // VIEW.count("\n")))
        of_lines[lines] = ours(text)
        package = f"{published(text) * 1000:.1f} ms" if lines <= 500 else "-"
        print(f"{lines:>5} lines         {of_lines[lines] * 1000:>9.1f} ms{package:>14}")
    print(f"5,000 lines cost {of_lines[5_000] / of_lines[500]:.1f} times as much as 500")
    for depth in (5, 8, 20):
        text = "\n".join("    " * level + f"for x{level} in y:" for level in range(depth))
        text += "\n" + "    " * depth + "z = x0\n"
        package = f"{published(text) * 1000:.1f} ms" if depth <= 8 else "-"
        print(f"{depth:>5} nested loops  {ours(text) * 1000:>9.1f} ms{package:>14}")


def cpu_seconds(run: Callable[[], object]) -> float:
    """Return the CPU time of a call."""
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # not this folder: the script bears the package's name
    main()
