"""The page in a browser: sorting, filters, samples, keyboard, and what a model may not do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from page.conftest import make_page
from page.runs import CASES, REFERENCE, answer, records_of, write_run

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

Browse = Callable[[Path], "Chrome"]
SCRIPT = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
HOSTILE = (
    f"</script></pre>{SCRIPT}<a href='javascript:window.hacked=3'>x</a>\0<!-- <script> \u2028 data:text/html,{SCRIPT}"
)


def find(browser: Chrome, selector: str) -> WebElement:
    """Return the first element of a CSS selector."""
    return browser.find_element("css selector", selector)


def texts(browser: Chrome, selector: str) -> list[str]:
    """Return what the elements of a CSS selector say."""
    return [element.text for element in browser.find_elements("css selector", selector)]


def wait(browser: Chrome, selector: str) -> WebElement:
    """Wait for an element."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 10).until(lambda _: find(browser, selector), selector)


def choose(browser: Chrome, name: str, value: str) -> None:
    """Choose a filter's value."""
    from selenium.webdriver.support.ui import Select

    Select(find(browser, f"select[name={name}]")).select_by_value(value)


def press(browser: Chrome, *keys: str) -> None:
    """Press keys wherever the focus is."""
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def open_tab(browser: Chrome, title: str) -> str:
    """Open a tab of the sample and return what it says."""
    wait(browser, f"#tab-{title}").click()
    wait(browser, f"#panel[aria-labelledby=tab-{title}] > *")
    return find(browser, "#panel").text


def order(browser: Chrome) -> list[str]:
    """Return the models in the order of the leaderboard."""
    return [text.split("\n")[0] for text in texts(browser, "#leaderboard tbody th")]


def test_the_best_model_is_said_first_with_its_interval(index: Path, browse: Browse) -> None:
    browser = browse(index)
    assert find(browser, "h1").text.startswith("gemini leads with 0.")
    assert "95 % interval [0." in find(browser, "#answer p").text
    assert order(browser)[0] == "gemini"


def test_a_heading_sorts_and_sorts_back(index: Path, browse: Browse) -> None:
    browser = browse(index)
    heading = "[data-column=latency_seconds]"
    find(browser, heading).click()
    assert order(browser) == ["local", "llama", "gemini", "mystery"]
    find(browser, heading).click()
    assert order(browser) == ["gemini", "llama", "local", "mystery"], "what is not known stays last"
    assert find(browser, f"th:has({heading})").get_attribute("aria-sort") == "ascending"


def test_the_keyboard_sorts_and_keeps_its_place(index: Path, browse: Browse) -> None:
    browser = browse(index)
    browser.execute_script("arguments[0].focus()", find(browser, "[data-column=model]"))
    press(browser, "\ue007")
    assert order(browser) == ["gemini", "llama", "local", "mystery"]
    assert browser.switch_to.active_element.get_attribute("data-column") == "model"


def test_filters_change_every_figure_and_combine(index: Path, browse: Browse) -> None:
    browser = browse(index)
    before = texts(browser, "#leaderboard .rate b")
    choose(browser, "framework", "Flask")
    assert find(browser, "#count").text == "2 of 5 cases"
    assert texts(browser, "#heat thead th") == ["", "Flask"]
    assert texts(browser, "#leaderboard .rate b") != before
    choose(browser, "difficulty", "hard")
    assert [text.split("\n")[0] for text in texts(browser, "#matrix tbody th")] == ["flask/jwt_login"]
    choose(browser, "template", "as_is")
    assert " of 3 passed" in find(browser, "#failures").text
    assert "as_is" in find(browser, "#templates").text
    assert "web_expert" not in find(browser, "#templates").text
    choose(browser, "category", "crud")
    assert "No samples match" in find(browser, "#leaderboard").text
    find(browser, "#filters [type=reset]").click()
    assert texts(browser, "#leaderboard .rate b") == before


def test_hosting_leaves_one_leaderboard(index: Path, browse: Browse) -> None:
    browser = browse(index)
    choose(browser, "hosting", "local")
    assert order(browser) == ["local"]


