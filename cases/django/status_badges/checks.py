"""What badges tell about checks, in which form, and to whom."""

import re
from xml.etree import ElementTree

KEY = {"Authorization": "Bearer key-mon-17"}
FORMS = ("txt", "json", "svg")


def expect(response, status, what, body=None):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    if body is not None:
        assert response.json() == body, f"{what}: body {response.text[:200]}, expected {body}"
    return response


def put(client, name, state, *tags):
    fields = {"tags": list(tags), "state": state}
    response = client.put(f"/checks/{name}/", json=fields, headers=KEY)
    return expect(response, 200, f"check {name}", {"name": name} | fields)


def new_badge(client, tag="db", status=201):
    response = expect(client.post("/badges/", json={"tag": tag}, headers=KEY), status, f"badge for {tag!r}")
    found = response.json()
    assert found == {"tag": tag, "badge": found.get("badge")}, f"unexpected badge {found}"
    return found["badge"]


def tells(client, badge, status, total, late=0, down=0, tag="db"):
    """Compare the JSON form and the text of a badge with what is expected."""
    expected = {"tag": tag, "status": status, "total": total, "late": late, "down": down}
    expect(client.get(f"/status/{badge}.json"), 200, "JSON badge", expected)
    text = expect(client.get(f"/status/{badge}.txt"), 200, "text badge").text
    assert text == status.upper(), f"the text badge is {text!r}, expected {status.upper()!r}"


def texts(response):
    """All pieces of text in an SVG picture."""
    try:
        root = ElementTree.fromstring(response.content)
    except ElementTree.ParseError as error:
        raise AssertionError(f"the picture is not XML: {error} in {response.text[:200]!r}") from None
    assert root.tag == "{http://www.w3.org/2000/svg}svg", f"the root element is {root.tag}, expected svg"
    return [text.strip() for text in root.itertext() if text.strip()]


def check_new_badges(client):
    """A tag has one badge, with an id of letters and digits that is never the same."""
    made = [new_badge(client, f"tag {number}") for number in range(8)]
    for badge in made:
        assert re.fullmatch(r"[A-Za-z0-9]{20,64}", badge), f"the id {badge!r} has another form"
    assert len(set(made)) == 8, f"ids repeat: {made}"
    assert new_badge(client, "tag 3", status=200) == made[3], "a second badge for the same tag has another id"
    assert new_badge(client, "TAG 3") != made[3], "another tag has the same badge"


def check_invalid_tags(client):
    """Only text of 1 to 50 printable characters can be a tag."""
    for body in (
        {},
        {"tag": ""},
        {"tag": "x" * 51},
        {"tag": "a\nb"},
        {"tag": "a\x00"},
        {"tag": "\u200b"},
        {"tag": "\t"},
    ):
        expect(client.post("/badges/", json=body, headers=KEY), 400, f"badge with {body}", {"error": "invalid"})
    for body in ({"tag": None}, {"tag": 7}, {"tag": ["db"]}, {"tag": {}}, [], ["tag"], "tag", None):
        expect(client.post("/badges/", json=body, headers=KEY), 400, f"badge with {body}", {"error": "invalid"})
    for content in (b"", b"{", b"\xff"):
        headers = KEY | {"Content-Type": "application/json"}
        response = client.post("/badges/", content=content, headers=headers)
        expect(response, 400, f"badge with {content!r}", {"error": "invalid"})
    for tag in ("x", "x" * 50, "Größe 1/2", "🐘" * 50):
        new_badge(client, tag)


def check_states(client):
    """One check that is down is enough; late counts as up."""
    badge = new_badge(client)
    tells(client, badge, "up", 0)
    put(client, "a", "up", "db")
    tells(client, badge, "up", 1)
    put(client, "b", "late", "db")
    tells(client, badge, "up", 2, late=1)
    put(client, "c", "down", "db", "web")
    tells(client, badge, "down", 3, late=1, down=1)
    put(client, "a", "down", "web", "db")
    tells(client, badge, "down", 3, late=1, down=2)
    put(client, "a", "late", "db")
    put(client, "c", "up", "db")
    tells(client, badge, "up", 3, late=2)


def check_three_states(client):
    """With -3 after the id, late is a state of its own, between up and down."""
    badge = new_badge(client)
    three = f"{badge}-3"
    tells(client, three, "up", 0)
    put(client, "a", "up", "db")
    tells(client, three, "up", 1)
    put(client, "b", "late", "db")
    tells(client, three, "late", 2, late=1)
    tells(client, badge, "up", 2, late=1)
    put(client, "c", "down", "db")
    tells(client, three, "down", 3, late=1, down=1)
    put(client, "b", "up", "db")
    tells(client, three, "down", 3, down=1)


def check_tags_are_compared_whole(client):
    """Only checks with exactly this tag count."""
    badge = new_badge(client)
    put(client, "a", "down", "db2", "d", "DB", "web", 'x"db"', "db ")
    put(client, "b", "late")
    put(client, "db", "down", "web")
    tells(client, badge, "up", 0)
    put(client, "c", "up", "web", "db", "eu")
    tells(client, badge, "up", 1)


