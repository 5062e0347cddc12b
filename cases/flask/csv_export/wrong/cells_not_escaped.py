"""Wrong: cells are written as they are, only the names of columns are looked at."""

import csv
import io
import re
from itertools import count

from flask import Flask, abort, request, send_file
from werkzeug.exceptions import HTTPException

app = Flask(__name__)
TYPES = {"json": "application/json", "csv": "text/csv"}
ERRORS = {400: "invalid", 404: "not found"}
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
FORMULA_STARTS = tuple("=+-@\t\r\n")

tables = {}
table_ids = count(1)


@app.errorhandler(HTTPException)
def answer_error_as_json(error):
    return {"error": ERRORS.get(error.code, error.name)}, error.code


def is_cell(value):
    return value is None or isinstance(value, str | int | float)


def is_table(given):
    if not isinstance(given, dict):
        return False
    name, columns, rows = given.get("name"), given.get("columns"), given.get("rows")
    return (
        isinstance(name, str)
        and 1 <= len(name) <= 100
        and isinstance(columns, list)
        and len(columns) > 0
        and all(isinstance(column, str) for column in columns)
        and isinstance(rows, list)
        and all(isinstance(row, list) and len(row) == len(columns) for row in rows)
        and all(is_cell(cell) for row in rows for cell in row)
    )


def csv_field(cell):
    """Write a cell so that no spreadsheet takes a text for a formula."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def write_csv(table):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(map(csv_field, table["columns"]))
    for row in table["rows"]:
        writer.writerow(row)
    return text.getvalue()


def negotiate():
    """Return the format that Accept prefers, or None where it allows none."""
    accepted = request.accept_mimetypes
    if not accepted:
        return "json"
    best = max(TYPES, key=lambda name: accepted.quality(TYPES[name]))
    return best if accepted.quality(TYPES[best]) > 0 else None


@app.post("/tables")
def add_table():
    given = request.get_json()
    if not is_table(given):
        abort(400)
    number = next(table_ids)
    tables[number] = {key: given[key] for key in ("name", "columns", "rows")}
    return {"id": number}, 201


@app.get("/tables/<int:number>")
def show_table(number):
    if number not in tables:
        abort(404)
    table = tables[number]
    if "format" in request.args:
        form, headers = request.args["format"], {}
        if form not in TYPES:
            abort(400)
    else:
        form, headers = negotiate(), {"Vary": "Accept"}
    if form is None:
        return {"error": "not acceptable", "available": list(TYPES.values())}, 406, headers
    if form == "json":
        return table, headers
    name = re.sub(r"[\x00-\x1f\x7f/\\]", "_", table["name"])
    file = io.BytesIO(write_csv(table).encode())
    response = send_file(file, "text/csv; charset=utf-8", as_attachment=True, download_name=f"{name}.csv")
    response.headers.update(headers)
    return response
