"""The pytest plugin: hooks, and nothing else. Without `--model` it collects nothing and imports nothing heavy."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_webbench.options import MODEL_DEST, MODEL_HELP, register

if TYPE_CHECKING:
    from pytest_webbench.main_session import MainSession


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the `--webbench-*` options."""
    register(parser)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser) -> Iterator[None]:
    """Add `--model` once every conftest has been read, unless somebody else has the name."""
    result = yield
    _, unknown = parser.parse_known_and_unknown_args(["--model=free"])
    if unknown:
        group = parser.getgroup("webbench")
        group.addoption("--model", dest=MODEL_DEST, action="append", default=[], metavar="NAME", help=MODEL_HELP)
    return result


def pytest_configure(config: pytest.Config) -> None:
    """Read and check everything that can be known before the first call."""
    if config.getoption(MODEL_DEST, default=[]) and not config.option.help:
        from pytest_webbench.session import configure

        configure(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect `definition.toml` and `dataset.json` where a model is to be benchmarked."""
    if not parent.config.getoption(MODEL_DEST, default=[]) or file_path.suffix not in (".toml", ".json"):
        return None
    from pytest_webbench.cases import DEFINITION, is_dataset
    from pytest_webbench.items import CaseFile

    if file_path.name == DEFINITION or is_dataset(file_path):
        return CaseFile.from_parent(parent, path=file_path)
    return None


class SampleHooks:
    """Hooks of every process that runs samples."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave the other shards' samples out of what was selected."""
        from pytest_webbench.items import BENCH, keep_shard

        shard = config.stash[BENCH].settings.shard
        if shard is not None:
            keep_shard(config, items, shard)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let the conversation travel with the report of the phase that judged it."""
        from pytest_webbench.items import ANSWER, SampleItem

        report = yield
        if isinstance(item, SampleItem) and report.when == "setup":
            setattr(report, ANSWER, item.answer)
        return report

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Close what judging needed."""
        from pytest_webbench.items import BENCH

        config.stash[BENCH].workbench.close()


class MainHooks:
    """Hooks of the main process: the only one, or xdist's controller."""

    def __init__(self, session: MainSession) -> None:
        self.session = session

    def pytest_report_header(self) -> list[str]:
        """Say what will be run."""
        return self.session.header()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Expect the collected samples (an xdist controller collects none)."""
        self.session.expect([item.nodeid for item in session.items])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the record of a sample; note any other failing test."""
        self.session.note(report)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Write the reports and set the exit status, also after plugins that change it."""
        verdict = self.session.finish(session.exitstatus)
        session.exitstatus = verdict
        result = yield
        session.exitstatus = verdict
        return result

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int) -> None:
        """Show the leaderboard."""
        self.session.show(terminalreporter, exitstatus)

    def pytest_unconfigure(self) -> None:
        """Close what the run had open."""
        self.session.close()


class ControllerHooks:
    """Hooks of xdist's controller."""

    def __init__(self, session: MainSession) -> None:
        self.session = session

    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker its line to the fetcher."""
        self.session.connect(node)

    def pytest_testnodeready(self, node: Any) -> None:
        """Note where a worker is."""
        self.session.hosts.up(node)

    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        """See to it that a lost host's worker is replaced elsewhere."""
        if error:
            self.session.lost(node)

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Expect the samples that a worker collected."""
        self.session.expect(ids)
