"""Sessions that judge nothing: `--webbench-dry-run` counts what a run would ask, `--webbench-generate-only` asks it.

Both need one process only: completions are asked for by the main process anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_webbench.demands import demands
from pytest_webbench.evaluation import Sample
from pytest_webbench.exits import FAILED, NOT_JUDGED, PASSED, USAGE_ERROR
from pytest_webbench.items import PROPERTY
from pytest_webbench.records import Record
from pytest_webbench.reports.progress import ProgressLine
from pytest_webbench.reports.tables import UNKNOWN, Table
from pytest_webbench.reports.text import text_table
from pytest_webbench.run import Run, is_sample
from pytest_webbench.selection import Model

CAUSES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would ask of one model.

    Of `items` samples `stored` have their completion; `to_ask` requests remain (of an agent: at most), for about
    `input_tokens` and at most `output_tokens`. `cost` is the most that they can cost in USD, None where the price
    is unknown.
    """

    model: str
    items: int
    stored: int
    to_ask: int
    input_tokens: int
    output_tokens: int
    cost: float | None


def forecast(samples: Iterable[Sample], stored: frozenset[str]) -> list[Forecast]:
    """Return what would be asked of each model, given the keys of the stored completions."""
    by_model: dict[str, list[Sample]] = {}
    for sample in samples:
        by_model.setdefault(sample.model.alias, []).append(sample)
    return [_forecast(group[0].model, group, stored) for group in by_model.values()]


def _forecast(model: Model, samples: Sequence[Sample], stored: frozenset[str]) -> Forecast:
    waiting = {sample.request.key: sample for sample in samples if sample.request.key not in stored}
    calls = [call for sample in waiting.values() for call in demands(model, sample.request)]
    costs = [call.cost for call in calls if call.cost is not None]
    return Forecast(
        model=model.alias,
        items=len(samples),
        stored=sum(sample.request.key in stored for sample in samples),
        to_ask=len(calls),
        input_tokens=round(sum(call.input_tokens for call in calls)),
        output_tokens=sum(call.output_tokens for call in calls),
        cost=sum(costs) if len(costs) == len(calls) else None,
    )


def forecast_table(forecasts: Sequence[Forecast], width: int) -> str:
    """Return the forecasts as text, with a total where every price is known."""
    rows = [
        (
            one.model,
            str(one.items),
            str(one.stored),
            str(one.to_ask),
            f"{one.input_tokens:,}",
            f"{one.output_tokens:,}",
            UNKNOWN if one.cost is None else f"{one.cost:.4f}",
        )
        for one in forecasts
    ]
    headings = ("model", "items", "stored", "to ask", "input tokens, about", "output tokens, at most", "USD, at most")
    table = text_table(Table("Forecast", headings, tuple(rows)), width)
    costs = [one.cost for one in forecasts]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return f"{table}\nat most: unknown, since a price is; give it in the models table"
    return f"{table}\nat most: {sum(known):.4f} USD"


class _OneProcess:
    """What both sessions share: the run, closed at the end, and no workers."""

    def __init__(self, config: pytest.Config, run: Run) -> None:
        config.option.dist, config.option.tx, config.option.numprocesses = "no", [], None
        self.config = config
        self.run = run

    def samples(self, session: pytest.Session) -> list[Sample]:
        """Return the collected samples in item order."""
        return self.run.samples(item.nodeid for item in session.items if is_sample(item.nodeid))

    def pytest_unconfigure(self) -> None:
        """Stop asking, close the store."""
        self.run.close()


class DryRun(_OneProcess):
    """Collects, counts, and runs nothing."""

    forecasts: Sequence[Forecast] = ()

    def pytest_report_header(self) -> str:
        """Say that nothing will be run."""
        return "webbench: dry run, no model is asked and nothing is judged"

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count what would be asked."""
        samples = self.samples(session)
        known = self.run.stored(samples) if not self.run.settings.refresh else frozenset()
        self.forecasts = forecast(samples, known)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool:
        """Run nothing."""
        return True

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show the forecast."""
        if self.forecasts:
            terminalreporter.section("webbench")
            terminalreporter.write_line(forecast_table(self.forecasts, self.config.get_terminal_writer().fullwidth))


class GenerateOnly(_OneProcess):
    """Asks for every completion; an item passes once its completion is stored, and no report is written."""

    def __init__(self, config: pytest.Config, run: Run) -> None:
        super().__init__(config, run)
        self.expected: list[Sample] = []
        self.failed: list[Record] = []
        self.failing_tests = False
        self._progress: ProgressLine | None = None

    def pytest_report_header(self) -> str:
        """Say what will be done."""
        return "webbench: generate only, completions are stored and nothing is judged"

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start asking."""
        self.expected = self.samples(session)
        self.run.announce(self.expected)
        if self.config.pluginmanager.hasplugin("terminalreporter"):
            self._progress = ProgressLine(self.run, self.config.get_terminal_writer())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep why a completion did not come."""
        properties = dict(report.user_properties)
        if PROPERTY in properties and report.when == "setup":
            self.failed.append(Record.from_json(str(properties[PROPERTY])))
        elif report.failed and not is_sample(report.nodeid):
            self.failing_tests = True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Set the exit status, also after plugins that change it."""
        self._stop_progress()
        self.run.fetcher.close()
        verdict = self._status(session.exitstatus)
        session.exitstatus = verdict
        result = yield
        session.exitstatus = verdict
        return result

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show how many completions are stored, and why others are not."""
        if not self.expected:
            return
        stored = self.run.stored(self.expected)
        terminalreporter.section("webbench")
        for line in _outcome(self.expected, stored, self.failed):
            terminalreporter.write_line(line)
        progress = self.run.fetcher.progress()
        terminalreporter.write_line(f"asked in this run: {progress.done}; spent: {progress.spend:.4f} USD known")

    def pytest_unconfigure(self) -> None:
        """Stop asking, close the store."""
        self._stop_progress()
        super().pytest_unconfigure()

    def _status(self, status: int) -> int:
        if status not in (PASSED, FAILED):
            return status
        if self.failing_tests:
            return FAILED
        if any(record.status == "config_error" for record in self.failed):
            return USAGE_ERROR
        stored = self.run.stored(self.expected)
        complete = not self.failed and all(sample.request.key in stored for sample in self.expected)
        return PASSED if complete else NOT_JUDGED

    def _stop_progress(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def _outcome(expected: Sequence[Sample], stored: frozenset[str], failed: Sequence[Record]) -> list[str]:
    lines = []
    for alias in dict.fromkeys(sample.model.alias for sample in expected):
        of_model = [sample for sample in expected if sample.model.alias == alias]
        there = sum(sample.request.key in stored for sample in of_model)
        lines.append(f"{alias}: {there} of {len(of_model)} completions stored")
        causes = dict.fromkeys(
            f"  {record.failure_class}: {record.message}" for record in failed if record.model == alias
        )
        lines += list(causes)[:CAUSES_SHOWN]
    return lines
