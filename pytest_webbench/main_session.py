"""The main process of a session that benchmarks models: what is asked, recorded, judged and reported."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from pytest_webbench.baseline import BaselineError, read_baseline
from pytest_webbench.bench import Bench
from pytest_webbench.cases import Case
from pytest_webbench.completions.fetch import Fetched
from pytest_webbench.completions.remote import serve
from pytest_webbench.exits import NOTHING_COLLECTED, PASSED, exit_status
from pytest_webbench.gate import Gate, Verdict
from pytest_webbench.handover import CHANNEL, HANDOVER, Handover
from pytest_webbench.hosts import Hosts
from pytest_webbench.items import ANSWER, BENCH, PROPERTY
from pytest_webbench.model_table import built_in_keys
from pytest_webbench.models import InfrastructureError, Request
from pytest_webbench.options import DEFAULT_TEMPLATE, SettingsError
from pytest_webbench.plugin import ControllerHooks, MainHooks
from pytest_webbench.preparation import DryRun, GenerateOnly
from pytest_webbench.records import Record
from pytest_webbench.reports.accumulated import BENCHMARK, BenchmarkError, read_benchmark
from pytest_webbench.reports.files import (
    append_step_summary,
    point_latest_at,
    why_no_plots,
    write_accumulated,
    write_asked,
    write_run_reports,
)
from pytest_webbench.reports.markdown import summary_markdown
from pytest_webbench.reports.progress import ProgressLine
from pytest_webbench.reports.terminal import changes, flags, leaderboard, verdict_lines
from pytest_webbench.reports.worst import worst_cases
from pytest_webbench.run import Run, examined, is_sample, load_selected_cases, start_run
from pytest_webbench.settings import Settings
from pytest_webbench.statistics.comparison import Comparison
from pytest_webbench.statistics.hypotheses import AS_IS, AS_IS_ALONE
from pytest_webbench.statistics.samples import Samples
from pytest_webbench.statistics.summary import Summary, summarise_samples
from pytest_webbench.workbench import Workbench


def configure_main(config: pytest.Config, settings: Settings) -> None:
    """Start the run; raises what `configure` tells the user."""
    cases = load_selected_cases(config.args, config.invocation_params.dir)
    markers = sorted({name for case in cases for name in case.markers})
    for name in markers:
        config.addinivalue_line("markers", f"{name}: webbench cases")
    if config.option.collectonly:
        config.stash[BENCH] = Bench(settings, {}, Workbench.of(settings), _ask_nothing)
        return
    try:
        gate = _gate(settings)
        read_benchmark(settings.report_dir / BENCHMARK)
    except (BaselineError, BenchmarkError) as error:
        raise SettingsError(str(error)) from None
    _check_shard(settings, cases)
    run = start_run(settings, cases, _selection(config))
    if settings.dry_run or settings.generate_only:
        config.stash[BENCH] = Bench(settings, run.endpoints, Workbench.of(settings), run.ask)
        config.pluginmanager.register((DryRun if settings.dry_run else GenerateOnly)(config, run), "webbench-main")
        return
    bench = Bench(settings, run.endpoints, Workbench.of(settings), run.ask)
    session = MainSession(config, run, bench.workbench, markers, gate, examined(bench.workbench, cases))
    config.stash[BENCH] = bench
    config.pluginmanager.register(MainHooks(session), "webbench-main")
    if config.pluginmanager.hasplugin("dsession") or config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(ControllerHooks(session), "webbench-controller")


def _check_shard(settings: Settings, cases: Sequence[Case]) -> None:
    if settings.shard is not None and settings.shard.count > len(cases):
        raise SettingsError(f"--webbench-shard {settings.shard}: there are only {len(cases)} cases to share out")


def _selection(config: pytest.Config) -> dict[str, Any]:
    """Return pytest's options that choose among the collected cases."""
    chosen = {"-k": "keyword", "-m": "markexpr", "--deselect": "deselect"}
    return {name: config.getoption(option) or None for name, option in chosen.items()}


