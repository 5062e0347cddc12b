"""Scan the sampling parameters of a model, then use what cannot be told from the best and suits best.

    python examples/scan_parameters.py local 3 cases/flask/todo_crud cases/fastapi/item_models

The scan is the command `webbench scan`; it leaves its result as JSON in the run folder. Completions are kept, so that
running this again asks nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def main(model: str, samples: str, *cases: str) -> None:
    """Try three temperatures, and choose the lowest that cannot be told apart from the best."""
    command = [sys.executable, "-m", "pytest_webbench", "scan", "--model", model, "--samples", samples]
    subprocess.run([*command, "--grid", "temperature=0.2,0.5,0.8", *cases], check=True)
    folder = max(Path("reports/runs").glob("scan-*"), key=lambda path: path.stat().st_mtime)
    result = json.loads((folder / "scan.json").read_text("utf-8"))
    best, *_ = result["settings"]
    alike = {one["setting"] for one in result["against"] if (one["p_corrected"] or 1.0) > 0.05}
    candidates = [setting["point"] for setting in result["settings"] if setting["setting"] in alike]
    chosen = min([best["point"], *candidates], key=lambda point: point["temperature"])
    print(f"best: {best['point']}, as good as it for all that is known: {len(candidates)} more")
    print(f"for webbench.toml: temperature = {chosen['temperature']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