def check_removed_checks(client):
    """A check that was removed or has lost the tag counts no longer; the badge stays."""
    badge = new_badge(client)
    put(client, "a", "down", "db")
    put(client, "b", "down", "db")
    tells(client, badge, "down", 2, down=2)
    put(client, "a", "down", "web")
    tells(client, badge, "down", 1, down=1)
    expect(client.delete("/checks/b/", headers=KEY), 204, "removal")
    tells(client, badge, "up", 0)
    expect(client.delete("/checks/b/", headers=KEY), 404, "second removal")
    assert new_badge(client, status=200) == badge, "the badge has another id after all checks are gone"
    put(client, "b", "up", "db")
    tells(client, badge, "up", 1)


def check_picture(client):
    """The picture is an SVG whose text names tag and state, also where the tag has characters of XML."""
    for tag, state in (("db", "up"), ("R&D <eu> \"1\" 'x'", "down"), ("Größe ]]> &amp; 🐘", "late")):
        badge = new_badge(client, tag)
        put(client, f"check-{state}", state, tag)
        response = expect(client.get(f"/status/{badge}-3.svg"), 200, "picture")
        found = texts(response)
        assert found == [tag, state], f"the texts of the picture are {found}, expected {[tag, state]}"
    found = texts(client.get(f"/status/{badge}.svg"))
    assert found == [tag, "up"], f"the texts of the picture are {found}, expected {[tag, 'up']}"


def check_headers(client):
    """Each form has its type and must not be reused without asking; JSON can be read from any site."""
    badge = new_badge(client)
    types = {"txt": "text/plain", "json": "application/json", "svg": "image/svg+xml"}
    for state in ("up", "down"):
        put(client, "a", state, "db")
        for form, kind in types.items():
            headers = expect(client.get(f"/status/{badge}.{form}"), 200, f"{form} badge").headers
            found = headers.get("Content-Type", "").split(";")[0].strip().lower()
            assert found == kind, f"the {form} badge has the type {found!r}, expected {kind!r}"
            cache = headers.get("Cache-Control", "").lower().split(",")
            assert "no-cache" in map(str.strip, cache), f"the {form} badge has Cache-Control {cache}"
        allowed = client.get(f"/status/{badge}.json").headers.get("Access-Control-Allow-Origin")
        assert allowed == "*", f"the JSON badge has Access-Control-Allow-Origin {allowed!r}, expected '*'"


def check_head(client):
    """HEAD is answered as GET, without a body."""
    badge = new_badge(client)
    put(client, "a", "down", "db")
    for form in FORMS:
        response = expect(client.head(f"/status/{badge}.{form}"), 200, f"HEAD of the {form} badge")
        assert response.content == b"", f"HEAD of the {form} badge has the body {response.content!r}"
        assert "no-cache" in response.headers.get("Cache-Control", ""), f"HEAD of the {form} badge lacks no-cache"


def check_unknown_addresses(client):
    """Unknown ids, forms and suffixes are 404."""
    badge = new_badge(client)
    for name in ("0" * len(badge), badge[:-1], f"{badge}0", "db", "1", ""):
        for form in FORMS:
            expect(client.get(f"/status/{name}.{form}"), 404, f"/status/{name}.{form}")
    for rest in (".png", ".html", ".", "", ".txt.svg", "-2.txt", "-33.txt", "-3-3.txt", "-.json", ".jsonx", "-3"):
        expect(client.get(f"/status/{badge}{rest}"), 404, f"badge with {rest!r}")


def check_key_is_needed(client):
    """Checks and badges are changed with the key only, badges are read without."""
    badge = new_badge(client)
    put(client, "a", "down", "db")
    for value in (None, "Bearer key-mon-18", "key-mon-17", "Bearer"):
        headers = {"Authorization": value} if value else {}
        for method, path, body in (
            ("POST", "/badges/", {"tag": "web"}),
            ("POST", "/badges/", {"tag": "db"}),
            ("PUT", "/checks/a/", {"tags": ["db"], "state": "up"}),
            ("DELETE", "/checks/a/", None),
        ):
            response = client.request(method, path, json=body, headers=headers)
            expect(response, 401, f"{method} {path} with key {value!r}", {"error": "unauthorized"})
    tells(client, badge, "down", 1, down=1)
    new_badge(client, "web")


def check_other_methods(client):
    """Methods that a route does not name are 405."""
    badge = new_badge(client)
    put(client, "a", "up", "db")
    paths = [("GET", "/badges/"), ("GET", "/checks/a/"), ("POST", "/checks/a/")]
    for method, path in [*paths, *(("POST", f"/status/{badge}.{form}") for form in FORMS)]:
        expect(client.request(method, path, headers=KEY), 405, f"{method} {path}")


def check_data_survives_a_restart(client, restart):
    """Badges and checks are still there after a restart."""
    badge = new_badge(client)
    put(client, "a", "down", "db")
    restart()
    tells(client, badge, "down", 1, down=1)
    assert new_badge(client, status=200) == badge, "the badge has another id after a restart"