def _gate(settings: Settings) -> Gate:
    if settings.baseline is None:
        return Gate(settings.rules, None)
    aliases = [model.alias for model in settings.models]
    pairs = read_baseline(settings.baseline).paired(aliases, settings.baseline_model)
    return Gate(settings.rules, pairs, settings.baseline_common)


def _ask_nothing(alias: str, request: Request) -> Fetched:
    raise InfrastructureError("not_asked", "nothing is asked while collecting")


class MainSession:
    """The main process's share of a session.

    `failing_tests` tells whether a test that is no sample failed; `summary`, `changes` against the baseline and
    `verdict` of the gate are there once the session has finished.
    """

    def __init__(
        self,
        config: pytest.Config,
        run: Run,
        workbench: Workbench,
        markers: Sequence[str],
        gate: Gate,
        sandbox: str | None,
    ) -> None:
        self.config = config
        self.run = run
        self.workbench = workbench
        self.sandbox = sandbox
        self.markers = markers
        self.gate = gate
        self.hosts = Hosts()
        self.changes: dict[str, dict[str, Comparison]] = {}
        self.failing_tests = False
        self.summary: Summary | None = None
        self.verdict: Verdict | None = None
        self._progress: ProgressLine | None = None
        self._previous = _interrupt_on_sigterm()

    def header(self) -> list[str]:
        """Say what will be run."""
        settings = self.run.settings
        models = ", ".join(f"{model.alias} ({model.entry.model_id})" for model in settings.models)
        shard = "" if settings.shard is None else f", shard {settings.shard}"
        templates = ", ".join(template.name for template in settings.templates)
        line = f"webbench: run {settings.run_id}{shard}, models: {models}, templates: {templates}"
        lines = [line] if self.sandbox is None else [line, self.sandbox]
        return [*lines, f"webbench: {AS_IS_ALONE}"] if templates == AS_IS else lines

    def connect(self, node: Any) -> None:
        """Tell a worker what the run is, and answer what it asks for."""
        channel = node.gateway.newchannel()
        node.workerinput.update(
            {
                CHANNEL: channel,
                HANDOVER: Handover.of(self.run.settings).to_json(),
                "webbench_endpoints": dict(self.run.endpoints),
                "webbench_markers": list(self.markers),
                "webbench_why_no_sandbox": self.workbench.why_no_sandbox,
            }
        )
        serve(channel, self.run.submit)

    def lost(self, node: Any) -> None:
        """Have a worker that was lost replaced, and say so where that is not on its own host."""
        line = self.hosts.down(node)
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if line and reporter is not None:
            reporter.write_line(f"\n{line}", yellow=True)

    def expect(self, node_ids: Sequence[str]) -> None:
        """Expect the samples among these items and start asking for their completions."""
        samples = [node_id for node_id in node_ids if is_sample(node_id)]
        if samples:
            self._check_comparable(samples)
            self.run.begin(samples)
            self._show_progress()

    def _check_comparable(self, node_ids: Sequence[str]) -> None:
        """Refuse before the first call what cannot be compared with the baseline."""
        if self.gate.baseline is None or self.run.ledger.expected:
            return
        planned = [sample.identity for sample in self.run.samples(node_ids)]
        samples = Samples.of((), {**self.run.ledger.description, "expected": planned})
        if differences := self.gate.differences(samples):
            raise pytest.UsageError(
                f"baseline {self.run.settings.baseline}: not like this run; --webbench-baseline-common compares on "
                "what both have:\n  " + "\n  ".join(differences)
            )

    def note(self, report: pytest.TestReport) -> None:
        """Keep a sample's record; remember that an ordinary test failed."""
        properties = dict(report.user_properties)
        if PROPERTY in properties:
            if report.when == "setup":
                self.run.ledger.add(Record.from_json(str(properties[PROPERTY])), getattr(report, ANSWER, None))
        elif report.failed and not is_sample(report.nodeid):
            self.failing_tests = True

    def finish(self, status: int) -> int:
        """Stop asking models and write the reports; return the exit status of the session."""
        self._hide_progress()
        self.run.fetcher.close()
        if not self.run.ledger.expected:
            return status
        settings, records = self.run.settings, self.run.ledger.all_records()
        samples = Samples.of(records, self.run.ledger.description)
        self.summary = summarise_samples(settings.run_id, samples)
        self.changes = self.gate.changes(samples)
        self.verdict = self.gate.judge(samples)
        self._write(records, samples)
        return exit_status(
            status,
            records,
            failing_tests=self.failing_tests,
            report_only=settings.report_only,
            verdict=self.verdict,
        )

    def _write(self, records: list[Record], samples: Samples) -> None:
        if self.summary is None:
            return
        settings, cases = self.run.settings, self.run.asked_cases
        write_accumulated(settings.report_dir, cases, records, built_in_keys(), DEFAULT_TEMPLATE)
        write_asked(settings.run_folder, cases, settings.templates)
        write_run_reports(settings.run_folder, self.summary, samples, self.verdict, records=lambda: records)
        point_latest_at(settings.run_folder)
        append_step_summary(summary_markdown(self.summary, self.verdict))
        self._tell_junit()

    def _tell_junit(self) -> None:
        """Put the verdict among the properties of the JUnit suite, where there is one."""
        if self.verdict is None:
            return
        for plugin in self.config.pluginmanager.get_plugins():
            if hasattr(plugin, "add_global_property"):
                plugin.add_global_property("webbench_gate", self.verdict.outcome)
                plugin.add_global_property("webbench_gate_reason", self.verdict.reason)

    def show(self, terminal: Any, status: int) -> None:
        """Show the leaderboard, what must be known beside it, and where the rest is; `status` is pytest's own."""
        if self.summary is None:
            if status in (PASSED, NOTHING_COLLECTED):
                terminal.write_line(self._nothing_selected(), yellow=True)
            return
        progress = self.run.fetcher.progress()
        terminal.section("webbench")
        width = self.config.get_terminal_writer().fullwidth
        terminal.write_line(leaderboard(self.summary, width))
        for line in worst_cases(self.summary, self.run.ledger.records.values(), width):
            terminal.write_line(line)
        for line in flags(self.summary):
            terminal.write_line(line, yellow=True)
        if self.workbench.why_no_sandbox:
            terminal.write_line(f"NOTHING WAS EXECUTED: {self.workbench.why_no_sandbox}", red=True, bold=True)
        for line in changes(self.changes):
            terminal.write_line(line)
        if self.verdict is not None:
            for line in verdict_lines(self.verdict):
                terminal.write_line(line, red=self.verdict.outcome == "fail", bold=self.verdict.outcome != "pass")
        terminal.write_line(f"completions: {progress.stored} from the store, {progress.done} from models")
        terminal.write_line(f"reports: {os.path.relpath(self.run.settings.run_folder)}")
        if reason := why_no_plots():
            terminal.write_line(reason)

    def _nothing_selected(self) -> str:
        chosen = {"--webbench-shard": self.run.settings.shard, **self.run.ledger.description["selection"]}
        by = "".join(f" {name} {value}" for name, value in chosen.items() if value)
        return f"webbench: 0 of {len(self.run.cases)} cases selected{by and ' by'}{by}"

    def close(self) -> None:
        """Close what the run had open."""
        self._hide_progress()
        self.run.close()
        if self._previous is not None:
            signal.signal(signal.SIGTERM, self._previous)

    def _show_progress(self) -> None:
        if self._progress is None and self.config.pluginmanager.hasplugin("terminalreporter"):
            self._progress = ProgressLine(self.run, self.config.get_terminal_writer())

    def _hide_progress(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def _interrupt_on_sigterm() -> Any:
    """Let SIGTERM end the session as Ctrl-C does: with what has been done so far in the reports."""
    if threading.current_thread() is not threading.main_thread():
        return None

    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt("terminated")

    return signal.signal(signal.SIGTERM, interrupt)
