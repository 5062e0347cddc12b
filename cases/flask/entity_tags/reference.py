"""Pages whose readers ask again only for what has changed."""

from flask import Flask, jsonify, request

app = Flask(__name__)
pages = {}


def tagged(content, tag, status=200):
    """The content with its entity tag, or 304 if the client has it already."""
    response = jsonify(content)
    response.status_code = status
    response.set_etag(tag)
    response.cache_control.no_cache = True
    return response.make_conditional(request)


def represent(page, status=200):
    return tagged(page, f"{page['id']}-{page['version']}", status)


@app.put("/pages/<name>")
def put(name):
    body = request.get_json(silent=True)
    text = body.get("text") if isinstance(body, dict) else None
    if not isinstance(text, str):
        return {"error": "invalid"}, 400
    old = pages.get(name)
    if old is None:
        pages[name] = {"id": name, "text": text, "version": 1}
        return represent(pages[name], 201)
    if old["text"] != text:
        pages[name] = {"id": name, "text": text, "version": old["version"] + 1}
    return represent(pages[name])


@app.get("/pages/<name>")
def read(name):
    if name not in pages:
        return {"error": "not found"}, 404
    return represent(pages[name])


@app.get("/pages")
def listing():
    found = [{"id": name, "version": pages[name]["version"]} for name in sorted(pages)]
    changes = sum(entry["version"] for entry in found)
    return tagged({"pages": found}, f"list/{changes}")
