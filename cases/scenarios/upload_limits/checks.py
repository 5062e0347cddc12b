"""Hidden checks of the scenario upload_limits: every route has limits of its own."""

import hashlib
import json

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
GIF = b"GIF89a" + bytes(range(256))
PHOTO_LIMIT, DOCUMENT_LIMIT = 16_384, 131_072
ROOM = 8_192
NOTHING = {"photos": 0, "documents": 0, "notes": 0, "bytes": 0}
FIELDS = {"/photos": "photo", "/documents": "document"}
BOUNDARY = "----WebKitFormBoundary7Qe1"


def is_answer(response, status, expected, what):
    assert response.status_code == status, f"{what}: answered {response.status_code}, expected {status}"
    kind = response.headers.get("content-type", "")
    assert kind.startswith("application/json"), f"{what}: answered {kind!r} instead of JSON"
    assert response.json() == expected, f"{what}: answered {response.json()}, expected {expected}"


def usage_is(client, what, **counts):
    is_answer(client.get("/usage"), 200, NOTHING | counts, f"usage after {what}")


def upload(client, path, name, content, *more, kind="application/octet-stream"):
    """Send a form with this file and `more` text fields."""
    fields = [(field, (None, text)) for field, text in more]
    return client.post(path, files=[*fields, (FIELDS[path], (name, content, kind))])


