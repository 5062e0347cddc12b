"""A pytest plugin for inner runs: without matplotlib, whose import and drawing would be most of a short run's time."""

import sys

sys.modules["matplotlib"] = None  # type: ignore[assignment]
