"""`python -m pytest_webbench` is the `webbench` command."""

from pytest_webbench.cli import main

main(prog_name="webbench")
