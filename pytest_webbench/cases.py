"""Cases: what a dataset entry is, read and checked.

A case is a folder with a `definition.toml`, its reference solution and its hidden checks; a
`dataset.json` (an array of entries with prompt and reference code) gives cases without checks.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

Framework = Literal["Flask", "FastAPI", "Django"]
Difficulty = Literal["easy", "medium", "hard"]
Criterion = Literal["parsing", "execution", "unit_tests", "examples"]
Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

DEFINITION = "definition.toml"
SCENARIOS = "scenarios"
NOT_SEARCHED = frozenset({"node_modules", "build", "dist", "venv"})


class CaseError(Exception):
    """A dataset entry that cannot be used: names the file, the key and what was expected."""

    def __init__(self, path: Path, problems: list[str]) -> None:
        self.path = path
        self.problems = problems
        super().__init__("\n".join(f"{path}: {problem}" for problem in problems))


@dataclass(frozen=True, slots=True)
class Example:
    """A public request of a case; a case's examples run in order on one app instance.

    An example runs if the answer is no 5xx and the app lives; `status`, where given, must match.
    """

    method: str
    path: str
    json: Any = None
    form: Mapping[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Python text together with the file it came from, for tracebacks."""

    text: str
    path: Path


@dataclass(frozen=True, slots=True)
class Case:
    """One dataset entry.

    `path` is the file it was read from. `checks` and `exploits` hold the source files of the hidden HTTP
    checks in the order in which they run (a scenario's shared file first); `wrong` maps a name to a
    solution with one realistic mistake.
    """

    id: str
    name: str
    version: str
    framework: Framework
    category: str
    difficulty: Difficulty
    domain: str
    language: str
    source: str
    contributor: str
    criteria: tuple[str, ...]
    prompt: str
    imports: tuple[str, ...]
    reference: str
    path: Path
    examples: tuple[Example, ...] = ()
    checks: tuple[Source, ...] = ()
    exploits: tuple[Source, ...] = ()
    wrong: Mapping[str, str] = field(default_factory=dict)
    examples_setup: str = ""
    examples_teardown: str = ""
    unit_tests_setup: str = ""
    unit_tests_teardown: str = ""
    scenario: str | None = None
    equivalent_mutants: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    cwe: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def markers(self) -> tuple[str, ...]:
        """Marker names of the case: framework, difficulty, `category_<name>` and tags, in lower case."""
        names = (self.framework, self.difficulty, f"category_{self.category}", *self.tags)
        return tuple(dict.fromkeys(marker_name(name) for name in names))


def marker_name(name: str) -> str:
    """Return `name` as pytest's `-m` can say it: lower case, everything but letters and digits as `_`."""
    return "".join(character if character.isalnum() else "_" for character in name.lower())


NonEmpty = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _ExampleTable(_Strict):
    request: Annotated[str, Field(pattern=r"^[A-Z]+ /\S*$")]
    json_: Any = Field(default=None, alias="json")
    form: dict[str, str] | None = None
    headers: dict[str, str] = {}
    body: str | None = None
    status: Annotated[int, Field(ge=100, le=599)] | None = None

    @model_validator(mode="after")
    def one_body(self) -> Self:
        given = [
            name
            for name, value in (("json", self.json_), ("form", self.form), ("body", self.body))
            if value is not None
        ]
        if len(given) > 1:
            raise ValueError(f"one of json, form and body, not {' and '.join(given)}")
        return self

    def example(self) -> Example:
        method, path = self.request.split(" ", 1)
        return Example(method, path, self.json_, self.form, self.headers, self.body, self.status)


