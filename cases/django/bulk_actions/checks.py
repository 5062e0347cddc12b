"""What the page offers, what it does, and what it refuses."""

import csv
from html.parser import HTMLParser
from urllib.parse import urlencode

ROOT, EDITOR, VIEWER = ({"Authorization": f"Bearer {key}"} for key in ("key-root-11", "key-ed-22", "key-view-33"))
EVERYBODY = {"root": ROOT, "the editor": EDITOR, "the viewer": VIEWER}


class Page(HTMLParser):
    """The form fields, options and text of a page."""

    def __init__(self, response):
        super().__init__()
        self.fields, self.boxes, self.options, self.text, self.selects = [], [], [], "", []
        kind = response.headers.get("Content-Type", "")
        assert kind.startswith("text/html"), f"Content-Type is {kind!r}, expected an HTML page"
        self.feed(response.text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "input" and given.get("type") == "checkbox" and given.get("name") == "ids":
            self.boxes.append(given.get("value"))
        elif tag == "input" and given.get("type") == "hidden":
            self.fields.append((given.get("name"), given.get("value")))
        elif tag == "option":
            self.options.append(given.get("value"))
        elif tag == "select":
            self.selects.append(given.get("name"))

    def handle_data(self, data):
        self.text += data


def expect(response, status, what, body=None):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    if body is not None:
        assert response.json() == body, f"{what}: body {response.text[:200]}, expected {body}"
    return response


def add(client, *titles, protected=False):
    made = [client.post("/questions/", json={"title": title, "protected": protected}, headers=ROOT) for title in titles]
    return [expect(response, 201, "new question").json()["id"] for response in made]


def act(client, who, action, ids, **more):
    """Send the form as a browser does."""
    fields = [("action", action)] * (action is not None) + [("ids", text) for text in ids] + list(more.items())
    headers = who | {"Content-Type": "application/x-www-form-urlencoded"}
    return client.post("/manage/", content=urlencode(fields).encode(), headers=headers)


def questions(client):
    return expect(client.get("/questions/", headers=VIEWER), 200, "list of questions").json()["questions"]


def titles(client):
    return [question["title"] for question in questions(client)]


def published(client):
    return [question["title"] for question in questions(client) if question["published"]]


def leads_back(response, what):
    expect(response, 303, what)
    location = response.headers.get("Location")
    assert location == "/manage/", f"{what} leads to {location!r}, expected '/manage/'"


def check_questions(client):
    """Questions are stored as they come and listed in the order of their ids."""
    response = client.post("/questions/", json={"title": "Why?", "protected": True}, headers=VIEWER)
    made = expect(response, 201, "new question").json()
    assert type(made.get("id")) is int, f"the question has no whole number as id: {response.text[:200]}"
    add(client, "How?")
    expected = [{"title": "Why?", "protected": True}, {"title": "How?", "protected": False}]
    found = questions(client)
    assert found[0] == made, f"the list begins with {found[0]}, the answer of the creation was {made}"
    assert [{k: v for k, v in question.items() if k != "id"} for question in found] == [
        fields | {"published": False} for fields in expected
    ], f"unexpected questions {found}"
    assert found[0]["id"] < found[1]["id"], f"ids do not rise: {found}"


def check_page_lists_questions(client):
    """The page has a checkbox and the title for each question, in the order of their ids."""
    names = ["Why?", "Größe & <b>mass</b>", 'the "best"', "How?"]
    ids = add(client, *names)
    page = Page(expect(client.get("/manage/", headers=ROOT), 200, "page"))
    assert page.boxes == [str(pk) for pk in ids], f"the checkboxes are {page.boxes}, the ids {ids}"
    places = [page.text.find(name) for name in names]
    assert -1 not in places, f"titles are missing: the text of the page is {page.text!r}"
    assert places == sorted(places), f"titles are in another order: {page.text!r}"


def check_page_offers_allowed_actions(client):
    """Everybody is offered just the actions they may take."""
    for who, expected in (
        (ROOT, ["delete", "publish", "export"]),
        (EDITOR, ["publish", "export"]),
        (VIEWER, ["export"]),
    ):
        page = Page(expect(client.get("/manage/", headers=who), 200, "page"))
        assert page.selects == ["action"], f"the page has the selects {page.selects}, expected one called action"
        assert page.options == expected, f"{who} is offered {page.options}, expected {expected}"


def check_key_is_needed(client):
    """Without a valid key every route is 401."""
    ids = add(client, "Why?")
    for value in (None, "Bearer key-eve-44", "Basic key-root-11", "key-root-11", "Bearer"):
        who = {"Authorization": value} if value else {}
        for method, path in (("GET", "/manage/"), ("GET", "/questions/"), ("POST", "/questions/")):
            response = client.request(method, path, headers=who, json={"title": "x", "protected": False})
            expect(response, 401, f"{method} {path} with key {value!r}", {"error": "unauthorized"})
        response = act(client, who, "delete", ids, confirm="yes")
        expect(response, 401, f"deletion with key {value!r}", {"error": "unauthorized"})
    assert titles(client) == ["Why?"], "the questions have changed"


def check_publish(client):
    """The chosen questions are published, the others are not."""
    ids = add(client, "a", "b", "c", "d")
    leads_back(act(client, EDITOR, "publish", [ids[2], ids[0]]), "publication")
    assert published(client) == ["a", "c"], f"published are {published(client)}, expected a and c"
    leads_back(act(client, ROOT, "publish", [ids[0], ids[3], ids[3]]), "publication with repeated ids")
    assert published(client) == ["a", "c", "d"], f"published are {published(client)}, expected a, c and d"


def check_export(client):
    """The export has the chosen questions only, in the order of their ids, as CSV that can be read."""
    names = ["Why?", 'say "a, b"\nor; not', "Größe", "How?"]
    ids = add(client, *names)
    act(client, ROOT, "publish", [ids[2]])
    response = expect(act(client, VIEWER, "export", [ids[2], ids[1], ids[0], ids[2]]), 200, "export")
    kind = response.headers.get("Content-Type", "").lower().replace(" ", "")
    assert kind.startswith("text/csv"), f"Content-Type is {kind!r}, expected text/csv"
    rows = list(csv.reader(response.content.decode().splitlines(keepends=True)))
    expected = [["id", "title", "protected", "published"]]
    expected += [[str(ids[i]), names[i], "False", str(i == 2)] for i in range(3)]
    assert rows == expected, f"the CSV has the rows {rows}, expected {expected}"


def check_deletion_asks_first(client):
    """Without confirmation nothing is deleted and a page asks, naming just the chosen questions."""
    ids = add(client, "first <one> & co", "second", "third")
    for more in ({}, {"confirm": "no"}, {"confirm": ""}):
        response = expect(act(client, ROOT, "delete", [ids[1], ids[0], ids[1]], **more), 200, f"deletion with {more}")
        page = Page(response)
        assert "first <one> & co" in page.text and "second" in page.text, f"titles are missing in {page.text!r}"
        assert "third" not in page.text, "the page names a question that is not chosen"
        expected = {("action", "delete"), ("confirm", "yes"), *(("ids", str(pk)) for pk in ids[:2])}
        assert set(page.fields) == expected, f"the hidden fields are {page.fields}, expected {expected}"
    assert len(titles(client)) == 3, "questions are deleted without confirmation"


def check_confirmed_deletion(client):
    """Sending the fields of the confirmation page deletes the chosen questions."""
    ids = add(client, "a", "b", "c")
    page = Page(act(client, ROOT, "delete", [ids[0], ids[2]]))
    response = client.post(
        "/manage/",
        content=urlencode(page.fields).encode(),
        headers=ROOT | {"Content-Type": "application/x-www-form-urlencoded"},
    )
    leads_back(response, "confirmed deletion")
    assert titles(client) == ["b"], f"left are {titles(client)}, expected b"
    leads_back(act(client, ROOT, "delete", [ids[1], ids[1]], confirm="yes"), "deletion with repeated ids")
    assert titles(client) == [], f"left are {titles(client)}, expected none"


def check_protected_questions(client):
    """If one of the chosen questions is protected, none is deleted, confirmed or not; they can be published."""
    ids = add(client, "a", "b") + add(client, "c", "d", protected=True) + add(client, "e")
    refusal = {"error": "protected questions", "ids": ids[2:4]}
    for more in ({}, {"confirm": "yes"}):
        expect(act(client, ROOT, "delete", [ids[3], *ids], **more), 409, f"deletion with {more}", refusal)
    expect(act(client, ROOT, "delete", [ids[3]], confirm="yes"), 409, "deletion", refusal | {"ids": [ids[3]]})
    assert titles(client) == ["a", "b", "c", "d", "e"], f"left are {titles(client)} after refused deletions"
    leads_back(act(client, ROOT, "publish", [ids[2]]), "publication of a protected question")
    assert published(client) == ["c"], f"published are {published(client)}, expected c"


def check_unknown_questions(client):
    """Unknown ids are named, and nothing is done for the others either."""
    ids = add(client, "a", "b")
    none = ids[-1] + 1
    for action in ("publish", "delete", "export"):
        response = act(client, ROOT, action, [none + 5, ids[0], none, none], confirm="yes")
        expect(response, 404, f"{action} of unknown ids", {"error": "unknown questions", "ids": [none, none + 5]})
    assert titles(client) == ["a", "b"] and not published(client), "a refused action changed the other questions"
    protected = add(client, "c", protected=True)
    response = act(client, ROOT, "delete", [*protected, none + 5])
    expect(
        response, 404, "deletion of a protected and an unknown one", {"error": "unknown questions", "ids": [none + 5]}
    )


def check_invalid_ids(client):
    """No ids, or what is no number, is 400 and nothing is done."""
    ids = add(client, "a", "b")
    for action in ("publish", "delete", "export"):
        for chosen in ([], [""], ["x"], [ids[0], "b"], [f"{ids[0]},{ids[1]}"], ["1.0"], ["-1"], ["all"], ["²"]):
            response = act(client, ROOT, action, chosen, confirm="yes")
            expect(response, 400, f"{action} of {chosen}", {"error": "invalid ids"})
    assert titles(client) == ["a", "b"] and not published(client), "a refused action changed questions"


def check_unknown_actions(client):
    """An action that there is not is 400, before anything else."""
    ids = add(client, "a")
    for who in EVERYBODY.values():
        for action in (None, "", "Delete", "archive", "get", "as_json"):
            for chosen in (ids, [], ["x"], [ids[0] + 9]):
                expect(act(client, who, action, chosen), 400, f"action {action!r}", {"error": "unknown action"})


def check_missing_rights(client):
    """An action that the caller may not take is 403, whatever the ids, and is not taken."""
    ids = add(client, "a") + add(client, "b", protected=True)
    for who, action in ((EDITOR, "delete"), (VIEWER, "delete"), (VIEWER, "publish")):
        for chosen in (ids[:1], ids, [], ["x"], [ids[1] + 9]):
            for more in ({}, {"confirm": "yes"}):
                expect(act(client, who, action, chosen, **more), 403, f"{action} of {chosen}", {"error": "forbidden"})
    assert titles(client) == ["a", "b"] and not published(client), "an action was taken without the right"
