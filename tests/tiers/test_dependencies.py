"""Missing packages: whose fault."""

from __future__ import annotations

import pytest

from pytest_webbench.tiers.dependencies import distribution, lacks, missing_module, unlisted_imports


@pytest.mark.parametrize(
    ("log", "module"),
    [
        ("ModuleNotFoundError: No module named 'flask_jwt_extended'", "flask_jwt_extended"),
        ("ModuleNotFoundError: No module named 'rest_framework.views'", "rest_framework"),
        ("No module named 'first'\n...\nNo module named 'second'", "second"),
        ('RuntimeError: Form data requires "python-multipart" to be installed.', "python_multipart"),
        ("ImportError: email-validator is not installed, run `pip install`", "email_validator"),
        ("ImportError: cannot import name 'Markup' from 'flask'", None),
    ],
)
def test_the_log_names_the_missing_module(log, module):
    assert missing_module(log) == module


def test_import_names_lead_to_the_names_that_pip_knows():
    assert [distribution(name) for name in ("jwt", "flask_jwt_extended")] == ["PyJWT", "flask-jwt-extended"]


@pytest.mark.parametrize(
    ("code", "imports", "framework", "unlisted"),
    [
        ("import flask, os.path\nfrom werkzeug.security import x\nimport jinja2", ("flask",), "Flask", ()),
        ("import requests", ("flask",), "Flask", ("requests",)),
        ("from flask_jwt_extended import JWTManager", ("flask",), "Flask", ("flask_jwt_extended",)),
        ("import pytest", ("flask",), "Flask", ("pytest",)),
        ("import jwt", ("flask", "PyJWT"), "Flask", ()),
        ("import jwt", ("flask", "jwt"), "Flask", ()),
        ("import jwt", ("flask",), "Flask", ("jwt",)),
        ("from sqlalchemy import text", ("Flask-SQLAlchemy",), "Flask", ()),
        ("import uvicorn, starlette, pydantic", ("fastapi",), "FastAPI", ()),
        ("import asgiref", ("django",), "Django", ()),
        ("try:\n    import orjson\nexcept ImportError:\n    orjson = None", ("flask",), "Flask", ()),
        ("try:\n    import a_a\nexcept ImportError:\n    import b_b", ("flask",), "Flask", ("b_b",)),
        ("def view():\n    import requests", ("flask",), "Flask", ("requests",)),
        ("from models import db\nimport store\nfrom . import x", ("flask",), "Flask", ()),
        ("this is not Python", ("flask",), "Flask", ()),
    ],
)
def test_imports_are_compared_with_the_list_of_the_case(case, code, imports, framework, unlisted):
    files = {"app.py": code, "store.py": ""}
    assert unlisted_imports(files, case(imports=imports, framework=framework)) == unlisted


@pytest.mark.parametrize(
    ("module", "imports", "framework", "fault"),
    [
        ("absent_one", ("Absent-One",), "Flask", True),
        ("rest_framework", ("djangorestframework",), "Django", True),
        ("rest_framework", ("django",), "Django", False),
        ("flask", ("flask",), "Flask", False),
    ],
)
def test_an_absent_package_is_this_machines_fault_only_if_it_is_allowed(case, module, imports, framework, fault):
    assert lacks(module, case(imports=imports, framework=framework)) is fault


def test_the_form_and_mail_support_of_fastapi_is_allowed_with_it(case, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    sample = case(imports=("fastapi",), framework="FastAPI")
    assert lacks("python_multipart", sample)
    assert lacks("email_validator", sample)
    assert not lacks("python_multipart", case())