class _Definition(_Strict):
    """The keys of `definition.toml`."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    name: NonEmpty
    version: NonEmpty
    framework: Framework
    category: NonEmpty
    difficulty: Difficulty
    domain: NonEmpty
    language: NonEmpty
    source: NonEmpty
    contributor: NonEmpty
    criteria: Annotated[list[Criterion], Field(min_length=1)]
    prompt: NonEmpty
    imports: list[NonEmpty]
    examples: list[_ExampleTable] = []
    examples_setup: str = ""
    examples_teardown: str = ""
    unit_tests_setup: str = ""
    unit_tests_teardown: str = ""
    unit_tests: list[NonEmpty] = []
    reference_solution: NonEmpty | None = None
    scenario: NonEmpty | None = None
    equivalent_mutants: list[NonEmpty] = []
    env: dict[str, str] = {}
    limits: dict[str, float] = {}
    cwe: list[Annotated[str, Field(pattern=r"^CWE-\d+$")]] = []
    tags: list[Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]] = []


class _Entry(BaseModel):
    """An entry of `dataset.json`; keys that only other tools know are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    domain: NonEmpty
    language: NonEmpty
    framework: Framework
    source: NonEmpty
    prompt: NonEmpty
    reference_code: NonEmpty


_ENTRIES = TypeAdapter(list[_Entry])


def load_case(path: Path) -> Case:
    """Read the case whose `definition.toml` is `path`; `CaseError` says what is wrong with it."""
    definition = _definition(path)
    folder = path.parent
    scenario = folder.parent.parent / SCENARIOS / definition.scenario if definition.scenario else None
    checks = _sources("checks.py", scenario, folder)
    if definition.unit_tests:
        checks += (Source(_inline_checks(definition.unit_tests), path),)
    case = Case(
        **definition.model_dump(
            include={
                "id", "name", "version", "framework", "category", "difficulty", "domain", "language", "source",
                "contributor", "prompt", "examples_setup", "examples_teardown", "unit_tests_setup",
                "unit_tests_teardown", "scenario", "env", "limits",
            }
        ),
        criteria=tuple(definition.criteria),
        imports=tuple(definition.imports),
        reference=_reference(definition, path),
        path=path,
        examples=tuple(table.example() for table in definition.examples),
        checks=checks,
        exploits=_sources("exploits.py", scenario, folder),
        wrong={file.stem: _read(file) for file in sorted((folder / "wrong").glob("*.py"))},
        equivalent_mutants=tuple(definition.equivalent_mutants),
        cwe=tuple(definition.cwe),
        tags=tuple(definition.tags),
    )  # fmt: skip
    if problems := _problems(case, scenario):
        raise CaseError(path, problems)
    return case


def load_dataset(path: Path) -> tuple[Case, ...]:
    """Read a `dataset.json`; its cases have the static tiers and Web-CodeBLEU only."""
    try:
        entries = _ENTRIES.validate_python(json.loads(_read(path)))
    except ValueError as error:
        problems = _schema_problems(error) if isinstance(error, ValidationError) else [f"not valid JSON: {error}"]
        raise CaseError(path, problems) from None
    twice = _repeated([entry.id for entry in entries])
    if twice:
        raise CaseError(path, [f"id {name!r} stands in more than one entry" for name in twice])
    return tuple(_case_of_entry(entry, path) for entry in entries)


def is_dataset(path: Path) -> bool:
    """Whether `path` is named and shaped like a dataset: `dataset.json` or `*.dataset.json`."""
    return path.name == "dataset.json" or path.name.endswith(".dataset.json")


def find_case_files(paths: list[Path]) -> list[Path]:
    """Return the case files (definitions and datasets) at and below `paths`, sorted, each once."""
    found = {file for path in paths for file in _case_files_below(path)}
    return sorted(found)


def load_case_file(path: Path) -> tuple[Case, ...]:
    """Read a definition or a dataset: the cases of one file."""
    return load_dataset(path) if is_dataset(path) else (load_case(path),)


def load_cases(path: str | Path) -> list[Case]:
    """Load every case at or below `path`, sorted by file.

    Raises `CaseError` for a file that cannot be used, and where two files give the same id.

        >>> cases = load_cases("cases")  # doctest: +SKIP
        >>> cases[0].framework  # doctest: +SKIP
        'Django'
    """
    cases = [case for file in find_case_files([Path(path)]) for case in load_case_file(file)]
    check_unique_ids(cases)
    return cases


def check_unique_ids(cases: list[Case]) -> None:
    """Raise `CaseError` where two cases share an id: results are filed under it."""
    owner: dict[str, Case] = {}
    for case in cases:
        other = owner.setdefault(case.id, case)
        if other is not case:
            raise CaseError(case.path, [f"id: {case.id!r} is already the id of {other.path}"])


