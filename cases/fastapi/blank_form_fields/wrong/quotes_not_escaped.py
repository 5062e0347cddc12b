"""Wrong: only angle brackets and ampersands are escaped, which is not enough within an attribute."""

import re
from datetime import date
from html import escape
from itertools import count
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import FormData, UploadFile

TOPICS = ("art", "food", "music", "sport")

app = FastAPI()
events: dict[int, dict[str, Any]] = {}
numbers = count(1)


def parse_title(form: FormData) -> str:
    title = str(form.get("title", "")).strip()
    if not 1 <= len(title) <= 60:
        raise ValueError("Please give a title of at most 60 characters.")
    return title


def parse_guests(form: FormData) -> int:
    guests = str(form.get("guests", "")).strip()
    if not guests:
        return 10
    if not re.fullmatch("[0-9]{1,9}", guests) or int(guests) > 500:
        raise ValueError("Please give a number from 0 to 500.")
    return int(guests)


def parse_date(form: FormData) -> str | None:
    day = str(form.get("date", "")).strip()
    if not day:
        return None
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", day):
        raise ValueError("Please give a date like 2027-05-31.")
    return date.fromisoformat(day).isoformat()


def parse_newsletter(form: FormData) -> bool:
    if form.get("newsletter", "on") not in ("on", "true", "1"):
        raise ValueError("Please check the box or leave it.")
    return "newsletter" in form


def parse_topics(form: FormData) -> list[str]:
    chosen = set(form.getlist("topics")) - {""}
    if not chosen <= set(TOPICS):
        raise ValueError("Please choose from the list.")
    return sorted(chosen)


def parse_banner(form: FormData) -> dict[str, Any] | None:
    banner = form.get("banner")
    if not isinstance(banner, UploadFile) or not banner.filename:
        return None
    return {"filename": banner.filename, "size": banner.size}


TEXTS = {"title": parse_title, "guests": parse_guests, "date": parse_date}
PARSERS = TEXTS | {"newsletter": parse_newsletter, "topics": parse_topics, "banner": parse_banner}


def parse(form: FormData) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of the form's fields, and the messages for those that are wrong."""
    values, errors = {}, {}
    for name, parser in PARSERS.items():
        try:
            values[name] = parser(form)
        except ValueError as error:
            errors[name] = str(error)
    return values, errors


def page(action: str, shown: dict[str, Any], errors: dict[str, str]) -> str:
    def message(name: str) -> str:
        return f'<p data-error="{name}">{escape(errors[name])}</p>' if name in errors else ""

    def text(name: str) -> str:
        return f'<p>{name} <input name="{name}" value="{escape(str(shown[name]), quote=False)}"></p>{message(name)}'

    options = "".join(
        f'<option value="{topic}"{" selected" if topic in shown["topics"] else ""}>{topic}</option>' for topic in TOPICS
    )
    checked = " checked" if shown["newsletter"] else ""
    return f"""<!doctype html><title>Event</title>
<form method="post" action="{action}" enctype="multipart/form-data">
{text("title")}{text("guests")}{text("date")}
<p>newsletter <input type="checkbox" name="newsletter" value="on"{checked}></p>{message("newsletter")}
<p>topics <select name="topics" multiple>{options}</select></p>{message("topics")}
<p>banner <input type="file" name="banner"></p>{message("banner")}
<button>Save</button></form>"""


def refused(action: str, form: FormData, errors: dict[str, str]) -> HTMLResponse:
    shown = {name: form.get(name, "") for name in TEXTS}
    shown["newsletter"] = form.get("newsletter") in ("on", "true", "1")
    shown["topics"] = form.getlist("topics")
    return HTMLResponse(page(action, shown, errors), 422)


def existing(number: int) -> dict[str, Any]:
    if number not in events:
        raise HTTPException(404)
    return events[number]


@app.get("/events/new")
async def show_empty_form() -> HTMLResponse:
    return HTMLResponse(page("/events", dict.fromkeys(PARSERS, ""), {}))


@app.post("/events")
async def create(request: Request) -> Response:
    form = await request.form()
    values, errors = parse(form)
    if errors:
        return refused("/events", form, errors)
    number = next(numbers)
    events[number] = {"id": number, **values}
    return RedirectResponse(f"/events/{number}", 303)


@app.get("/events/{number}")
async def read(number: int) -> dict[str, Any]:
    return existing(number)


@app.get("/events/{number}/edit")
async def show_form(number: int) -> HTMLResponse:
    event = existing(number)
    return HTMLResponse(page(f"/events/{number}", {**event, "date": event["date"] or ""}, {}))


@app.post("/events/{number}")
async def change(number: int, request: Request) -> Response:
    old = existing(number)
    form = await request.form()
    values, errors = parse(form)
    if errors:
        return refused(f"/events/{number}", form, errors)
    events[number] = {"id": number, **values, "banner": values["banner"] or old["banner"]}
    return RedirectResponse(f"/events/{number}", 303)
