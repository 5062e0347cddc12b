"""What one process judges with: the sandbox, opened when first needed, and what is prepared once per case."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from pytest_webbench.cases import Case
from pytest_webbench.extraction import Code
from pytest_webbench.metrics import Reference, WebCodeBLEU, web_codebleu
from pytest_webbench.settings import Settings, Tier
from pytest_webbench.tiers.results import Deadlines, HttpTiers

if TYPE_CHECKING:
    from pytest_webbench.sandbox import Sandbox

SAFE_LEVELS = ("full", "kernel")
NO_CLIENT = 'running apps needs the packages of the extra exec: pip install "pytest-webbench[exec]"'


@dataclass(slots=True)
class Workbench:
    """Judges with `tier` as the deepest tier that asserts, in a sandbox of `level`.

    `why_no_sandbox` says why nothing can be executed, where that is so.
    """

    tier: Tier
    level: str
    strict: bool = False
    why_no_sandbox: str = ""
    _sandbox: Sandbox | None = None
    _references: dict[str, Reference] = field(default_factory=dict)
    _deadlines: dict[str, Deadlines] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the one that a run was told to judge with."""
        return cls(settings.tier, settings.sandbox, settings.sandbox_strict)

    def similarity(self, case: Case, text: str) -> WebCodeBLEU:
        """Return Web-CodeBLEU of `text` against the case's reference, which is prepared once."""
        if case.id not in self._references:
            self._references[case.id] = Reference(case.reference)
        return web_codebleu(self._references[case.id], text)

    def run(self, case: Case, code: Code, text: str) -> HttpTiers | None:
        """Run an app and judge it over HTTP; None where this machine has no sandbox."""
        sandbox = self._open()
        if sandbox is None:
            return None
        from pytest_webbench.sandbox import SandboxBroken
        from pytest_webbench.tiers.http import Depth, run_http_tiers

        files = {**code.files, code.entry: text}
        depth: Depth = "secure" if self.tier == "secure" else "functional"
        try:
            deadlines = self._deadlines_of(case, sandbox)
            return run_http_tiers(case, files, code.entry, sandbox, tiers=depth, deadlines=deadlines)
        except SandboxBroken as error:
            return HttpTiers("not_assessed", failure_class="sandbox", message=str(error))

    def examine(self) -> str:
        """Try to break out of the sandbox, and return the line that says what holds; refuse one that leaks."""
        sandbox = self._open()
        if sandbox is None:
            return f"webbench sandbox: none, NOTHING IS EXECUTED: {self.why_no_sandbox}"
        report = sandbox.probe()
        if not report.ok and sandbox.level in SAFE_LEVELS:
            self.why_no_sandbox = f"the {sandbox.level} sandbox does not hold here ({report.describe()})"
            self.close()
            return f"webbench sandbox: none, NOTHING IS EXECUTED: {self.why_no_sandbox}"
        return f"{sandbox.header}; {report.describe()}"

    @property
    def sandbox_header(self) -> str | None:
        """What held the apps, None where nothing ran."""
        return self._sandbox.header if self._sandbox is not None else None

    def close(self) -> None:
        """End the sandbox."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def _open(self) -> Sandbox | None:
        from pytest_webbench.sandbox import SandboxUnavailable, open_sandbox

        if find_spec("httpx2") is None:
            self.why_no_sandbox = NO_CLIENT
        if self._sandbox is None and not self.why_no_sandbox:
            try:
                self._sandbox = open_sandbox(self.level, strict=self.strict)
            except SandboxUnavailable as error:
                self.why_no_sandbox = str(error)
        return self._sandbox

    def _deadlines_of(self, case: Case, sandbox: Sandbox) -> Deadlines:
        """Calibrate on the start and the examples of the reference: one launch a case."""
        from pytest_webbench.tiers.http import calibrate

        if case.id not in self._deadlines:
            short = replace(case, criteria=tuple(name for name in case.criteria if name != "unit_tests"))
            self._deadlines[case.id] = calibrate(short, sandbox)
        return self._deadlines[case.id]
