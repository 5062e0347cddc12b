"""The structure tier: the published words of the first system, exactly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_webbench.tiers import TierResult, structure

ITEMS = {
    item["id"]: item
    for line in (Path(__file__).parent / "data" / "kind_c_parsing.jsonl").open(encoding="utf-8")
    if (item := json.loads(line))["kind"].startswith("C:structure")
}


@pytest.mark.parametrize(
    ("framework", "code", "passed"),
    [
        ("Flask", "@app.get('/')\ndef f(): ...", True),
        ("Flask", "data = request.json", True),
        ("Flask", "app = Flask(__name__)", False),
        ("Flask", "return Response('x')", False),
        ("FastAPI", "@app.get('/')", True),
        ("FastAPI", "return Response('x')", True),
        ("FastAPI", "router = APIRouter()", True),
        ("FastAPI", "async def read(item_id: int, q=None):\n    return q", True),
        ("FastAPI", "def read(\n    db,\n    item_id: int,\n):\n    return db", True),
        ("FastAPI", "def read() -> dict:\n    return {}", True),
        ("FastAPI", "def read(item_id):\n    return item_id", False),
        ("FastAPI", "def read(item_id={a: 1}):\n    return item_id", False),
        ("FastAPI", "request = 1", False),
        ("FastAPI", "limit: int = 3", False),
        ("Django", "def view(request): ...", True),
        ("Django", "return HttpResponse('x')", True),
        ("Django", "return JsonResponse({})", True),
        ("Django", "@decorator\ndef view(r): ...", False),
        ("Django", "urlpatterns = []", False),
    ],
)
def test_the_published_rule_decides(framework, code, passed):
    assert structure.check(code, framework).passed == passed


def test_the_framework_is_read_in_any_case():
    assert structure.check("def view(request): ...", "django") == TierResult(passed=True)


def test_a_failure_says_which_rule_and_what_it_expects():
    result = structure.check("x = 1", "Django")
    assert result.failure_class == "structure_missing"
    assert result.message == (
        'structure rule for Django: expected one of "request", "HttpResponse", "JsonResponse" in the code'
    )


def test_an_unknown_framework_is_an_error():
    with pytest.raises(ValueError, match="expected one of flask, fastapi, django, got 'Sanic'"):
        structure.check("x = 1", "Sanic")


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
def test_known_limit_of_the_published_rule_it_searches_text_and_follows_no_import(item):
    """A stricter reading would refuse comments and name clashes; scores would then not be comparable."""
    framework = "FastAPI" if "FastAPI" in item["input"]["code"] else "Flask"
    assert structure.check(item["input"]["code"], framework).passed


def test_many_unfinished_functions_cost_linear_work():
    assert not structure.check("def f(x " * 20_000, "FastAPI").passed
