"""The local model: weights joined and checked, a server that lives and dies with its parent.

No real weights and no real runtime: the child process is a scripted server with the same manners.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from filelock import FileLock

from pytest_webbench.models import Completion, ConfigError, InfrastructureError, Message, Parameters, Request
from pytest_webbench.models.local import server as server_module
from pytest_webbench.models.local import weights as weights_module
from pytest_webbench.models.local.provider import LocalProvider, local_endpoint
from pytest_webbench.models.local.server import LocalServer, runtime
from pytest_webbench.models.local.weights import PACKAGED, OwnWeights, PackagedWeights, hub_weights

PARTS = [b"GGUF" + b"a" * 5000, b"b" * 5000, b"c" * 17]
TESTS = Path(__file__).parents[1]

CHILD = f"""
    import json, os, sys
    sys.path.insert(0, {str(TESTS)!r})
    from loopback import Loopback, completion
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    key = os.environ["WEBBENCH_LOCAL_KEY"]
    def answer(seen):
        assert seen.headers["authorization"] == "Bearer " + key
        return completion(" ".join(sys.argv[1:]) + " " + str(os.getpid()))
    print("loading ...")
    with Loopback(answer=answer) as server:
        print(json.dumps({{"ready": server.root}}), flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install three data-only packages that may not be imported."""
    site = tmp_path / "site"
    for number, content in enumerate(PARTS, 1):
        folder = site / f"tiny_part{number}"
        (folder / "data").mkdir(parents=True)
        (folder / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
        (folder / "data" / f"part{number:02d}.bin").write_bytes(content)
    monkeypatch.syspath_prepend(site)
    return site


@pytest.fixture
def tiny(tmp_path: Path, packages: Path) -> PackagedWeights:
    digest = hashlib.sha256(b"".join(PARTS)).hexdigest()
    return PackagedWeights("tiny", "tiny_part", 3, sum(map(len, PARTS)), digest, "local", tmp_path / "cache")


@pytest.fixture
def child(tmp_path: Path) -> Callable[..., Callable[[Path, int, int | None], LocalServer]]:
    """Make a factory of servers whose child process runs the given code."""

    def make(code: str = CHILD) -> Callable[[Path, int, int | None], LocalServer]:
        script = tmp_path / "child.py"
        script.write_text(textwrap.dedent(code), encoding="utf-8")
        command = (sys.executable, str(script))
        return lambda model, context, threads: LocalServer(model, context, threads, command=command)

    return make


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF" + b"x" * 100)
    return path


def test_parts_are_joined_once_without_importing_them(tiny: PackagedWeights, packages: Path) -> None:
    path = tiny.file()
    assert path.read_bytes() == b"".join(PARTS)
    for file in packages.rglob("*.bin"):
        file.unlink()
    assert tiny.file() == path
    assert [file.name for file in path.parent.iterdir() if file.suffix == ".partial"] == []


def test_a_damaged_file_in_the_cache_is_joined_anew(tiny: PackagedWeights) -> None:
    path = tiny.file()
    path.write_bytes(b"GGUF" + b"?" * (tiny.size - 4))
    assert tiny.file().read_bytes() == b"".join(PARTS)


def test_parts_with_another_digest_are_refused(tiny: PackagedWeights, packages: Path) -> None:
    (packages / "tiny_part2" / "data" / "part02.bin").write_bytes(b"B" * 5000)
    with pytest.raises(ConfigError, match=r"SHA-256 and are not used.*force-reinstall") as caught:
        tiny.file()
    assert caught.value.failure_class == "local_model"
    assert tiny.cache is not None
    assert list(tiny.cache.glob("*.gguf")) == []


def test_a_missing_part_is_told_with_the_command_that_brings_it(tmp_path: Path, packages: Path) -> None:
    four = PackagedWeights("tiny", "tiny_part", 4, 1, "0" * 64, "local-large", tmp_path)
    with pytest.raises(ConfigError, match=r'part 4 of 4 .*pip install "pytest-webbench\[local-large\]"'):
        four.located()


def test_a_full_disk_is_told_before_anything_is_written(tmp_path: Path, packages: Path) -> None:
    huge = PackagedWeights("tiny", "tiny_part", 3, 1 << 60, "0" * 64, "local", tmp_path / "cache")
    with pytest.raises(ConfigError, match="make room"):
        huge.file()


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, tiny: PackagedWeights) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot write the model file"):
        tiny.file()


def test_two_runs_join_one_after_the_other(tmp_path: Path, tiny: PackagedWeights, packages: Path) -> None:
    arguments = f"'tiny', 'tiny_part', 3, {tiny.size}, {tiny.sha256!r}, 'local', Path(sys.argv[1])"
    code = (
        "import sys; from pathlib import Path\n"
        "from pytest_webbench.models.local.weights import PackagedWeights\n"
        f"print(PackagedWeights({arguments}).file())"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(packages), *sys.path])}
    command = [sys.executable, "-c", code, str(tmp_path / "cache")]
    runs = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    paths = {run.communicate(timeout=30)[0].strip() for run in runs}
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert paths == {str(tiny.file())}


def test_a_run_waits_while_another_one_joins(tiny: PackagedWeights) -> None:
    path = tiny.file()
    path.unlink()
    with ThreadPoolExecutor() as pool:
        with FileLock(path.with_suffix(".lock")):
            joining = pool.submit(tiny.file)
            time.sleep(0.1)
            assert list(path.parent.glob("*.gguf")) == []
        assert joining.result(10) == path


def test_the_pinned_models_are_those_of_the_documentation() -> None:
    sizes = {name: (weights.parts, weights.size, weights.sha256[:12]) for name, weights in PACKAGED.items()}
    assert sizes == {
        "qwen2.5-coder-0.5b-instruct-q4_k_m": (6, 491_400_064, "1d9614638d18"),
        "qwen2.5-coder-1.5b-instruct-q4_k_m": (22, 1_117_320_768, "cc324af070c2"),
    }


def test_an_own_file_is_known_by_its_content(model: Path) -> None:
    assert OwnWeights(model).sha256 == hashlib.sha256(model.read_bytes()).hexdigest()


@pytest.mark.parametrize(("name", "word"), [("missing.gguf", "cannot read"), ("text.gguf", "not a GGUF file")])
def test_an_own_file_that_is_none_is_told(tmp_path: Path, name: str, word: str) -> None:
    (tmp_path / "text.gguf").write_text("hello", encoding="utf-8")
    with pytest.raises(ConfigError, match=word):
        OwnWeights(tmp_path / name).file()


def test_the_hub_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights_module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install huggingface_hub"):
        hub_weights("acme/coder", "coder.gguf")


def test_a_hub_that_cannot_be_reached_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = tmp_path / "huggingface_hub.py"
    hub.write_text("def hf_hub_download(*args): raise OSError('no route\\nmore')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "huggingface_hub", raising=False)
    with pytest.raises(ConfigError, match=r"coder\.gguf of acme/coder .*: no route$"):
        hub_weights("acme/coder", "coder.gguf")


def test_the_endpoint_changes_with_weights_and_runtime(model: Path) -> None:
    pytest.importorskip("xllamacpp")
    assert local_endpoint(OwnWeights(model)) == f"{OwnWeights(model).sha256} {runtime()}"
    assert runtime().startswith("xllamacpp 20")


def test_a_missing_runtime_is_told_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise server_module.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(server_module.metadata, "version", missing)
    with pytest.raises(ConfigError, match=r'pip install "pytest-webbench\[local\]"'):
        runtime()


def _request() -> Request:
    return Request((Message("user", "u"),), "own", "e", Parameters(), 0)


def _ask(provider: LocalProvider, *, between: Callable[[int], Any] = lambda pid: None) -> list[int]:
    """Ask twice; `between` gets the server's process id. Return the ids of the servers that answered."""

    async def ask() -> list[int]:
        answers: list[Completion] = []
        try:
            answers.append(await provider.complete(_request()))
            between(_pid(answers[0]))
            answers.append(await provider.complete(_request()))
        finally:
            await provider.close()
        return [_pid(answer) for answer in answers]

    return asyncio.run(ask())


def _pid(completion: Completion) -> int:
    return int((completion.text or "").split()[-1])


def test_one_server_answers_all_requests_and_goes_with_the_provider(model: Path, child: Any) -> None:
    first, second = _ask(LocalProvider(OwnWeights(model), context=512, threads=3, server=child()))
    assert first == second
    assert not psutil.pid_exists(first)


def test_the_server_gets_model_context_and_threads(model: Path, child: Any) -> None:
    async def ask() -> str:
        provider = LocalProvider(OwnWeights(model), context=512, threads=3, server=child())
        try:
            return (await provider.complete(_request())).text or ""
        finally:
            await provider.close()

    assert asyncio.run(ask()).split()[:3] == [str(model), "512", "3"]


def test_a_server_that_died_is_started_again(model: Path, child: Any) -> None:
    def kill(pid: int) -> None:
        psutil.Process(pid).kill()
        while servers[0].alive:
            time.sleep(0.01)

    servers: list[LocalServer] = []

    def make(*arguments: Any) -> LocalServer:
        servers.append(child()(*arguments))
        return servers[-1]

    first, second = _ask(LocalProvider(OwnWeights(model), server=make), between=kill)
    assert first != second


def test_a_server_that_dies_while_it_answers_is_an_infrastructure_error(model: Path, child: Any) -> None:
    code = CHILD.replace("return completion", "os.kill(os.getpid(), 9); return completion")
    with pytest.raises(InfrastructureError, match="killed, perhaps for want of memory") as caught:
        _ask(LocalProvider(OwnWeights(model), server=child(code)))
    assert (caught.value.failure_class, caught.value.retryable) == ("local_server", True)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "AVX2"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "memory"),
        (
            "raise RuntimeError('failed to load')",
            r"exit status 1 \(RuntimeError: failed to load\); is own.gguf",
        ),
        ("print('no address')", "exit status 0"),
    ],
)
def test_a_server_that_does_not_start_says_why(model: Path, child: Any, code: str, word: str) -> None:
    with pytest.raises(ConfigError, match=f"did not start: .*{word}"):
        child(code)(model, 512, 1).start()


def test_a_server_that_never_gets_ready_is_given_up(model: Path, child: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "START_SECONDS", 0.2)
    with pytest.raises(ConfigError, match=r"not ready after 0\.2 s"):
        child("import time; time.sleep(60)")(model, 512, 1).start()


def test_a_model_larger_than_the_memory_is_not_started(
    model: Path, child: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "SPARE_MEMORY_BYTES", 1 << 60)
    with pytest.raises(ConfigError, match="of memory"):
        child()(model, 512, 1).start()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_the_server_ends_when_its_parent_is_killed(tmp_path: Path, model: Path, child: Any) -> None:
    command = child()(model, 512, 1).command
    code = (
        "import os, sys, time; from pathlib import Path\n"
        "from pytest_webbench.models.local.server import LocalServer\n"
        f"server = LocalServer(Path({str(model)!r}), 512, 1, command={command!r})\n"
        "server.start(); print(server._process.pid, flush=True); time.sleep(60)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.02)