def test_paid_models_are_held_against_money_and_models_of_a_known_size_against_size(
    tmp_path: Path, browse: Browse
) -> None:
    folder = write_run(tmp_path)
    description = json.loads((folder / "run.json").read_text())
    for model, size in (("llama", 70), ("local", 0.5)):
        description["models"][model]["size_b"] = size
    (folder / "run.json").write_text(json.dumps(description))
    browser = browse(make_page(folder))
    find(browser, "[data-column=points_per_cent]").click()
    assert order(browser)[:2] == ["gemini", "llama"]
    assert texts(browser, "#size svg .name") == ["llama", "local"]
    assert "Not known, so not drawn: gemini, mystery." in find(browser, "#size").text
    choose(browser, "hosting", "paid")
    assert texts(browser, "#size svg .name") == ["llama"]
    assert order(browser) == ["gemini", "llama", "mystery"]


def test_without_a_known_size_there_is_no_chart_against_it(index: Path, browse: Browse) -> None:
    assert not find(browse(index), "section:has(#size)").is_displayed()


def test_the_page_says_what_web_codebleu_tells_about_passing(index: Path, browse: Browse) -> None:
    browser = browse(index)
    assert texts(browser, "#similarity thead tr")[0].endswith("AUC")
    assert texts(browser, "#similarity tbody th")[:2] == ["all samples", "within cases"]


def test_an_unknown_cost_is_no_point_and_no_zero(index: Path, browse: Browse) -> None:
    browser = browse(index)
    assert "Not known, so not drawn: mystery." in find(browser, "#cost").text
    assert "mystery" not in texts(browser, "#cost svg .name")
    assert len(browser.find_elements("css selector", "#cost svg .point")) == 3
    row = next(row for row in browser.find_elements("css selector", "#leaderboard tr") if "mystery" in row.text)
    assert row.text.split("\n")[-1].endswith("n/a n/a")


def test_a_cell_opens_a_sample_with_all_that_is_known(index: Path, browse: Browse) -> None:
    browser = browse(index)
    find(browser, "[aria-label^='flask/todo_crud, local:']").click()
    assert wait(browser, "#sample-title").text.startswith("flask/todo_crud")
    assert open_tab(browser, "Reply").startswith("Here it is:")
    assert "from flask import Flask" in open_tab(browser, "Code")
    assert "Write flask/todo_crud." in open_tab(browser, "Prompt")
    assert "web codebleu" in open_tab(browser, "Metrics")


def test_failed_checks_come_first_with_request_and_response(index: Path, browse: Browse) -> None:
    browser = browse(index)
    position = browser.execute_script(
        "return JSON.parse(document.getElementById('data').textContent).samples.findIndex((s) => s[5] === 'assertion')"
    )
    browser.get("about:blank")
    browser.get(f"{index.as_uri()}#sample={position}")
    said = open_tab(browser, "Checks")
    assert texts(browser, ".check summary")[0].split("\n")[:2] == ["failed", "check_a_bad_name_is_refused"]
    assert find(browser, ".check").get_attribute("open") is not None
    assert "got 500, expected 400" in said
    assert "<h1>Internal Server Error</h1>" in said
    assert "'sample" in open_tab(browser, "Diff")
    assert len(browser.find_elements("css selector", ".diff .minus")) == 1
    assert len(browser.find_elements("css selector", ".diff .plus")) == 1


def test_the_keyboard_reads_a_sample_from_the_matrix_and_comes_back(index: Path, browse: Browse) -> None:
    browser = browse(index)
    first = find(browser, "#matrix td button")
    browser.execute_script("arguments[0].focus()", first)
    press(browser, "\ue014", "\ue015")
    place = browser.switch_to.active_element.get_attribute("aria-label")
    assert place != first.get_attribute("aria-label")
    press(browser, "\ue007")
    wait(browser, "dialog[open]")
    press(browser, "\ue014")
    assert browser.switch_to.active_element.text == "Code"
    press(browser, "\ue00c")
    assert not browser.find_elements("css selector", "dialog[open]")
    assert browser.switch_to.active_element.get_attribute("aria-label") == place


