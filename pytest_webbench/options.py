"""The plugin's command line and ini options: their names, meanings and defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

DEFAULT_SAMPLES = 10
DEFAULT_STORE = ".webbench/completions.sqlite"
DEFAULT_TEMPLATE = "web_expert"
MODEL_DEST = "webbench_model"
MODEL_HELP = (
    "Model to benchmark: a name of the models table or PROVIDER:MODEL_ID (repeatable, comma lists allowed). "
    "'reference' answers with each case's reference solution, 'local' is a real small model on this machine."
)


class SettingsError(Exception):
    """A setting that cannot be used; the message says what to change."""


OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "--webbench-samples",
        {"type": int, "metavar": "K", "help": "Samples per case, model and template (default: 10)"},
    ),
    (
        "--webbench-prompt",
        {
            "action": "append",
            "metavar": "NAME",
            "help": "Prompt template, repeatable (default: web_expert); 'all' for every one",
        },
    ),
    (
        "--webbench-templates",
        {"metavar": "DIR", "help": "Folder of prompt templates of your own, NAME.toml each, beside the built-in ones"},
    ),
    (
        "--webbench-temperature",
        {"type": float, "metavar": "T", "help": "Override the models' temperature (default: 0.8)"},
    ),
    ("--webbench-top-p", {"type": float, "metavar": "P", "help": "Override the models' top_p"}),
    ("--webbench-max-tokens", {"type": int, "metavar": "N", "help": "Override the models' max_tokens"}),
    (
        "--webbench-seed",
        {"type": int, "metavar": "S", "help": "Base seed; sample i is asked with seed S + i"},
    ),
    (
        "--webbench-models",
        {
            "metavar": "FILE",
            "help": "Models table (default: webbench.toml, then [tool.webbench] in pyproject.toml)",
        },
    ),
    (
        "--webbench-tiers",
        {
            "metavar": "LIST",
            "help": "Which tiers assert: static (syntax, structure), functional (all that the case has; default), "
            "secure (adds exploits)",
        },
    ),
    (
        "--webbench-concurrency",
        {
            "type": int,
            "default": 16,
            "metavar": "N",
            "help": "Model requests in flight over the whole run (default: 16)",
        },
    ),
    (
        "--webbench-budget",
        {
            "type": float,
            "metavar": "USD",
            "help": "Stop asking for completions when the run would spend more than this",
        },
    ),
    (
        "--webbench-dry-run",
        {
            "action": "store_true",
            "help": "Ask nothing, run nothing: show items, stored completions, requests to send, tokens and the most "
            "they can cost; exit 0",
        },
    ),
    (
        "--webbench-generate-only",
        {
            "action": "store_true",
            "help": "Stop after the completions are stored: an item passes once its completion is in the store, "
            "nothing is judged or reported; exit 0 when all are stored, else 3 (4 after a configuration error). "
            "Works in one process, whatever -n says",
        },
    ),
    (
        "--webbench-report-only",
        {
            "action": "store_true",
            "help": "Measure, do not judge: exit 0 when every sample was judged, else 3",
        },
    ),
    ("--webbench-offline", {"action": "store_true", "help": "Never call a model: only stored completions"}),
    ("--webbench-no-generate", {"action": "store_true", "help": "Same as --webbench-offline, for scoring"}),
    ("--webbench-refresh", {"action": "store_true", "help": "Ask again although a completion is stored"}),
    (
        "--webbench-store",
        {
            "metavar": "FILE",
            "help": "Completion store: a file, or postgresql://USER@HOST/DATABASE where hosts share no disk "
            "(default: .webbench/completions.sqlite)",
        },
    ),
    ("--webbench-report-dir", {"metavar": "DIR", "help": "Where reports are written (default: reports)"}),
    (
        "--webbench-sandbox",
        {
            "choices": ("auto", "full", "kernel", "weak", "off"),
            "default": "auto",
            "help": "Isolation of generated code (default: auto, the best that this machine offers)",
        },
    ),
    (
        "--webbench-sandbox-strict",
        {"action": "store_true", "help": "Refuse to run below the full sandbox level"},
    ),
    (
        "--webbench-baseline",
        {"metavar": "FILE", "help": "Compare with this benchmark.json, run folder or records.jsonl"},
    ),
    (
        "--webbench-baseline-model",
        {
            "metavar": "NAME",
            "help": "Which model of the baseline to compare with (default: the one of the same name; one model on "
            "each side pairs anyway)",
        },
    ),
    (
        "--webbench-baseline-common",
        {
            "action": "store_true",
            "help": "Compare on the cases (of the same version and prompt) and templates that run and baseline have "
            "in common, and list what differs; without it other cases, versions, templates or parameters are an error",
        },
    ),
    (
        "--webbench-max-drop",
        {
            "action": "append",
            "default": [],
            "metavar": "METRIC[FRAMEWORK]=VALUE",
            "help": "Gate, repeatable: largest accepted drop against the baseline, judged by its paired 95 %% "
            "interval. METRIC is pass_at_1, functional_pass_at_1, secure_pass_at_1, web_codebleu or points; "
            "[FRAMEWORK] is optional, as in points[Flask]=5. Exit 0 passed, 10 failed, 11 inconclusive",
        },
    ),
    (
        "--webbench-fail-under",
        {
            "action": "append",
            "default": [],
            "metavar": "METRIC[FRAMEWORK]=VALUE",
            "help": "Gate, repeatable: smallest accepted value of a metric, as for --webbench-max-drop",
        },
    ),
    (
        "--webbench-shard",
        {
            "metavar": "I/N",
            "help": "Run part I of N: an equal share of the selected cases, the same on every machine. "
            "'webbench report' and 'webbench gate' merge the parts; no gate option goes with it",
        },
    ),
    ("--webbench-run-id", {"metavar": "ID", "help": "Name of the run (default: UTC time and a short hash)"}),
)

INI = (
    ("webbench_samples", "Samples per case, model and template"),
    ("webbench_prompt", "Prompt templates, separated by spaces"),
    ("webbench_templates", "Folder of prompt templates of your own"),
    ("webbench_models", "Models table"),
    ("webbench_store", "Completion store"),
    ("webbench_report_dir", "Where reports are written"),
)


def register(parser: pytest.Parser) -> None:
    """Add every option but `--model`, which is added once it is known to be free."""
    group = parser.getgroup("webbench", "benchmark of models that write web code")
    group.addoption("--webbench-model", dest=MODEL_DEST, action="append", default=[], metavar="NAME", help=MODEL_HELP)
    for name, attributes in OPTIONS:
        group.addoption(name, **attributes)
    for name, meaning in INI:
        parser.addini(name, meaning)
