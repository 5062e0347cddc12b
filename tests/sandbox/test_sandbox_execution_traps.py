"""Traps of running generated code, as met in public: each with its stated outcome."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from outside import Reply, ask

from pytest_webbench.sandbox import AppSource, Instance, Limits, Sandbox, Start

ITEMS = {
    item["id"]: item
    for item in map(json.loads, (Path(__file__).parent / "data" / "execution_traps.jsonl").read_text().splitlines())
}
FRAMEWORKS = {"flask": "Flask", "fastapi": "FastAPI", "django": "Django"}

# Where an item leaves the outcome to the harness or to what is installed, this is what holds here: settings
# are supplied for Django, no variable but those documented is set, FastAPI's optional packages are installed.
CHOSEN = {
    "D007": "structure_missing",
    "D009": "structure_missing",
    "D010": "structure_missing",
    "D012": "passed",
    "D013": "passed",
    "D024": "passed",
    "D025": "passed",
    "D027": "runtime",
    "D030": "passed",
    "D031": "passed",
    "D037": "runtime",
    "D039": "passed",
    "D048": "passed",
    "D064": "passed",
    "D066": "structure_missing",
    "D067": "structure_missing",
}
REASONS = {
    "D007": "config_name",
    "D009": "only Blueprint objects, no app: bp",
    "D010": "only APIRouter objects, no app: router",
    "D016": "before_first_request",
    "D018": "ImportError",
    "D019": "ImportError",
    "D027": "No module named 'flask_jwt_extended'",
    "D028": "No module named 'models'",
    "D033": "Working outside of application context",
    "D037": "SECRET_KEY",
    "D040": "EOFError",
    "D046": "CPU time",
    "D049": "MemoryError",
    "D054": "PydanticImportError",
    "D066": "no urlpatterns",
    "D067": "no urlpatterns",
    "D069": "ImportError",
}


def app_of(item: dict[str, Any]) -> AppSource:
    given = item["input"]
    name = given.get("file_name", "app.py")
    return AppSource({name: given["code"]}, name, FRAMEWORKS[given["framework"]])


def send(instance: Instance, check: list[Any]) -> Reply:
    method, path, body = check[:3]
    if isinstance(body, str):
        return ask(instance, path, method, data=dict([body.removeprefix("form ").split("=")]))
    return ask(instance, path, method, **({"json": body} if body is not None else {}))


def judge(instance: Instance, start: Start, checks: list[list[Any]]) -> tuple[str, list[int | None]]:
    if not start.ok:
        return str(start.failure_class), []
    replies = [send(instance, check) for check in checks]
    statuses = [reply.status for reply in replies]
    right = all(
        reply.status == check[3] and (len(check) < 5 or json.loads(reply.body) == check[4])
        for reply, check in zip(replies, checks, strict=True)
    )
    return "passed" if right else "check_failed", statuses


def stated(item: dict[str, Any]) -> str:
    if item["id"] in CHOSEN:
        return CHOSEN[item["id"]]
    if item["expected"].get("passed") is True:
        return "passed"
    return str(item["expected"].get("failure_class", "passed")).removeprefix("model_failure:")


@pytest.mark.parametrize("number", sorted(ITEMS))
def test_a_trap_has_its_stated_outcome(number: str, best: Sandbox) -> None:
    item = ITEMS[number]
    checks = item["input"].get("checks", [])
    with best.launch(app_of(item), Limits(cpu_seconds=1) if number == "D046" else Limits()) as instance:
        start = instance.wait_ready(30)
        outcome, statuses = judge(instance, start, checks)
        log = instance.log_tail()
    assert outcome == stated(item), (start, statuses, log)
    assert REASONS.get(number, "") in start.detail + log
    expected = item["expected"].get("statuses")
    if isinstance(expected, list):
        assert statuses == expected


@pytest.mark.parametrize("number", ["D009", "D010"])
def test_a_lone_router_is_mounted_where_one_is_expected(number: str, best: Sandbox) -> None:
    given = ITEMS[number]["input"]
    app = AppSource({"app.py": given["code"]}, "app.py", FRAMEWORKS[given["framework"]], expects="router")
    with best.launch(app) as instance:
        assert instance.wait_ready(30).ok
        assert [ask(instance, path).status for path in ("/shop/cart", "/cart")] == [200, 404]


def test_json_bodies_without_a_content_type_are_the_clients_fault(best: Sandbox) -> None:
    with best.launch(app_of(ITEMS["D063"])) as instance:
        assert instance.wait_ready(30).ok
        untyped = ask(instance, "/items", "POST", content=b'{"name": "a"}')
        broken = ask(instance, "/items", "POST", content=b"{", headers={"content-type": "application/json"})
    assert (untyped.status, broken.status) == (415, 400)


@pytest.mark.parametrize("number", ["D034", "D064"])
def test_a_second_run_finds_nothing_of_the_first(number: str, best: Sandbox) -> None:
    item = ITEMS[number]
    for _ in range(2):
        with best.launch(app_of(item)) as instance:
            assert judge(instance, instance.wait_ready(30), item["input"]["checks"])[0] == "passed"


def test_warnings_as_errors_do_not_reach_the_app(best: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    item = ITEMS["D052"]
    with best.launch(app_of(item)) as instance:
        assert judge(instance, instance.wait_ready(30), item["input"]["checks"])[0] == "passed"
