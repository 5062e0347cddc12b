"""A pytest session that benchmarks models, set up in each of its processes."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_webbench.bench import Bench
from pytest_webbench.cases import CaseError
from pytest_webbench.completions.remote import RemoteFetcher
from pytest_webbench.completions.store import StoreError
from pytest_webbench.handover import CHANNEL
from pytest_webbench.items import BENCH
from pytest_webbench.models import ConfigError
from pytest_webbench.options import SettingsError
from pytest_webbench.plugin import SampleHooks
from pytest_webbench.settings import Settings, read_settings
from pytest_webbench.workbench import Workbench


def configure(config: pytest.Config) -> None:
    """Set the session up, or raise `pytest.UsageError` with one clear line."""
    try:
        settings = read_settings(config)
        worker = getattr(config, "workerinput", None)
        if worker is not None:
            _configure_worker(config, settings, worker)
        else:
            from pytest_webbench.main_session import configure_main

            configure_main(config, settings)
    except (SettingsError, CaseError, StoreError, ConfigError) as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(SampleHooks(), "webbench-samples")


def _configure_worker(config: pytest.Config, settings: Settings, worker: dict[str, Any]) -> None:
    for name in worker["webbench_markers"]:
        config.addinivalue_line("markers", f"{name}: webbench cases")
    fetcher = RemoteFetcher(worker[CHANNEL])
    workbench = Workbench.of(settings)
    workbench.why_no_sandbox = worker["webbench_why_no_sandbox"]
    config.stash[BENCH] = Bench(settings, worker["webbench_endpoints"], workbench, fetcher.ask)
