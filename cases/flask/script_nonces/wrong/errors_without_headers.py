"""Wrong: only successful answers get the headers."""

import secrets
from functools import wraps

from flask import Flask, g, jsonify, render_template_string, request

POLICY = {
    "default-src": "'self'",
    "script-src": "'self'",
    "style-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "frame-ancestors": "'self'",
}
API_POLICY = {"default-src": "'none'", "frame-ancestors": "'none'"}
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{{ title }}</title></head>
<body>
<h1>{{ title }}</h1>
<form action="/search"><input name="q" value="{{ shown }}"></form>
<p id="shown">{{ shown }}</p>
{% if nonce %}<script nonce="{{ nonce }}">const shown = {{ shown | tojson }};</script>{% endif %}
</body>
</html>
"""

app = Flask(__name__)


def policy(*, nonce=True, x_frame_options="SAMEORIGIN", directives):
    """Override parts of the policy for the answers of one view."""

    def decorate(view):
        @wraps(view)
        def wrapped(**values):
            g.policy, g.x_frame_options = POLICY | directives, x_frame_options
            if not nonce:
                g.nonce = None
            return view(**values)

        return wrapped

    return decorate


@app.before_request
def begin():
    g.nonce, g.policy, g.x_frame_options = secrets.token_urlsafe(), POLICY, "SAMEORIGIN"


@app.after_request
def add_headers(response):
    if response.status_code >= 400:
        return response
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    directives = dict(g.policy)
    if g.nonce:
        directives["script-src"] += f" 'nonce-{g.nonce}'"
        response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Security-Policy"] = "; ".join(f"{name} {value}" for name, value in directives.items())
    if g.x_frame_options:
        response.headers["X-Frame-Options"] = g.x_frame_options
    return response


def page(title, shown):
    return render_template_string(PAGE, title=title, shown=shown, nonce=g.nonce)


@app.get("/")
def home():
    return page("Home", "")


@app.get("/search")
def search():
    return page("Search", request.args.get("q", ""))


@app.get("/legacy")
@policy(nonce=False, directives={"style-src": "'self' 'unsafe-inline'"})
def legacy():
    return page("Legacy", request.args.get("q", ""))


@app.get("/embed")
@policy(x_frame_options=None, directives={"frame-ancestors": "'self' https://partner.test"})
def embed():
    return page("Embed", request.args.get("q", ""))


@app.get("/api/search")
def api_search():
    g.policy, g.nonce, g.x_frame_options = API_POLICY, None, "DENY"
    return jsonify(query=request.args.get("q", ""))


@app.get("/fail")
def fail():
    return str(1 / 0)


@app.errorhandler(404)
def not_found(_):
    return page("Not found", request.path), 404
