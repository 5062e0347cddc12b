"""How a run's cost grows with items, with samples of a case, and with models: a table and a plot.

python benchmarks/growth.py [--out growth.png]

Stored completions, static tiers. Each curve starts at 400 items and varies one thing: cases, samples, or models.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from items import Cost, measure, write_project

SAMPLES = 4
STEPS = (1, 4, 16)


def curve(kind: str, folder: Path) -> list[tuple[int, Cost]]:
    """Return items and cost for each step of one kind of growth."""
    found = []
    for step in STEPS:
        cases, samples = (100 * step, SAMPLES) if kind == "cases" else (100, SAMPLES * step)
        models = step if kind == "models" else 1
        samples = SAMPLES if kind == "models" else samples
        project = folder / f"{kind}-{step}"
        project.mkdir()
        names = write_project(project, samples, cases=cases, models=models)
        found.append((cases * samples * models, measure(project, samples, models=names)))
    return found


def main() -> None:
    """Print a table and write the plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("growth.png"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        curves = {kind: curve(kind, Path(name)) for kind in ("cases", "samples", "models")}
    print(f"{'grows':10}{'items':>7}{'CPU ms an item':>16}{'main MB':>9}")
    for kind, points in curves.items():
        for items, cost in points:
            print(f"{kind:10}{items:>7}{1000 * cost.cpu / items:>16.2f}{cost.main_mb:>9.0f}")
    _plot(curves, options.out)


def _plot(curves: dict[str, list[tuple[int, Cost]]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for kind, points in curves.items():
        axes.plot([items for items, _ in points], [cost.cpu for _, cost in points], marker="o", label=f"more {kind}")
    axes.set(xscale="log", yscale="log", xlabel="items", ylabel="CPU seconds, start-up included")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.set_xticks(sorted({items for points in curves.values() for items, _ in points}), minor=False)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
