"""Wrong: the first known type in Accept is taken, whatever its q."""

import csv
import io
import re
from itertools import count
from typing import Annotated, Self
from urllib.parse import quote

from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt, StrictStr, model_validator

app = FastAPI()
TYPES = {"json": "application/json", "csv": "text/csv"}
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
FORMULA_STARTS = tuple("=+-@\t\r\n")

Cell = StrictBool | StrictInt | StrictFloat | StrictStr | None


class Table(BaseModel):
    name: Annotated[StrictStr, Field(min_length=1, max_length=100)]
    columns: Annotated[list[StrictStr], Field(min_length=1)]
    rows: list[list[Cell]]

    @model_validator(mode="after")
    def check_width(self) -> Self:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("every row needs one cell for each column")
        return self


tables: dict[int, Table] = {}
table_ids = count(1)


@app.exception_handler(HTTPException)
async def answer_error(request: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code)


@app.exception_handler(RequestValidationError)
async def answer_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    return JSONResponse({"error": "invalid"}, 400)


def csv_field(cell: Cell) -> Cell:
    """Write a cell so that no spreadsheet takes a text for a formula."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def write_csv(table: Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    for row in (table.columns, *table.rows):
        writer.writerow(map(csv_field, row))
    return text.getvalue()


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
    for item in accept.lower().split(","):
        media_range = item.partition(";")[0].strip()
        for name, kind in TYPES.items():
            if media_range in (kind, kind.partition("/")[0] + "/*", "*/*"):
                return name
    return None


@app.post("/tables", status_code=201)
async def add_table(table: Table) -> dict:
    number = next(table_ids)
    tables[number] = table
    return {"id": number}


@app.get("/tables/{number}")
async def show_table(number: int, request: Request, accept: Annotated[str, Header()] = "") -> Response:
    if number not in tables:
        raise HTTPException(404, "not found")
    table = tables[number]
    if "format" in request.query_params:
        form, headers = request.query_params["format"], {}
        if form not in TYPES:
            raise HTTPException(400, "invalid")
    else:
        form, headers = negotiate(accept), {"Vary": "Accept"}
    if form is None:
        return JSONResponse({"error": "not acceptable", "available": list(TYPES.values())}, 406, headers)
    if form == "json":
        return JSONResponse(table.model_dump(), 200, headers)
    name = re.sub(r"[\x00-\x1f\x7f/\\]", "_", table.name)
    headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name)}.csv"
    return Response(write_csv(table), 200, headers, "text/csv; charset=utf-8")
