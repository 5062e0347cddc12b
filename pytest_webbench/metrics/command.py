"""Web-CodeBLEU of two files, as a table or JSON, for every command line that offers it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from pytest_webbench.metrics.codebleu import PARTS, WebCodeBLEU, web_codebleu

USAGE_ERROR = 4


class UnreadableSource(Exception):
    """A file that cannot be read; the message is one line for the user."""


def read_source(path: str) -> str:
    """Return a file's text, or standard input's for `-`; bytes that are no UTF-8 become U+FFFD.

    Line ends are kept as they are. Raises UnreadableSource.
    """
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableSource(f"cannot read {path}: {reason}") from error
    return data.decode("utf-8", "replace")


def compare_files(reference: str, hypothesis: str) -> WebCodeBLEU:
    """Score one file against another; one of the two may be `-`. Raises UnreadableSource."""
    if reference == hypothesis == "-":
        raise UnreadableSource("only one of REFERENCE and HYPOTHESIS can be standard input")
    return web_codebleu(read_source(reference), read_source(hypothesis))


def render_json(score: WebCodeBLEU) -> str:
    """Return the score as an indented JSON object."""
    return json.dumps(score.to_json(), indent=2)


def render_table(score: WebCodeBLEU) -> str:
    """Return the score as a table with one row per part, and what a reader must know to judge it."""
    values = score.to_json()
    rows = [(name, values[name], score.undefined.get(name, "")) for name in PARTS]
    rows += [(name, values[name], "") for name in ("kw_precision", "kw_recall")]
    totals = [("web_codebleu", score.web_codebleu, ""), ("renormalised", score.renormalised, "")]
    if score.undefined:
        totals[1] = ("renormalised", score.renormalised, f"without {', '.join(score.undefined)}")
    rule = "-" * 23
    lines = ["similarity to the reference", rule, *map(_row, rows), rule, *map(_row, totals)]
    return "\n".join(lines)


def _row(row: tuple[str, float | None, str]) -> str:
    name, value, note = row
    number = "-" if value is None else f"{value:.4f}"
    return f"{name:<15} {number:>7}   {note}".rstrip()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE_ERROR, f"{self.format_usage()}error: {message}\n")


def main(argv: Sequence[str]) -> int:
    """Print Web-CodeBLEU and its parts for two files; return 0, or 4 where a file cannot be read."""
    parser = _Parser(prog="python -m pytest_webbench.metrics", description=main.__doc__)
    parser.add_argument("reference", metavar="REFERENCE", help="file with the reference, or - for standard input")
    parser.add_argument("hypothesis", metavar="HYPOTHESIS", help="file to compare with it, or -")
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    options = parser.parse_args(argv)
    try:
        score = compare_files(options.reference, options.hypothesis)
    except UnreadableSource as error:
        sys.stderr.write(f"error: {error}\n")
        return USAGE_ERROR
    sys.stdout.write(f"{render_json(score) if options.json else render_table(score)}\n")
    return 0
