"""Hidden checks: what blank and missing fields mean, and what the page shows again."""

from html.parser import HTMLParser

TOPICS = ["art", "food", "music", "sport"]
DEFAULTS = {"guests": 10, "date": None, "newsletter": False, "topics": [], "banner": None}
FULL = {"title": "Picnic", "guests": "25", "date": "2027-05-31", "newsletter": "on", "topics": ["food", "music"]}
FULL_EVENT = {"title": "Picnic", "guests": 25, "date": "2027-05-31", "newsletter": True, "topics": ["food", "music"]}
FULL_EVENT |= {"banner": None}


class Page(HTMLParser):
    """The fields of the form in a page, and the messages beside them."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.inputs, self.options, self.errors = [], {}, {}, {}
        self.select, self.error = None, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag == "form":
            self.forms.append(found)
        elif tag == "input" and "name" in found:
            assert found["name"] not in self.inputs, f"the page has two inputs {found['name']}"
            self.inputs[found["name"]] = found
        elif tag == "select":
            self.select = found
        elif tag == "option":
            self.options[found.get("value")] = "selected" in found
        if "data-error" in found:
            self.error = found["data-error"]
            assert self.error not in self.errors, f"the page has two messages for {self.error}"
            self.errors[self.error] = ""

    def handle_endtag(self, tag):
        self.error = None

    def handle_data(self, data):
        if self.error:
            self.errors[self.error] += data.strip()


def status_is(response, status, what):
    assert response.status_code == status, f"{what} answered {response.status_code}, expected {status}"


def multipart(fields, filename=None, content=b""):
    """What a browser sends for a form with a file field, as body and headers."""
    parts = []
    for name, value in fields.items():
        for each in value if isinstance(value, list) else [value]:
            parts.append(f'Content-Disposition: form-data; name="{name}"\r\n\r\n{each}'.encode())
    if filename is not None:
        head = f'Content-Disposition: form-data; name="banner"; filename="{filename}"\r\n'
        parts.append(head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + content)
    body = b"".join(b"--limit\r\n" + part + b"\r\n" for part in parts) + b"--limit--\r\n"
    return {"content": body, "headers": {"Content-Type": "multipart/form-data; boundary=limit"}}


def stored_is(client, number, expected):
    response = client.get(f"/events/{number}")
    status_is(response, 200, f"GET /events/{number}")
    expected = {"id": number} | expected
    assert response.json() == expected, f"GET /events/{number} answered {response.json()}, expected {expected}"


def saved(response, number, what):
    status_is(response, 303, what)
    location = response.headers.get("location")
    assert location == f"/events/{number}", f"{what} leads to {location}, expected /events/{number}"


def create(client, fields, expected, number=1):
    """Store an event, sent urlencoded; it must be the expected one."""
    saved(client.post("/events", data=fields), number, f"POST /events with {fields}")
    stored_is(client, number, expected)


def page_of(response, status, what):
    status_is(response, status, what)
    kind = response.headers.get("content-type", "")
    assert kind.startswith("text/html"), f"{what} answered the content type {kind!r}, expected text/html"
    return Page(response.text)


def refused(client, fields, names, path="/events"):
    """The form must come back with messages for exactly these fields."""
    what = f"POST {path} with {fields}"
    page = page_of(client.post(path, data=fields), 422, what)
    assert set(page.errors) == set(names), f"{what} has messages for {sorted(page.errors)}, expected {sorted(names)}"
    assert all(page.errors.values()), f"{what} has empty messages: {page.errors}"
    return page


def form_shows(page, what, title="", guests="", date="", newsletter=False, topics=()):
    """The form must have these values."""
    assert len(page.forms) == 1, f"{what} has {len(page.forms)} forms, expected one"
    names = {"title", "guests", "date", "newsletter", "banner"}
    assert names <= set(page.inputs), f"{what} lacks the inputs {sorted(names - set(page.inputs))}"
    for name, value in (("title", title), ("guests", guests), ("date", date)):
        found = page.inputs[name].get("value") or ""
        assert found == value, f"{what} shows {name} {found!r}, expected {value!r}"
    assert page.inputs["newsletter"].get("type") == "checkbox", f"{what} has no checkbox newsletter"
    found = "checked" in page.inputs["newsletter"]
    assert found == newsletter, f"{what} shows the newsletter {'checked' if found else 'unchecked'}"
    assert page.inputs["banner"].get("type") == "file", f"{what} has no file input banner"
    select = page.select or {}
    assert select.get("name") == "topics" and "multiple" in select, f"{what} has no multiple select topics"
    chosen = [topic for topic, selected in page.options.items() if selected]
    assert sorted(page.options) == TOPICS, f"{what} offers the topics {sorted(page.options)}"
    assert sorted(chosen) == sorted(topics), f"{what} has chosen the topics {chosen}, expected {list(topics)}"


def check_all_fields(client):
    """A complete form is stored, urlencoded or as multipart."""
    create(client, FULL, FULL_EVENT)
    saved(client.post("/events", **multipart(FULL)), 2, "POST /events as multipart")
    stored_is(client, 2, FULL_EVENT)


def check_title_only(client):
    """Missing and blank fields have their defaults."""
    create(client, {"title": "Picnic"}, {"title": "Picnic"} | DEFAULTS)
    blank = {"title": "Picnic", "guests": "", "date": "", "topics": ""}
    create(client, blank, {"title": "Picnic"} | DEFAULTS, 2)
    create(client, {"title": "Picnic", "guests": "  ", "date": " \t"}, {"title": "Picnic"} | DEFAULTS, 3)
    saved(client.post("/events", **multipart(blank, "")), 4, "POST /events as multipart with blank fields")
    stored_is(client, 4, {"title": "Picnic"} | DEFAULTS)


def check_blanks_around_values(client):
    """Blanks around title, guests and date do not count."""
    fields = {"title": "  A picnic ", "guests": " 0 ", "date": " 2028-02-29 "}
    create(client, fields, DEFAULTS | {"title": "A picnic", "guests": 0, "date": "2028-02-29"})


def check_titles(client):
    """A title is required and has at most 60 characters."""
    for title in ("", "   ", "t" * 61):
        refused(client, {"title": title}, ["title"])
    refused(client, {"guests": "5"}, ["title"])
    for number, title in enumerate(("t", "t" * 60), 1):
        create(client, {"title": f" {title} "}, DEFAULTS | {"title": title}, number)


def check_guests(client):
    """Guests are a whole number from 0 to 500."""
    for guests in ("x", "-1", "501", "1.5", "5 5", "1e2", "0x10", "99999999999999999999"):
        refused(client, {"title": "Picnic", "guests": guests}, ["guests"])
    for number, guests in enumerate(("0", "1", "500"), 1):
        fields = {"title": "Picnic", "guests": guests}
        create(client, fields, {"title": "Picnic"} | DEFAULTS | {"guests": int(guests)}, number)


def check_dates(client):
    """A date is a day of the calendar in the form YYYY-MM-DD."""
    no_days = ("tomorrow", "2027-02-29", "2027-13-01")
    for day in (*no_days, "20270531", "2027-5-31", "31.05.2027", "2027-W01-1", "2027-05-31T10:00"):
        refused(client, {"title": "Picnic", "date": day}, ["date"])


def check_newsletter(client):
    """on, true and 1 are true, a missing field is false, everything else an error."""
    for number, value in enumerate(("on", "true", "1"), 1):
        fields = {"title": "Picnic", "newsletter": value}
        create(client, fields, {"title": "Picnic"} | DEFAULTS | {"newsletter": True}, number)
    for value in ("", "off", "false", "0", "yes", "On"):
        page = refused(client, {"title": "Picnic", "newsletter": value}, ["newsletter"])
        form_shows(page, f"the page after newsletter={value!r}", title="Picnic")


def check_topics(client):
    """Topics are sorted, each once; one topic is a list too."""
    sent = ("food", ["sport", "art"], ["art", "art", ""], TOPICS[::-1])
    for number, (given, expected) in enumerate(zip(sent, (["food"], ["art", "sport"], ["art"], TOPICS)), 1):
        fields = {"title": "Picnic", "topics": given}
        create(client, fields, {"title": "Picnic"} | DEFAULTS | {"topics": expected}, number)
    for given in ("war", ["art", "war"], "art,food", "Art"):
        refused(client, {"title": "Picnic", "topics": given}, ["topics"])


def check_banner(client):
    """A file is stored with name and size; a part without a file name is none, one without content is."""
    for number, (filename, content, expected) in enumerate(
        (
            ("hat.png", b"12345", {"filename": "hat.png", "size": 5}),
            ("", b"", None),
            ("empty.png", b"", {"filename": "empty.png", "size": 0}),
        ),
        1,
    ):
        saved(client.post("/events", **multipart({"title": "Picnic"}, filename, content)), number, "POST /events")
        stored_is(client, number, {"title": "Picnic"} | DEFAULTS | {"banner": expected})


def check_edit(client):
    """An edit replaces all fields; what is unchecked or blank does not stay."""
    create(client, FULL, FULL_EVENT)
    create(client, FULL, FULL_EVENT, 2)
    saved(client.post("/events/1", data={"title": "Ball"}), 1, "POST /events/1")
    stored_is(client, 1, {"title": "Ball"} | DEFAULTS)
    saved(client.post("/events/1", **multipart(FULL | {"guests": "3"}, "")), 1, "POST /events/1 as multipart")
    stored_is(client, 1, FULL_EVENT | {"guests": 3})
    stored_is(client, 2, FULL_EVENT)


def check_banner_stays_without_a_new_one(client):
    """An edit without a file keeps the banner, one with a file replaces it."""
    client.post("/events", **multipart({"title": "Picnic"}, "hat.png", b"12345"))
    hat = {"title": "Ball"} | DEFAULTS | {"banner": {"filename": "hat.png", "size": 5}}
    for request in (multipart({"title": "Ball"}, ""), multipart({"title": "Ball"}), {"data": {"title": "Ball"}}):
        saved(client.post("/events/1", **request), 1, "POST /events/1 without a file")
        stored_is(client, 1, hat)
    saved(client.post("/events/1", **multipart({"title": "Ball"}, "cap.png", b"1")), 1, "POST /events/1 with a file")
    stored_is(client, 1, hat | {"banner": {"filename": "cap.png", "size": 1}})


def check_all_errors_at_once(client):
    """Every wrong field has a message, and what was typed and chosen is shown again."""
    wrong = {"title": " ", "guests": " many", "date": "soon ", "newsletter": "on", "topics": ["art", "war", "sport"]}
    page = refused(client, wrong, ["title", "guests", "date", "topics"])
    form_shows(page, "the refused form", " ", " many", "soon ", True, ["art", "sport"])
    page = refused(client, FULL | {"date": "soon", "newsletter": "1"}, ["date"])
    form_shows(page, "the refused form", "Picnic", "25", "soon", True, ["food", "music"])
    page = refused(client, {"title": ""}, ["title"])
    form_shows(page, "the refused form without values")


def check_refused_forms_change_nothing(client):
    """After an error nothing is stored, and no id is used up."""
    refused(client, FULL | {"guests": "x"}, ["guests"])
    status_is(client.get("/events/1"), 404, "GET /events/1 after a refused form")
    create(client, FULL, FULL_EVENT)
    page = refused(client, {"title": "Ball", "date": "x"}, ["date"], "/events/1")
    form_shows(page, "the refused form", "Ball", date="x")
    action = page.forms[0].get("action")
    assert action == "/events/1", f"the refused form of event 1 has the action {action!r}"
    stored_is(client, 1, FULL_EVENT)


def check_empty_form(client):
    """GET /events/new has the empty form, without messages."""
    page = page_of(client.get("/events/new"), 200, "GET /events/new")
    form_shows(page, "GET /events/new")
    assert page.errors == {}, f"GET /events/new has the messages {page.errors}"
    form = page.forms[0]
    found = (form.get("action"), form.get("method", "").lower(), form.get("enctype"))
    expected = ("/events", "post", "multipart/form-data")
    assert found == expected, f"the form has action, method and enctype {found}, expected {expected}"


def check_form_of_an_event(client):
    """GET /events/{id}/edit has the stored values in the form."""
    create(client, FULL, FULL_EVENT)
    create(client, {"title": "Ball"}, {"title": "Ball"} | DEFAULTS, 2)
    page = page_of(client.get("/events/1/edit"), 200, "GET /events/1/edit")
    form_shows(page, "GET /events/1/edit", "Picnic", "25", "2027-05-31", True, ["food", "music"])
    assert page.forms[0].get("action") == "/events/1", f"the form of event 1 is {page.forms[0]}"
    assert page.errors == {}, f"GET /events/1/edit has the messages {page.errors}"
    form_shows(page_of(client.get("/events/2/edit"), 200, "GET /events/2/edit"), "GET /events/2/edit", "Ball", "10")


def check_unknown_events(client):
    """An event that does not exist is 404, however the form looks."""
    create(client, FULL, FULL_EVENT)
    for path in ("/events/2", "/events/2/edit"):
        status_is(client.get(path), 404, f"GET {path}")
    for fields in (FULL, {"title": ""}):
        status_is(client.post("/events/2", data=fields), 404, f"POST /events/2 with {fields}")
