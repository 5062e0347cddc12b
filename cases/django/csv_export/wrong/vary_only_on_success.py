"""Wrong: Vary is set for CSV and JSON, but not for the 406."""

import csv
import json
import re
from itertools import count

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.utils.cache import patch_vary_headers
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_POST

TYPES = {"json": "application/json", "csv": "text/csv"}
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
FORMULA_STARTS = tuple("=+-@\t\r\n")

tables = {}
table_ids = count(1)


def error(name: str, status: int, **more: list[str]) -> JsonResponse:
    return JsonResponse({"error": name, **more}, status=status)


def is_cell(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def is_table(given: object) -> bool:
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


def csv_field(cell: object) -> object:
    """Write a cell so that no spreadsheet takes a text for a formula."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def quality(accept: str, kind: str) -> float:
    """Return the q of the most specific media range in `accept` that includes `kind`; 0 where there is none."""
    ranges = {}
    for item in accept.lower().split(","):
        media_range, *parameters = (part.strip() for part in item.split(";"))
        weights = [part[2:] for part in parameters if part.startswith("q=")]
        ranges[media_range] = float(weights[0]) if weights else 1.0
    wider = (kind, kind.partition("/")[0] + "/*", "*/*")
    return next((ranges[media_range] for media_range in wider if media_range in ranges), 0.0)


def negotiate(accept: str) -> str | None:
    """Return the format that Accept prefers, or None where it allows none."""
    if not accept:
        return "json"
    best = max(TYPES, key=lambda name: quality(accept, TYPES[name]))
    return best if quality(accept, TYPES[best]) > 0 else None


def answer(table: dict, form: str | None) -> HttpResponse:
    if form is None:
        return error("not acceptable", 406, available=list(TYPES.values()))
    if form == "json":
        return JsonResponse(table)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    name = re.sub(r"[\x00-\x1f\x7f/\\]", "_", table["name"])
    response["Content-Disposition"] = content_disposition_header(True, f"{name}.csv")
    writer = csv.writer(response)
    for row in (table["columns"], *table["rows"]):
        writer.writerow(map(csv_field, row))
    return response


@require_POST
def add_table(request: HttpRequest) -> HttpResponse:
    try:
        given = json.loads(request.body)
    except ValueError:
        given = None
    if not is_table(given):
        return error("invalid", 400)
    number = next(table_ids)
    tables[number] = {key: given[key] for key in ("name", "columns", "rows")}
    return JsonResponse({"id": number}, status=201)


@require_GET
def show_table(request: HttpRequest, number: int) -> HttpResponse:
    if number not in tables:
        return error("not found", 404)
    if "format" in request.GET:
        if request.GET["format"] not in TYPES:
            return error("invalid", 400)
        return answer(tables[number], request.GET["format"])
    response = answer(tables[number], negotiate(request.headers.get("Accept", "")))
    if response.status_code == 200:
        patch_vary_headers(response, ["Accept"])
    return response


urlpatterns = [path("tables", add_table), path("tables/<int:number>", show_table)]