def stored(client, path, name, content, *more, **options):
    expected = {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    is_answer(upload(client, path, name, content, *more, **options), 201, expected, f"{len(content)} bytes to {path}")


def form(*parts):
    """Write a multipart body by hand: `parts` are (what stands after form-data;, content)."""
    lines = [
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + content + b"\r\n"
        for head, content in parts
    ]
    return b"".join(lines) + f"--{BOUNDARY}--\r\n".encode()


def send(client, path, body, kind=f"multipart/form-data; boundary={BOUNDARY}"):
    return client.post(path, content=body, headers={"Content-Type": kind})


def read(client, path, content, kind):
    response = client.get(path)
    assert response.status_code == 200, f"GET {path} answered {response.status_code}, expected 200"
    assert response.content == content, f"GET {path} did not answer the bytes that were uploaded"
    found = response.headers.get("content-type", "").split(";")[0].strip()
    assert found == kind, f"GET {path} has the Content-Type {found!r}, expected {kind!r}"
    guard = response.headers.get("x-content-type-options")
    assert guard == "nosniff", f"GET {path} has X-Content-Type-Options {guard!r}, expected 'nosniff'"
    return response


def check_photos(client):
    """PNG and GIF pictures are stored and shown as what they are, whatever the client calls them."""
    usage_is(client, "no upload")
    for name, content, kind in (
        ("a.png", PNG, "image/png"),
        ("b.gif", GIF, "image/gif"),
        ("c.png", b"GIF87a", "image/gif"),
        ("d.txt", PNG[:8], "image/png"),
        ("E_-9", GIF, "image/gif"),
    ):
        stored(client, "/photos", name, content, kind="text/plain")
        read(client, f"/photos/{name}", content, kind)
    usage_is(client, "five photos", photos=5, bytes=264 + 262 + 6 + 8 + 262)


def check_documents(client):
    """Documents may be anything, and are downloads."""
    for name, content in (("a.bin", bytes(range(256)) * 4), ("page.html", b"<b>hi</b>\r\n"), ("picture.png", PNG)):
        stored(client, "/documents", name, content, ("title", "Plan"), ("title", "B"), kind="text/html")
        response = read(client, f"/documents/{name}", content, "application/octet-stream")
        shown = response.headers.get("content-disposition", "")
        assert shown.split(";")[0].strip().lower() == "attachment", f"{name} has the Content-Disposition {shown!r}"
    usage_is(client, "three documents", documents=3, bytes=1024 + 11 + 264)


def check_file_limits(client):
    """16,384 bytes of photo and 131,072 bytes of document are accepted, one byte more is not."""
    for path, limit, start in (("/photos", PHOTO_LIMIT, PNG), ("/documents", DOCUMENT_LIMIT, b"")):
        for size in (limit + 1, limit + 4_000):
            response = upload(client, path, "big.png", start.ljust(size, b"x"))
            is_answer(response, 413, {"error": "too large"}, f"{size} bytes to {path}")
        stored(client, path, "big.png", start.ljust(limit, b"x"))
    usage_is(client, "two uploads", photos=1, documents=1, bytes=PHOTO_LIMIT + DOCUMENT_LIMIT)


def check_form_limits(client):
    """The whole body of a form may be longer than the file by 8,192 bytes, and not by one more."""
    total = 0
    for number, (path, limit) in enumerate((("/photos", PHOTO_LIMIT), ("/documents", DOCUMENT_LIMIT)), 1):
        file = (f'name="{FIELDS[path]}"; filename="a.gif"', GIF)
        missing = limit + ROOM - len(form(('name="more"', b""), file))
        for extra in (1, 3_000):
            body = form(('name="more"', b"m" * (missing + extra)), file)
            is_answer(send(client, path, body), 413, {"error": "too large"}, f"{len(body)} bytes of form to {path}")
        usage_is(client, "refused forms", photos=number - 1, bytes=total)
        body = form(('name="more"', b"m" * missing), file)
        response = send(client, path, body)
        assert response.status_code == 201, f"{len(body)} bytes of form to {path} answered {response.status_code}"
        total += len(GIF)


def check_number_of_parts(client):
    """Eight parts are accepted, the file among them; nine or more are too large."""
    for path in FIELDS:
        for count in (8, 30, 150):
            response = upload(client, path, "a.gif", GIF, *(("tag", "x") for _ in range(count)))
            is_answer(response, 413, {"error": "too large"}, f"{count + 1} parts to {path}")
        files = [(f"other{n}", (f"{n}.gif", GIF)) for n in range(8)] + [(FIELDS[path], ("a.gif", GIF))]
        is_answer(client.post(path, files=files), 413, {"error": "too large"}, f"nine files to {path}")
    usage_is(client, "refused forms")
    stored(client, "/photos", "a.gif", GIF, *((f"tag{n}", "x") for n in range(7)))
    stored(client, "/documents", "a.gif", GIF, *(("tag", "x") for n in range(7)))
    response = upload(client, "/documents", "b.gif", GIF, *(("tag", "x") for _ in range(1_200)))
    is_answer(response, 413, {"error": "too large"}, "1,201 parts to /documents")


def check_notes(client):
    """Notes are numbered; a body of 1,024 bytes is accepted, one byte more is not."""
    for number, text in enumerate(("Buy tea", "", "x" * 1_012, "é" * 506), 1):
        body = json.dumps({"text": text}, ensure_ascii=False).encode()
        assert len(body) <= 1_024
        response = send(client, "/notes", body, "application/json")
        is_answer(response, 201, {"id": number, "text": text}, f"a note of {len(body)} bytes")
    for body in (
        json.dumps({"text": "x" * 1_013}).encode(),
        json.dumps({"text": "é" * 507}, ensure_ascii=False).encode(),
        json.dumps({"text": "short"}).encode().ljust(1_025),
        json.dumps({"text": "x" * 9_000}).encode(),
    ):
        response = send(client, "/notes", body, "application/json")
        is_answer(response, 413, {"error": "too large"}, f"a note of {len(body)} bytes")
    usage_is(client, "four notes", notes=4)
    response = send(client, "/notes", b'{"text": "short"}'.ljust(1_024), "application/json")
    is_answer(response, 201, {"id": 5, "text": "short"}, "a note of 1,024 bytes with blanks")


def check_invalid_notes(client):
    """Bodies that are no JSON object with a text are invalid."""
    for body in (b"", b"{", b"[]", b"null", b'"text"', b"{}", b'{"text": 7}', b'{"text": null}', b'{"text": "a"'):
        is_answer(send(client, "/notes", body, "application/json"), 400, {"error": "invalid"}, f"the note {body!r}")
    usage_is(client, "invalid notes")


def check_only_pictures_are_photos(client):
    """What does not start like a PNG or GIF is unsupported, whatever it is called."""
    for content in (b"<html>", b"x", PNG[:7], PNG[1:], b"GIF88a;", b"GIF89", b" GIF89a", b"gif89a", b"x" * PHOTO_LIMIT):
        response = upload(client, "/photos", "a.png", content, kind="image/png")
        is_answer(response, 415, {"error": "unsupported"}, f"the photo {content[:20]!r}")
    usage_is(client, "unsupported photos")


def check_the_file_is_missing(client):
    """Exactly one file part with the right field name, a file name and content is wanted."""
    for path, field in FIELDS.items():
        file = (f'name="{field}"; filename="a.gif"', GIF)
        for what, response in (
            ("no file", client.post(path, files=[("title", (None, "Plan"))])),
            ("another field name", client.post(path, files={"file": ("a.gif", GIF)})),
            ("a text field", client.post(path, files=[(field, (None, GIF))])),
            ("no file name", send(client, path, form((f'name="{field}"; filename=""', GIF)))),
            ("no content", upload(client, path, "a.gif", b"")),
            ("two files", send(client, path, form(file, (f'name="{field}"; filename="b.gif"', GIF)))),
            ("no form", client.post(path, json={field: "a.gif"})),
            ("no body", client.post(path)),
            ("a form of another type", client.post(path, data={field: "a.gif"})),
            ("no boundary", send(client, path, form(file), "multipart/form-data")),
        ):
            is_answer(response, 400, {"error": "invalid"}, f"{what} to {path}")
    usage_is(client, "invalid forms")


def check_file_names(client):
    """Of a path the last component is the name; other characters, a dot in front and long names are invalid."""
    for number, (sent, name) in enumerate(
        (
            ("docs/2024/plan.txt", "plan.txt"),
            ("/etc/passwd", "passwd"),
            ("../../up.txt", "up.txt"),
            ("C:\\docs\\win.txt", "win.txt"),
            ("mixed/docs\\last..txt", "last..txt"),
            ("-" * 50, "-" * 50),
        ),
        1,
    ):
        response = upload(client, "/documents", sent, b"hello")
        assert response.status_code == 201, f"a file called {sent!r} answered {response.status_code}, expected 201"
        assert response.json()["name"] == name, f"{sent!r} was stored as {response.json()['name']!r}, not {name!r}"
        read(client, f"/documents/{name}", b"hello", "application/octet-stream")
        usage_is(client, f"uploading {sent!r}", documents=number, bytes=5 * number)
    for sent in (".hidden", "..", ".", "docs/", "docs/..", "two words.txt", "café.txt", "a+b.txt", "x" * 51, "a/.b"):
        is_answer(upload(client, "/documents", sent, b"hello"), 400, {"error": "invalid"}, f"a file called {sent!r}")
        is_answer(upload(client, "/photos", sent, GIF), 400, {"error": "invalid"}, f"a photo called {sent!r}")
    usage_is(client, "invalid names", documents=6, bytes=30)


def check_names_are_taken(client):
    """A second file of the same name is refused and the first one stays; photos and documents do not clash."""
    for path, kind in (("/photos", "image/gif"), ("/documents", "application/octet-stream")):
        stored(client, path, "a.gif", GIF)
        is_answer(upload(client, path, "a.gif", PNG), 409, {"error": "exists"}, f"the same name again to {path}")
        is_answer(upload(client, path, "x/a.gif", GIF), 409, {"error": "exists"}, f"the same name again to {path}")
        read(client, f"{path}/a.gif", GIF, kind)
    usage_is(client, "two uploads", photos=1, documents=1, bytes=2 * len(GIF))
    stored(client, "/photos", "A.gif", GIF)


def check_order_of_errors(client):
    """Limits count first, then what is invalid, then the type, then the name that exists."""
    stored(client, "/photos", "a.gif", GIF)
    big = b"x" * (PHOTO_LIMIT + 1)
    tags = [("tag", "x")] * 9
    for what, response in (
        ("a large file that is no picture", upload(client, "/photos", "b.gif", big)),
        ("a large file with an invalid name", upload(client, "/photos", "b c.gif", big)),
        ("a large file with a name that exists", upload(client, "/photos", "a.gif", GIF.ljust(len(big)))),
        ("a large form without file", client.post("/photos", files=[("tag", (None, "x" * 25_000))])),
        ("many parts without file", client.post("/photos", files=[(name, (None, text)) for name, text in tags])),
        ("a large note that is no JSON", send(client, "/notes", b"{" * 1_025, "application/json")),
    ):
        is_answer(response, 413, {"error": "too large"}, what)
    response = upload(client, "/photos", "b c.gif", b"<html>")
    is_answer(response, 400, {"error": "invalid"}, "an invalid name of a file that is no picture")
    response = upload(client, "/photos", "a.gif", b"<html>")
    is_answer(response, 415, {"error": "unsupported"}, "a file that is no picture with a name that exists")
    usage_is(client, "refused uploads", photos=1, bytes=len(GIF))


def check_files_survive_a_restart(client, restart):
    """Files are still there after a restart, and their names are still taken."""
    stored(client, "/photos", "a.gif", GIF)
    stored(client, "/documents", "b.txt", b"hello")
    restart()
    read(client, "/photos/a.gif", GIF, "image/gif")
    read(client, "/documents/b.txt", b"hello", "application/octet-stream")
    is_answer(upload(client, "/documents", "b.txt", b"x"), 409, {"error": "exists"}, "a name that existed before")
    usage_is(client, "a restart", photos=1, documents=1, bytes=len(GIF) + 5)


def check_unknown_names(client):
    """Names that were never uploaded are not found."""
    stored(client, "/documents", "a.gif", GIF)
    for path in ("/photos/a.gif", "/documents/b.gif", "/documents/A.gif", "/documents/a.gif.", "/photos/.."):
        response = client.get(path.replace("..", "%2e%2e"))
        assert response.status_code == 404, f"GET {path} answered {response.status_code}, expected 404"
    is_answer(client.get("/photos/a.gif"), 404, {"error": "not found"}, "a photo that does not exist")
    is_answer(client.get("/documents/none"), 404, {"error": "not found"}, "a document that does not exist")
