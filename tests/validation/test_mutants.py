"""Faults planted in a reference."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from pytest_webbench.validation.mutants import all_mutants, choose


def changes(source):
    """The mutants of `source` as (operator, new lines)."""
    return [
        (mutant.operator, [line[1:].strip() for line in mutant.diff.splitlines() if line.startswith("+")])
        for mutant in all_mutants(dedent(source))
    ]


@pytest.mark.parametrize(
    ("source", "operator", "mutated"),
    [
        ("x = f(a == b)", "compare", "x = f(a != b)"),
        ("x = f(a not in b)", "compare", "x = f(a in b)"),
        ("x = f((a) <= (b))", "compare", "x = f((a) < (b))"),
        ("x = a + b", "arithmetic", "x = a - b"),
        ("x = a // b", "arithmetic", "x = a / b"),
        ("x = a and b", "logic", "x = a or b"),
        ("x = 5", "number", "x = 6"),
        ("x = True", "boolean", "x = False"),
        ("x = y, 404", "status", "x = y, 400"),
        ("x = status.HTTP_201_CREATED", "status", "x = 200"),
        ("x = a if b else c", "condition", "x = a if (not (b)) else c"),
        ("x = [a for a in b if not a.c]", "condition", "x = [a for a in b if (a.c)]"),
        ("x = {'a': b, 'c': d}", "key", "x = { 'c': d}"),
        ("x = {'a': b, 'c': d}", "key", "x = {'a': b, }"),
        ("x = f(a, b=c)", "argument", "x = f(a, )"),
        ("x = a.strip()", "transform", "x = a"),
        ("x = min(a, b)", "function", "x = max(a, b)"),
        ("f(a)", "statement", "pass"),
        ("a.b = c", "statement", "pass"),
        ("a += b", "statement", "pass"),
        ("del a[b]", "statement", "pass"),
        ("raise a", "statement", "pass"),
        ("for a in b:\n    continue", "statement", "break"),
        ("with lock:\n    x = y", "with", "if True:"),
        ("async def f():\n    await g()", "statement", "pass"),
        ("try:\n    x = y\nexcept A:\n    x = z", "except", "except ZeroDivisionError:"),
        ("@app.get\ndef f(): return a", "decorator", ""),
        ("x = 'é', a == b", "compare", "x = 'é', a != b"),
    ],
)
def test_each_operator_plants_its_fault(source, operator, mutated):
    assert (operator, [mutated]) in changes(source)


@pytest.mark.parametrize(
    "source",
    [
        'if __name__ == "__main__":\n    app.run(port=5000)\n',
        "from a import b\n",
        '"""Text only."""\n',
        "with open(name) as file:\n    x = file\n",
        "for a in b:\n    break\n",
    ],
)
def test_what_no_check_could_notice_is_left_alone(source):
    assert changes(source) == []


def test_a_condition_that_is_one_comparison_is_turned_round_once():
    assert changes("if a == b:\n    x = y\n") == [("compare", ["if a != b:"])]


REFERENCE = dedent("""
    from flask import Flask

    app = Flask(__name__)


    @app.get("/items/<int:number>")
    def item(number):
        if number > 10 or number < 1:
            return {"error": "none"}, 404
        return {"id": number, "next": number + 1}
""")


def test_every_mutant_compiles_and_differs_from_the_reference_and_the_others():
    mutants = all_mutants(REFERENCE)
    codes = {mutant.code for mutant in mutants}
    assert len(codes) == len(mutants) > 10
    assert REFERENCE not in codes
    assert len({mutant.id for mutant in mutants}) == len(mutants)
    for code in codes:
        ast.parse(code)


def test_the_line_is_that_of_the_fault():
    (mutant,) = [mutant for mutant in all_mutants(REFERENCE) if mutant.operator == "decorator"]
    assert REFERENCE.splitlines()[mutant.line - 1] == '@app.get("/items/<int:number>")'


def test_ids_survive_edits_elsewhere_and_tell_equal_lines_apart():
    before = {mutant.id for mutant in all_mutants(REFERENCE)}
    after = {mutant.id for mutant in all_mutants("import os\n\n" + REFERENCE + "\nextra = 1\n")}
    assert before < after
    twins = all_mutants("def f():\n    a.b = 1\n    a.b = 1\n")
    assert len({mutant.id for mutant in twins}) == len(twins)


def test_the_choice_follows_the_seed_and_keeps_the_order():
    mutants = all_mutants(REFERENCE)
    chosen = choose(mutants, 5, "seed")
    assert choose(mutants, 5, "seed") == chosen
    assert choose(mutants, 5, "other") != chosen
    assert list(chosen) == sorted(chosen, key=mutants.index)
    assert len(chosen) == 5


def test_without_a_count_all_are_chosen():
    mutants = all_mutants(REFERENCE)
    assert choose(mutants, None, "seed") == choose(mutants, 1000, "seed") == mutants


def test_words_for_the_generated_documentation_are_left_alone():
    assert changes('app = FastAPI(title="Books", redoc_url=None)') == [("argument", ['app = FastAPI(title="Books", )'])]


def test_a_change_that_would_break_the_syntax_is_no_mutant():
    source = 'x = {"a": (b), "c": d}\nf((g), h=(k))\n'
    assert all_mutants(source)
    for mutant in all_mutants(source):
        ast.parse(mutant.code)
