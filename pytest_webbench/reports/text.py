"""Tables as text for terminals."""

from __future__ import annotations

import io

from pytest_webbench.reports.tables import Table


def text_table(table: Table, width: int) -> str:
    """Return a table as text no wider than `width` columns: the first column left, the others right."""
    from rich.console import Console
    from rich.table import Table as RichTable

    rendered = RichTable(box=None, pad_edge=False, header_style="", show_edge=False)
    for position, heading in enumerate(table.headings):
        rendered.add_column(heading, justify="left" if position == 0 else "right", overflow="fold")
    for row in table.rows:
        rendered.add_row(*row)
    text = io.StringIO()
    Console(file=text, width=width, color_system=None, highlight=False, markup=False).print(rendered)
    return "\n".join(line.rstrip() for line in text.getvalue().strip("\n").split("\n"))
