"""CPU and wall time per sample in the sandbox, beside a cold subprocess with and without bubblewrap.

    python benchmarks/sandbox.py                    samples per second and CPU ms per sample, with ratios
    python benchmarks/sandbox.py --leaks 2000       what is left over after that many samples

One sample launches a 60-line app with a database and tokens, sends it five requests and stops it. CPU time
counts the client and every process of the app, from start to end; in the sandbox the zygote and the work of
the trusted side as well. What bubblewrap's own cold server spends on ending is not to be seen from outside.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx2

from pytest_webbench.sandbox import AppSource, Sandbox, levels, open_sandbox
from pytest_webbench.sandbox.folders import OwnedFolder

APPS = Path(__file__).parents[1] / "tests" / "sandbox" / "data" / "apps"
FRAMEWORKS = ("Flask", "FastAPI", "Django")
TARGET_CPU_MS = {"Flask": 70, "FastAPI": 150, "Django": 100}
TARGET_RATIO = 4
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TICKS = os.sysconf("SC_CLK_TCK")
COLD = """
import os, sys
app_file, path, framework = sys.argv[1:]
os.chdir(os.path.dirname(app_file))
sys.path.insert(0, "")
import app as module
if framework == "FastAPI":
    import uvicorn
    async def application(scope, receive, send):
        scope["client"] = scope.get("client") or ("127.0.0.1", 1)
        await module.app(scope, receive, send)
    uvicorn.run(application, uds=path, log_level="error")
else:
    from werkzeug.serving import make_server
    application = getattr(module, "app", None) or module.application
    make_server("unix://" + path, 0, application, threaded=framework == "Flask").serve_forever()
