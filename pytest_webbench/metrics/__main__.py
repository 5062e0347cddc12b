"""`python -m pytest_webbench.metrics REFERENCE HYPOTHESIS [--json]`."""

import sys

from pytest_webbench.metrics.command import main

sys.exit(main(sys.argv[1:]))