def test_the_next_sample_is_one_key_away(index: Path, browse: Browse) -> None:
    browser = browse(index)
    find(browser, "#matrix td button").click()
    wait(browser, "dialog[open]")
    find(browser, "#sample .chips button").click()
    wait(browser, "#sample .chips button:first-of-type[aria-current]")
    titles = [find(browser, "#sample-title").text]
    browser.execute_script("arguments[0].focus()", find(browser, "[data-step='1']"))
    for number in (1, 2):
        press(browser, "\ue007")
        wait(browser, f"#sample .chips button:nth-of-type({number + 1})[aria-current]")
        titles.append(find(browser, "#sample-title").text)
    assert [title.split(", ")[1:] for title in titles] == [["as_is", f"sample {index}"] for index in range(3)]
    assert browser.switch_to.active_element.get_attribute("data-step") == "1"


def test_two_models_are_set_against_each_other(index: Path, browse: Browse) -> None:
    from selenium.webdriver.support.ui import Select

    browser = browse(index)
    sides = browser.find_elements("css selector", "#pair select")
    Select(sides[0]).select_by_value("gemini")
    Select(browser.find_elements("css selector", "#pair select")[1]).select_by_value("local")
    there = texts(browser, "#comparison tbody tr:first-child td")
    assert there[0].startswith("-0.")
    Select(browser.find_elements("css selector", "#pair select")[0]).select_by_value("local")
    assert "two different models" in find(browser, "#comparison").text
    Select(browser.find_elements("css selector", "#pair select")[1]).select_by_value("gemini")
    back = texts(browser, "#comparison tbody tr:first-child td")
    assert back[0] == there[0].replace("-", "+")
    assert back[4:6] == there[5:3:-1]


@pytest.mark.parametrize("name", ["reply", "code"])
def test_what_a_model_wrote_is_only_ever_text(tmp_path: Path, browse: Browse, name: str) -> None:
    folder = write_run(tmp_path, models=["llama"], cases=CASES[:1], templates=["as_is"], samples=1)
    record = records_of(folder)[0]
    text = {"reply": "harmless", "code": REFERENCE, name: HOSTILE}
    (folder / "completions.jsonl").write_text(answer(record, text["code"], text["reply"]) + "\n", "utf-8")
    browser = browse(make_page(folder))
    find(browser, "#matrix td button").click()
    said = open_tab(browser, name.title())
    assert "<img src=x onerror='window.hacked = 2'>" in said
    open_tab(browser, "Diff")
    assert browser.execute_script("return window.hacked ?? null") is None
    assert browser.execute_script("return document.querySelectorAll('#panel img, #panel script, #panel a').length") == 0


def test_a_reply_of_one_line_of_a_megabyte_is_shown_cut_and_says_so(tmp_path: Path, browse: Browse) -> None:
    folder = write_run(tmp_path, models=["llama"], cases=CASES[:1], templates=["as_is"], samples=1)
    record = records_of(folder)[0]
    (folder / "completions.jsonl").write_text(answer(record, "x" * 1_000_000, "'" * 1_000_000) + "\n", "utf-8")
    browser = browse(make_page(folder))
    find(browser, "#matrix td button").click()
    wait(browser, "#tab-Code")
    for title in ("Reply", "Code", "Diff"):
        assert open_tab(browser, title)
    open_tab(browser, "Code")
    assert "Only the beginning is shown" in find(browser, "#panel .notice").text


def test_light_and_dark_follow_the_system_and_the_button(index: Path, browse: Browse) -> None:
    browser = browse(index)

    def background() -> Any:
        return browser.execute_script("return getComputedStyle(document.body).backgroundColor")

    def prefer(scheme: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    prefer("light")
    light = background()
    prefer("dark")
    dark = background()
    assert dark != light
    find(browser, "#theme").click()
    assert background() == light
    browser.execute_script("localStorage.clear()")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_phone_scrolls_tables_and_never_the_page_sideways(index: Path, browse: Browse) -> None:
    browser = browse(index)
    phone = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    browser.refresh()
    assert browser.execute_script("return document.documentElement.scrollWidth") == 360
    find(browser, "#matrix td button").click()
    wait(browser, "dialog[open]")
    assert browser.execute_script("return document.querySelector('dialog').scrollWidth") <= 360
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