"""


@dataclass(frozen=True)
class Cost:
    """Per sample: median wall and mean CPU time, in milliseconds."""

    wall_ms: float
    cpu_ms: float


def five_requests(socket_path: str) -> None:
    """Register, log in, add a note, list the notes, and be refused without a token."""
    transport = httpx2.HTTPTransport(uds=socket_path, verify=NO_TLS)
    user = {"name": "ada", "pw": "secret"}
    with httpx2.Client(transport=transport, base_url="http://127.0.0.1", timeout=30, trust_env=False) as client:
        assert client.post("/register", json=user).status_code == 201
        token = client.post("/login", json=user).json()["token"]
        bearer = {"authorization": f"Bearer {token}"}
        assert client.post("/notes", json={"text": "x"}, headers=bearer).status_code == 201
        assert client.get("/notes", headers=bearer).json()["notes"] == [{"id": 1, "text": "x"}]
        assert client.get("/notes").status_code == 401


def code_of(framework: str) -> str:
    return (APPS / f"{framework.lower()}_app.py").read_text()


def sandboxed_sample(sandbox: Sandbox, framework: str) -> None:
    with sandbox.launch(AppSource({"app.py": code_of(framework)}, "app.py", framework)) as instance:
        start = instance.wait_ready(60)
        if not start.ok:
            raise RuntimeError(f"{framework}: {start.detail}")
        five_requests(instance.socket_path)


def cold_sample(framework: str, wrapper: Sequence[str]) -> float:
    """Run one sample in a fresh interpreter; return the CPU seconds of its processes and of the client."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "app.py").write_text(code_of(framework))
        path = str(folder / "s")
        command = [*wrapper, sys.executable, "-I", "-c", COLD, str(folder / "app.py"), path, framework]
        bound = [*command[:1], "--bind", name, name, *command[1:]] if wrapper else command
        server = subprocess.Popen(bound, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not accepts(path):
            if server.poll() is not None:
                raise RuntimeError(f"{framework}: the cold server ended")
            time.sleep(0.005)
        before = time.process_time()
        five_requests(path)
        client = time.process_time() - before
        return client + end(server)


def end(server: subprocess.Popen[bytes]) -> float:
    """Kill the server with all its processes; return the CPU seconds that they used."""
    pids = tree(server.pid)
    seen = cpu_seconds(pids)
    for pid in reversed(pids):
        os.kill(pid, signal.SIGKILL)
    _, _, usage = os.wait4(server.pid, 0)
    server.returncode = -signal.SIGKILL
    return max(seen, usage.ru_utime + usage.ru_stime)


def accepts(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except OSError:
            return False
        return True


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return the CPU time of processes and of their children that have ended."""
    fields = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(sum(int(value) for value in field[11:15]) for field in fields) / TICKS


def tree(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(below for child in children for below in tree(int(child)))]


def measure(samples: int, run: Callable[[], float]) -> Cost:
    """Run `run` (which returns CPU seconds) once to warm up and `samples` times to measure."""
    run()
    walls, cpus = [], []
    for _ in range(samples):
        started = time.perf_counter()
        cpus.append(run())
        walls.append(time.perf_counter() - started)
    return Cost(statistics.median(walls) * 1000, statistics.fmean(cpus) * 1000)


def measure_sandbox(sandbox: Sandbox, framework: str, samples: int) -> Cost:
    sandboxed_sample(sandbox, framework)
    zygote = tree(sandbox._zygotes[framework].pid)

    def run() -> float:
        before = cpu_seconds(zygote) + time.process_time()
        sandboxed_sample(sandbox, framework)
        return cpu_seconds(zygote) + time.process_time() - before

    return measure(samples, run)


def compare(level: str, samples: int, cold_samples: int) -> bool:
    """Print the table; return whether every target is met."""
    met = True
    wrapper = list(levels.machine().bubblewrap or ())
    with open_sandbox(level) as sandbox:
        print(f"{sandbox.header}\n{samples} samples, {cold_samples} cold; 1-minute load {os.getloadavg()[0]:.1f}\n")
        print(f"{'':8} {'sandbox':>26} {'cold':>18} {'bwrap + cold':>18} {'CPU':>7} {'wall':>7}")
        print(
            f"{'':8} {'wall ms':>8} {'CPU ms':>8} {'per s':>8}"
            + f" {'wall ms':>9} {'CPU ms':>8}" * 2
            + f" {'ratio':>7}" * 2
        )
        for framework in FRAMEWORKS:
            cold = measure(cold_samples, lambda name=framework: cold_sample(name, ()))
            wrapped = measure(cold_samples, lambda name=framework: cold_sample(name, wrapper)) if wrapper else None
            ours = measure_sandbox(sandbox, framework, samples)
            ratio = cold.cpu_ms / ours.cpu_ms
            met = met and ours.cpu_ms <= TARGET_CPU_MS[framework] and ratio >= TARGET_RATIO
            print(row(framework, ours, cold, wrapped))
    print(f"\ntargets: CPU ms at most {TARGET_CPU_MS}, ratio at least {TARGET_RATIO}: {'met' if met else 'MISSED'}")
    return met


def row(framework: str, ours: Cost, cold: Cost, wrapped: Cost | None) -> str:
    around = f"{wrapped.wall_ms:9.0f} {wrapped.cpu_ms:8.0f}" if wrapped else f"{'-':>9} {'-':>8}"
    return (
        f"{framework:8} {ours.wall_ms:8.0f} {ours.cpu_ms:8.0f} {1000 / ours.wall_ms:8.1f} {cold.wall_ms:9.0f}"
        f" {cold.cpu_ms:8.0f} {around} {cold.cpu_ms / ours.cpu_ms:6.1f}x {cold.wall_ms / ours.wall_ms:6.1f}x"
    )


@dataclass(frozen=True)
class Holdings:
    """What the worker and its zygotes hold at one moment."""

    processes: int
    descriptors: int
    zygote_descriptors: int
    files: int
    worker_kb: int
    zygotes_kb: int


def folders_of(sandbox: Sandbox) -> list[OwnedFolder]:
    return [folder for folder in (sandbox._scratch, sandbox._work) if folder is not None]


def holdings(sandbox: Sandbox) -> Holdings:
    zygotes = [pid for zygote in sandbox._zygotes.values() for pid in tree(zygote.pid)]
    return Holdings(
        processes=len(tree(os.getpid())),
        descriptors=len(os.listdir("/proc/self/fd")),
        zygote_descriptors=sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in zygotes),
        files=sum(len(list(folder.path.iterdir())) for folder in folders_of(sandbox)),
        worker_kb=resident_kb(os.getpid()),
        zygotes_kb=sum(resident_kb(pid) for pid in zygotes),
    )


def resident_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def look_for_leaks(level: str, samples: int) -> bool:
    """Run many samples; return whether nothing but a little memory is left over."""
    with open_sandbox(level) as sandbox:
        for framework in FRAMEWORKS * 10:
            sandboxed_sample(sandbox, framework)
        before, started = holdings(sandbox), time.monotonic()
        for number in range(samples):
            sandboxed_sample(sandbox, FRAMEWORKS[number % len(FRAMEWORKS)])
        after = holdings(sandbox)
        print(f"{sandbox.header}\n{samples} samples in {time.monotonic() - started:.0f} s")
        print(f"before {before}\nafter  {after}")
    left = [str(folder.path) for folder in folders_of(sandbox) if folder.path.exists()]
    print(f"folders left after close: {left or 'none'}; processes left: {len(tree(os.getpid())) - 1}")
    counts = [
        (getattr(before, name), getattr(after, name))
        for name in ("processes", "descriptors", "zygote_descriptors", "files")
    ]
    growth = after.worker_kb + after.zygotes_kb - before.worker_kb - before.zygotes_kb
    clean = all(old == new for old, new in counts) and not left and growth < 20_000
    print("no leak" if clean else "LEAK")
    return clean


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--level", default="auto", help="sandbox level (default: auto)")
    parser.add_argument("--samples", type=int, default=30, help="samples per framework (default: 30)")
    parser.add_argument("--cold-samples", type=int, default=5, help="cold starts per framework (default: 5)")
    parser.add_argument("--leaks", type=int, metavar="N", help="run N samples and look for leaks instead")
    options = parser.parse_args()
    if options.leaks:
        return 0 if look_for_leaks(options.level, options.leaks) else 1
    return 0 if compare(options.level, options.samples, options.cold_samples) else 1


if __name__ == "__main__":
    sys.exit(main())
