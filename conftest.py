"""The plugin is installed by the package; its own tests drive pytest through pytester."""

pytest_plugins = ["pytester"]