def _case_files_below(path: Path) -> Iterator[Path]:
    if path.is_file():
        if path.name == DEFINITION or is_dataset(path):
            yield path
        return
    for folder, below, files in os.walk(path):
        below[:] = [name for name in below if not name.startswith(".") and name not in NOT_SEARCHED]
        yield from (Path(folder, name) for name in files if name == DEFINITION or is_dataset(Path(name)))


def _definition(path: Path) -> _Definition:
    try:
        return _Definition.model_validate(tomllib.loads(_read(path)))
    except tomllib.TOMLDecodeError as error:
        raise CaseError(path, [f"not valid TOML: {error}"]) from None
    except ValidationError as error:
        raise CaseError(path, _schema_problems(error)) from None


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise CaseError(path, [error.strerror or str(error)]) from None
    except UnicodeDecodeError as error:
        raise CaseError(path, [f"not UTF-8 text (byte {error.start})"]) from None


def _schema_problems(error: ValidationError) -> list[str]:
    return [f"{_key(item['loc'])}: {_expectation(item)}" for item in error.errors()]


def _key(location: tuple[int | str, ...]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).removeprefix(".") or "(top level)"


def _expectation(item: Mapping[str, Any]) -> str:
    match item["type"]:
        case "missing":
            return "required key is missing"
        case "extra_forbidden":
            return "unknown key"
        case "literal_error":
            return f"expected {item['ctx']['expected']}, found {item['input']!r}"
        case "value_error":
            return f"expected {item['ctx']['error']}"
        case "string_pattern_mismatch" | "string_too_short" if not str(item["input"]).strip():
            return "expected text, found an empty string"
    message = str(item["msg"])
    return f"expected {message[0].lower() + message[1:]}, found {item['input']!r}"


def _sources(name: str, *folders: Path | None) -> tuple[Source, ...]:
    files = [folder / name for folder in folders if folder is not None]
    return tuple(Source(_read(file), file) for file in files if file.is_file())


def _inline_checks(blocks: list[str]) -> str:
    indented = ["\n".join(f"    {line}" for line in block.strip().splitlines()) for block in blocks]
    return "\n\n".join(f"def check_inline_{n}(client):\n{body}" for n, body in enumerate(indented, start=1))


def _reference(definition: _Definition, path: Path) -> str:
    file = path.parent / "reference.py"
    if definition.reference_solution is not None:
        if file.is_file():
            raise CaseError(path, ["reference_solution: reference.py exists as well, keep one of them"])
        return definition.reference_solution
    if not file.is_file():
        raise CaseError(path, ["reference_solution: required key is missing (or write reference.py beside it)"])
    return _read(file)


def _problems(case: Case, scenario: Path | None) -> list[str]:
    problems = []
    folder_name = "/".join(case.path.resolve().parent.parts[-2:])
    if case.name != folder_name:
        problems.append(f"name: expected {folder_name!r} (the folder's path), found {case.name!r}")
    if not case.reference.strip():
        problems.append("reference.py: expected the reference solution, found an empty file")
    if scenario is not None and not scenario.is_dir():
        problems.append(f"scenario: no folder {scenario}")
    if "unit_tests" in case.criteria and not case.checks:
        problems.append("criteria: unit_tests needs checks.py or unit_tests")
    if "examples" in case.criteria and not case.examples:
        problems.append("criteria: examples needs at least one [[examples]] table")
    problems += [f"criteria: {name!r} is listed twice" for name in _repeated(list(case.criteria))]
    return problems


def _repeated(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _case_of_entry(entry: _Entry, path: Path) -> Case:
    return Case(
        id=entry.id,
        name=entry.id,
        version="1.0",
        framework=entry.framework,
        category="uncategorised",
        difficulty="medium",
        domain=entry.domain,
        language=entry.language,
        source=entry.source,
        contributor="dataset.json",
        criteria=("parsing",),
        prompt=entry.prompt,
        imports=(entry.framework.lower(),),
        reference=entry.reference_code,
        path=path,
    )
