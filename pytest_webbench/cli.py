"""The `webbench` command: everything that is not a test run. Each subcommand is a module of `commands`."""

from __future__ import annotations

from importlib import import_module
from keyword import iskeyword

import click

from pytest_webbench.exits import INTERRUPTED, USAGE_ERROR

SUBCOMMANDS = {
    "show": "One answer: conversation, code, each check and why it failed.",
    "report": "Make the reports of a run again from its records, and say what is missing.",
    "gate": "Hold finished runs against limits: passed, failed or inconclusive.",
    "compare": "Paired comparison of two runs, with intervals and flips.",
    "scan": "Which temperature, top_p and so on suit a model, and whether that can be told from chance.",
    "rescore": "Judge the stored completions of a run again, here or on a Ray cluster.",
    "metrics": "Web-CodeBLEU and its parts for two files.",
    "models": "What can be given to --model, which keys are present, prices.",
    "cases": "What the cases cover: categories, difficulties, weaknesses.",
    "export": "Completion store as JSON Lines, conversations, results or cases as files.",
    "import": "Exported completions, or replies made elsewhere, into the store.",
    "init": "Make a folder a benchmark: dataset, settings, models table.",
    "new": "Write the skeleton of a case.",
    "validate": "Check cases: references pass, wrong solutions are caught, mutants are killed.",
    "doctor": "What this machine can do: sandbox level, local model, versions.",
}


def _module(name: str) -> str:
    return f"{name}_" if iskeyword(name) else name


class Subcommands(click.Group):
    """Imports a subcommand when it is asked for, so that `webbench --help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the subcommand of that name, `command` of the module of that name (`import_` for `import`)."""
        if cmd_name not in SUBCOMMANDS:
            return None
        command: click.Command = import_module(f"pytest_webbench.commands.{_module(cmd_name)}").command
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand; its usage errors and Ctrl-C end with the statuses that a run ends with."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            error.show()
            ctx.exit(USAGE_ERROR)
        except KeyboardInterrupt:
            click.echo("\ninterrupted", err=True)
            ctx.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(SUBCOMMANDS.items()))


@click.group(cls=Subcommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="pytest-webbench")
def main() -> None:
    """Look at runs, cases, models and metrics. Runs themselves are started by pytest:

    \b
        pytest --model local -m smoke          a real small model on this machine, no key
        pytest --model llama -n 4              a model of the models table
        pytest --model openai:gpt-5-mini       any OpenAI-compatible model
    """
