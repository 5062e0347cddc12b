"""A headless Chromium that tells what it logged and what it asked the network for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from page.runs import records_of, write_run

from pytest_webbench.reports.html import write_page
from pytest_webbench.statistics.samples import Samples
from pytest_webbench.statistics.summary import summarise_samples

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

LOCAL = ("file:", "data:", "blob:")


def make_page(folder: Path) -> Path:
    """Write the page of a run folder."""
    records = records_of(folder)
    description = json.loads((folder / "run.json").read_text("utf-8"))
    samples = Samples.of(records, description)
    return write_page(folder, summarise_samples(description["run_id"], samples), samples, records)


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small run of four models."""
    return make_page(write_run(tmp_path_factory.mktemp("run")))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chrome]:
    """One browser for all tests."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    binary = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no Chromium with its driver here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    browser.set_script_timeout(20)
    yield browser
    browser.quit()


@pytest.fixture
def browse(chromium: Chrome) -> Iterator[Callable[[Path], Chrome]]:
    """Open a page; afterwards nothing was logged and nothing was asked of the network."""

    def open_page(page: Path) -> Chrome:
        chromium.get("about:blank")
        chromium.get_log("browser")
        chromium.get_log("performance")
        chromium.get(page.as_uri())
        return chromium

    yield open_page
    assert chromium.get_log("browser") == []
    asked = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    urls = [event["params"]["request"]["url"] for event in asked if event["method"] == "Network.requestWillBeSent"]
    assert [url for url in urls if not url.startswith(LOCAL)] == []
    assert any(url.startswith("file:") for url in urls)
