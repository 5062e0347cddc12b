"""Which level a machine gets, and what it is told where it gets none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from outside import ask, source

from pytest_webbench.sandbox import Level, Sandbox, SandboxUnavailable, confine, levels, open_sandbox
from pytest_webbench.sandbox.interpreter import interpreter
from pytest_webbench.sandbox.levels import Identity, Machine, Walls

EVERYTHING = Machine(("bwrap",), None, "", 7, True)
NO_BUBBLEWRAP = Machine(None, None, "bubblewrap is not installed", 7, True)
NO_USER_NAMESPACES = Machine(None, None, "bwrap: setting up uid map: Permission denied", 7, True)
OLD_KERNEL = Machine(None, None, "bubblewrap is not installed", 3, True)
NO_LANDLOCK = Machine(("bwrap",), None, "", 0, True)
NO_SECCOMP = Machine(("bwrap",), None, "", 7, False)
NOTHING = Machine(None, None, "bubblewrap is not installed", 0, False)


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[[Machine], None]:
    def become(machine: Machine) -> None:
        monkeypatch.setattr(levels, "machine", lambda: machine)

    return become


@pytest.mark.parametrize(
    ("machine", "level"),
    [
        (EVERYTHING, Level.FULL),
        (NO_BUBBLEWRAP, Level.KERNEL),
        (NO_USER_NAMESPACES, Level.KERNEL),
        (NO_LANDLOCK, Level.KERNEL),
    ],
)
def test_auto_takes_the_best_level(machine: Machine, level: Level, on: Callable[[Machine], None]) -> None:
    on(machine)
    assert levels.choose("auto", strict=False).level is level


@pytest.mark.parametrize("machine", [OLD_KERNEL, NO_SECCOMP, NOTHING])
def test_auto_refuses_what_is_below_kernel(machine: Machine, on: Callable[[Machine], None]) -> None:
    on(machine)
    with pytest.raises(SandboxUnavailable, match="Nothing is executed; --webbench-tiers static works"):
        levels.choose("auto", strict=False)


@pytest.mark.parametrize(
    ("machine", "remedy"),
    [
        (NO_BUBBLEWRAP, "apt-get install bubblewrap"),
        (NO_USER_NAMESPACES, "apparmor_restrict_unprivileged_userns"),
        (NO_LANDLOCK, "Linux 5.13"),
        (NO_SECCOMP, "apt-get install libseccomp2"),
    ],
)
def test_strict_refuses_what_is_below_full_and_names_the_remedy(
    machine: Machine, remedy: str, on: Callable[[Machine], None]
) -> None:
    on(machine)
    with pytest.raises(SandboxUnavailable, match=remedy) as caught:
        levels.choose("auto", strict=True)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("asked", "machine"), [("full", NO_BUBBLEWRAP), ("kernel", OLD_KERNEL), ("full", NOTHING)])
def test_an_asked_for_level_is_not_lowered(asked: str, machine: Machine, on: Callable[[Machine], None]) -> None:
    on(machine)
    with pytest.raises(SandboxUnavailable, match=f"the {asked} sandbox is not available"):
        levels.choose(asked, strict=False)


def test_weaker_levels_run_only_when_asked_for(on: Callable[[Machine], None]) -> None:
    on(OLD_KERNEL)
    assert levels.choose("weak", strict=False) == Walls(False, 3, True)
    assert levels.choose("off", strict=False).level is Level.OFF


def test_kernel_means_no_namespaces_where_landlock_suffices(on: Callable[[Machine], None]) -> None:
    on(EVERYTHING)
    assert levels.choose("kernel", strict=False) == Walls(False, 7, True)
    on(NO_LANDLOCK)
    assert levels.choose("kernel", strict=False) == Walls(True, 0, True)


def test_other_systems_are_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels.sys, "platform", "darwin")
    with pytest.raises(SandboxUnavailable, match=r"darwin.*WSL2, a VM or a container.*--webbench-tiers static"):
        open_sandbox()


@pytest.fixture
def fresh_look() -> Iterator[None]:
    levels.machine.cache_clear()
    yield
    levels.machine.cache_clear()


@pytest.mark.usefixtures("fresh_look")
def test_a_machine_without_bubblewrap_and_landlock_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(confine, "landlock_abi", lambda: 0)
    with pytest.raises(SandboxUnavailable, match=r"apt-get install bubblewrap.*landlock: needs Linux"):
        open_sandbox()


@pytest.mark.usefixtures("fresh_look")
def test_a_bubblewrap_that_fails_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confine, "bubblewrap", lambda *_paths, **_options: ["sh", "-c", "echo no uid map >&2; exit 1"])
    found = levels.machine()
    assert (found.bubblewrap, found.bubblewrap_problem) == (None, "no uid map")


def test_namespaces_alone_hold_too(on: Callable[[Machine], None], best: Sandbox) -> None:
    """As on gVisor, which has user namespaces but no Landlock."""
    real = levels.machine()
    if real.bubblewrap is None:
        pytest.skip(real.bubblewrap_problem)
    on(Machine(real.bubblewrap, real.bubblewrap_uid, "", 0, True))
    with open_sandbox() as sandbox:
        assert sandbox.header.startswith(
            "webbench sandbox: kernel (namespaces, tmpfs, seccomp, rlimits; MISSING landlock"
        )
        assert sandbox.probe().escaped == ()
        code = "import os\nfrom flask import Flask\napp = Flask(__name__)\n"
        with sandbox.launch(
            source(code + "app.get('/')(lambda: os.listdir('/proc') + os.listdir('/webbench'))")
        ) as app:
            assert app.wait_ready(20).ok
            assert sorted(json.loads(ask(app).body)) == ["box", "work"]


def test_the_header_names_what_holds(sandbox: Sandbox) -> None:
    abi = confine.landlock_abi()
    if sandbox.level is Level.FULL:
        assert sandbox.header == f"webbench sandbox: full (namespaces, tmpfs, landlock abi{abi}, seccomp, rlimits)"
    else:
        assert sandbox.header.startswith(f"webbench sandbox: kernel (landlock abi{abi}, seccomp, rlimits; MISSING")


READABLE = interpreter()


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool, bool], None]:
    def set_up(python_open_to_all: bool, may_read_everything: bool) -> None:
        monkeypatch.setattr(levels.os, "geteuid", lambda: 0)
        monkeypatch.setattr(levels, "interpreter", lambda: replace(READABLE, open_to_all=python_open_to_all))
        monkeypatch.setattr(confine, "has_capability", lambda _mask: may_read_everything)

    return set_up


@pytest.mark.parametrize(
    ("python_open_to_all", "may_read_everything", "expected"),
    [
        (True, True, Identity(65534, 0, 0)),
        (False, True, Identity(65534, confine.CAP_DAC_READ_SEARCH, confine.CAP_DAC_READ_SEARCH)),
        (False, False, Identity(None, 0, 0)),
    ],
)
def test_at_kernel_level_root_becomes_nobody_if_nobody_can_run_its_python(
    python_open_to_all: bool, may_read_everything: bool, expected: Identity, as_root: Callable[[bool, bool], None]
) -> None:
    as_root(python_open_to_all, may_read_everything)
    assert levels.identity(Walls(False, 7, True), EVERYTHING) == expected


def test_without_landlock_no_right_to_read_everything_is_kept(as_root: Callable[[bool, bool], None]) -> None:
    as_root(False, True)
    assert levels.identity(Walls(False, 0, True), EVERYTHING) == Identity(None, 0, 0)


def test_an_ordinary_user_stays_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels.os, "geteuid", lambda: 1000)
    assert levels.identity(Walls(False, 7, True), EVERYTHING) == Identity(None, 0, 0)
    assert levels.identity(Walls(True, 7, True), EVERYTHING) == Identity(None, confine.CAP_SYS_ADMIN, 0)


def test_landlock_that_may_not_be_asked_for_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under an old container profile, which answers EPERM to system calls that it does not know."""
    import landlockpy

    def refuse() -> int:
        raise PermissionError

    monkeypatch.setattr(landlockpy, "abi_version", refuse)
    assert confine.landlock_abi() == 0


@pytest.mark.usefixtures("fresh_look")
def test_namespaces_that_an_app_could_not_use_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    real = confine.bubblewrap
    monkeypatch.setattr(
        confine, "bubblewrap", lambda *paths, **options: [a for a in real(*paths, **options) if a != "CAP_SYS_ADMIN"]
    )
    assert levels.machine().bubblewrap is None
