"""Wrong: a range fits whatever begins with it, so that en fits but en-GB and eng do not."""

import re

from flask import Flask, make_response, request

GREETINGS = {"en-US": "Hello", "de": "Hallo", "pt-BR": "Oi", "pt-PT": "Olá", "fr": "Bonjour"}
DEFAULT = "de"
TAGS = {language.lower(): language for language in GREETINGS}
RANGE = re.compile(
    r"(\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?",
    re.ASCII | re.IGNORECASE,
)

app = Flask(__name__)


def parse(header):
    """The well-formed ranges of a header, in lower case, with their weights."""
    found = (RANGE.fullmatch(item.strip(" \t")) for item in header.split(","))
    return [(match[1].lower(), float(match[2] or 1)) for match in found if match]


def primary(tag):
    return tag.partition("-")[0]


def rank(tag, ranges):
    """Quality of an available language, then what counts among equals; the greatest is the best."""
    kinds = (
        (lambda wanted: wanted == tag),
        (lambda wanted: tag.startswith(wanted)),
        (lambda wanted: wanted == "*"),
    )
    for matches in kinds:
        found = [(weight, -place, wanted == tag) for place, (wanted, weight) in enumerate(ranges) if matches(wanted)]
        if found:
            return max(found)
    return (0,)


def negotiate(header):
    ranges = parse(header)
    best = max(TAGS, key=lambda tag: rank(tag, ranges))
    return TAGS[best] if rank(best, ranges)[0] > 0 else DEFAULT


def available(tag):
    return TAGS.get(tag.lower()) if isinstance(tag, str) else None


@app.get("/greet")
def greet():
    if "lang" in request.args:
        language = available(request.args["lang"])
    else:
        language = available(request.cookies.get("lang")) or negotiate(request.headers.get("Accept-Language", ""))
    if language:
        response = make_response({"language": language, "greeting": GREETINGS[language]})
        response.content_language.add(language)
    else:
        response = make_response({"error": "unsupported"}, 400)
    response.vary.update(["Accept-Language", "Cookie"])
    return response


@app.put("/preference")
def set_preference():
    given = request.get_json(silent=True)
    language = available(given.get("language")) if isinstance(given, dict) else None
    if not language:
        return {"error": "unsupported"}, 400
    response = make_response({"language": language})
    response.set_cookie("lang", language)
    return response


@app.delete("/preference")
def forget_preference():
    response = make_response("", 204)
    response.delete_cookie("lang")
    return response
