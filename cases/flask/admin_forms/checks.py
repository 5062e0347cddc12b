"""Hidden checks of flask/admin_forms: a form that shows some fields of a user."""

from html.parser import HTMLParser
from urllib.parse import urlsplit

ADA = {"username": "ada", "password": "rabbit-hole-7"}
BO = {"username": "bo", "password": "red-brick-88"}
CY = {"username": "cy", "password": "blue-door-99"}
USERS = {
    1: {"id": 1, "username": "ada", "role": "staff", "created_at": "2024-01-15"}
    | {"email": "ada@site.test", "display_name": "Ada", "newsletter": False},
    2: {"id": 2, "username": "bo", "role": "member", "created_at": "2024-02-20"}
    | {"email": "bo@site.test", "display_name": 'Bo "B" & <Sons>', "newsletter": True},
    3: {"id": 3, "username": "cy", "role": "member", "created_at": "2024-03-25"}
    | {"email": "Cy@Site.test", "display_name": "Cy", "newsletter": False},
}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
PAGES = (
    ("GET", "/admin/users"),
    ("GET", "/admin/users/2"),
    ("GET", "/admin/users/2/edit"),
    ("POST", "/admin/users/2/edit"),
)


class Page(HTMLParser):
    """The elements of a page: tag, attributes and text."""

    def __init__(self, response):
        super().__init__()
        self.name = f"the page that answers {response.request.method} {response.request.url.path}"
        kind = response.headers.get("content-type", "")
        assert kind.startswith("text/html"), f"{self.name} is of the type {kind!r}, expected text/html"
        self.elements, self.within = [], []
        self.feed(response.text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append({"tag": tag, "text": "", **{name: value or "" for name, value in attrs}})
        if tag not in VOID:
            self.within.append(self.elements[-1])

    def handle_endtag(self, tag):
        if tag in [element["tag"] for element in self.within]:
            while self.within.pop()["tag"] != tag:
                pass

    def handle_data(self, data):
        for element in self.within:
            element["text"] += data

    def flashes(self):
        return [element["text"].strip() for element in self.elements if "flash" in element.get("class", "").split()]

    def errors(self):
        """Return the messages, by field."""
        found = [element for element in self.elements if "error" in element.get("class", "").split()]
        return {element.get("data-field"): element["text"].strip() for element in found}

    def fields(self):
        """Return what the form shows, by field."""
        found = [element for element in self.elements if element["tag"] in ("input", "textarea", "select")]
        named = {element["name"]: element for element in found if "name" in element and element.get("type") != "submit"}
        assert set(named) == {"email", "display_name", "newsletter"}, f"{self.name} has the fields {sorted(named)}"
        kind = named["newsletter"].get("type", "").lower()
        assert kind == "checkbox", f"newsletter is of the type {kind!r}, expected a checkbox"
        texts = {name: named[name].get("value") for name in ("email", "display_name")}
        return texts | {"newsletter": "checked" in named["newsletter"]}


def status_is(response, status):
    request = response.request
    asked = f"{request.method} {request.url.path} with {request.content.decode()!r}"
    assert response.status_code == status, f"{asked} answered {response.status_code}, expected {status}"


def leads_to(response, status, path):
    status_is(response, status)
    found = urlsplit(response.headers.get("location", "")).path
    assert found == path, f"{response.request.url.path} leads to {found!r}, expected {path}"


def login(client, who=ADA):
    leads_to(client.post("/login", data=who), 303, "/admin/users")


def stored(client, pk):
    response = client.get(f"/admin/users/{pk}")
    status_is(response, 200)
    return response.json()


def unchanged(client, *but):
    for pk, user in USERS.items():
        if pk not in but:
            found = stored(client, pk)
            assert found == user, f"user {pk} is {found}, expected {user} as in the beginning"


def save(client, pk, **fields):
    leads_to(client.post(f"/admin/users/{pk}/edit", data=fields), 303, "/admin/users")


def is_saved(client, pk, **fields):
    found, expected = stored(client, pk), USERS[pk] | fields
    assert found == expected, f"after saving, user {pk} is {found}, expected {expected}"


def refused(client, pk, *wrong, **typed):
    """Post what cannot be saved, and return the page that says so."""
    response = client.post(f"/admin/users/{pk}/edit", data=typed)
    status_is(response, 400)
    page = Page(response)
    errors = page.errors()
    assert set(errors) == set(wrong), (
        f"{page.name} with {typed} has messages for {sorted(map(str, errors))}, not {wrong}"
    )
    assert all(errors.values()), f"{page.name} has an empty message: {errors}"
    return page


def check_visitors_are_sent_to_the_login(client):
    """Nobody sees or changes anything without a login."""
    status_is(client.get("/login"), 200)
    for method, path in (*PAGES, ("GET", "/admin/users/99/edit"), ("POST", "/admin/users/99/edit")):
        leads_to(client.request(method, path), 302, "/login")
    client.post("/admin/users/2/edit", data={"email": "new@site.test", "display_name": "New"})
    login(client)
    unchanged(client)


def check_members_are_forbidden(client, new_client):
    """Users who are not staff see and change nothing."""
    login(client, BO)
    for method, path in (*PAGES, ("GET", "/admin/users/99/edit"), ("POST", "/admin/users/99/edit")):
        status_is(client.request(method, path), 403)
    status_is(client.post("/admin/users/2/edit", data={"email": "new@site.test", "display_name": "New"}), 403)
    staff = new_client()
    login(staff)
    unchanged(staff)


def check_logins(client):
    """Wrong logins are 401 and log nobody in."""
    for given in (
        ADA | {"password": "guess"},
        {"username": "ada"},
        {"username": "eve", "password": "rabbit-hole-7"},
        {"username": "ada", "password": "red-brick-88"},
        {},
    ):
        status_is(client.post("/login", data=given), 401)
    leads_to(client.get("/admin/users"), 302, "/login")
    response = client.post("/login", data=ADA)
    cookies = response.headers.get_list("set-cookie")
    assert cookies, "a login sets no cookie"
    for cookie in map(str.lower, cookies):
        assert "httponly" in cookie and "samesite=lax" in cookie, f"expected HttpOnly and SameSite=Lax: {cookie}"
    status_is(client.get("/admin/users"), 200)


def check_list(client):
    """The list shows all users by id, each with name, address and a link."""
    login(client)
    save(client, 3, email="cy@other.test", display_name="Cy & Co <x>")
    response = client.get("/admin/users")
    status_is(response, 200)
    page = Page(response)
    items = [element for element in page.elements if element["tag"] == "li" and "data-user" in element]
    found = [item["data-user"] for item in items]
    assert found == ["1", "2", "3"], f"the list shows the users {found}, expected 1, 2, 3"
    for item, texts in zip(
        items, (("Ada", "ada@site.test"), ('Bo "B" & <Sons>',), ("Cy & Co <x>", "cy@other.test")), strict=True
    ):
        for text in texts:
            assert text in item["text"], f"user {item['data-user']} is listed as {item['text']!r}, without {text!r}"
    links = {urlsplit(element.get("href", "")).path for element in page.elements if element["tag"] == "a"}
    missing = {f"/admin/users/{pk}/edit" for pk in USERS} - links
    assert not missing, f"the list has no links to {sorted(missing)}"


def check_form_shows_what_is_stored(client):
    """The form has three fields, with the user's values."""
    login(client)
    for pk, user in USERS.items():
        response = client.get(f"/admin/users/{pk}/edit")
        status_is(response, 200)
        page = Page(response)
        forms = [form for form in page.elements if form["tag"] == "form"]
        assert len(forms) == 1, f"{page.name} has {len(forms)} forms, expected one"
        assert forms[0].get("method", "").lower() == "post", f"the form has the method {forms[0].get('method')!r}"
        action = urlsplit(forms[0].get("action", "")).path
        assert action in ("", f"/admin/users/{pk}/edit", "edit"), f"{page.name} has a form that is sent to {action!r}"
        expected = {name: user[name] for name in ("email", "display_name", "newsletter")}
        assert page.fields() == expected, f"{page.name} shows {page.fields()}, expected {expected}"
        assert not page.errors(), f"{page.name} has messages before anything is posted: {page.errors()}"


def check_saving(client, new_client):
    """Saving changes the three fields of this user and nothing else."""
    login(client)
    save(client, 2, email="bob@other.test", display_name="Bob", newsletter="on")
    is_saved(client, 2, email="bob@other.test", display_name="Bob")
    fields = {"email": "bob@other.test", "display_name": "Bob", "newsletter": True}
    shown = Page(client.get("/admin/users/2/edit")).fields()
    assert shown == fields, f"after saving, the form shows {shown}, expected {fields}"
    unchanged(client, 2)
    login(new_client(), BO)
    save(client, 1, email="ada@other.test", display_name="Ada L.")
    is_saved(client, 1, email="ada@other.test", display_name="Ada L.")
    login(new_client())


def check_other_fields_are_ignored(client, new_client):
    """What the form does not show cannot be set by it."""
    login(client)
    more = {
        "id": "9",
        "username": "eve",
        "password": "x",
        "role": "staff",
        "created_at": "",
        "is_admin": "1",
        "color": "red",
    }
    save(client, 2, email="bob@other.test", display_name="Bob", **more)
    is_saved(client, 2, email="bob@other.test", display_name="Bob", newsletter=False)
    unchanged(client, 2)
    login(new_client(), BO)
    status_is(client.get("/admin/users/9"), 404)


def check_checkbox(client):
    """The checkbox is on if it is sent, and off if not."""
    login(client)
    fields = {"email": "bo@site.test", "display_name": "Bo"}
    for sent, expected in (({}, False), ({"newsletter": "on"}, True), ({"newsletter": "1"}, True), ({}, False)):
        save(client, 2, **fields, **sent)
        is_saved(client, 2, **fields, newsletter=expected)
    save(client, 2, **fields, newsletter="")
    is_saved(client, 2, **fields, newsletter=True)


def check_white_space_and_limits(client):
    """White space at the ends is not stored; the longest values are."""
    login(client)
    save(client, 3, email="  cy@other.test\t", display_name=" Cy  Young\n")
    is_saved(client, 3, email="cy@other.test", display_name="Cy  Young")
    longest = {"email": "c" * 90 + "@site.test", "display_name": "ö" * 50}
    save(client, 3, **longest)
    is_saved(client, 3, **longest)
    refused(client, 3, "email", "display_name", email="c" * 91 + "@site.test", display_name="ö" * 51)
    is_saved(client, 3, **longest)
    save(client, 3, email="c@d", display_name="x")
    is_saved(client, 3, email="c@d", display_name="x")


def check_refused_values(client):
    """Values that break a rule are refused, with a message for just these fields, and nothing is saved."""
    login(client)
    for email in ("", "cy", "@site.test", "cy@", "cy@site@test", "c y@site.test", "cy@si te.test", "@", "   "):
        refused(client, 3, "email", email=email, display_name="New", newsletter="on")
    for name in ("", "   ", "n" * 51):
        refused(client, 3, "display_name", email="new@site.test", display_name=name, newsletter="on")
    refused(client, 3, "email", display_name="New")
    refused(client, 3, "display_name", email="new@site.test")
    refused(client, 3, "email", "display_name", newsletter="on")
    refused(client, 3, "email", "display_name")
    unchanged(client)


def check_addresses_of_others(client):
    """No two users have the same address, however it is written; one's own is no obstacle."""
    login(client)
    for email in ("ada@site.test", "ADA@site.TEST", "cy@site.test", " cy@SITE.test "):
        refused(client, 2, "email", email=email, display_name="Bo")
    unchanged(client)
    save(client, 3, email="CY@site.test", display_name="Cy")
    is_saved(client, 3, email="CY@site.test")
    save(client, 3, email="cy@other.test", display_name="Cy")
    save(client, 2, email="cy@site.test", display_name="Bo", newsletter="on")
    is_saved(client, 2, email="cy@site.test", display_name="Bo")


def check_refused_forms_show_what_was_typed(client):
    """The form comes again with all that was typed, right or wrong; afterwards it shows what is stored."""
    login(client)
    for typed in (
        {"email": 'no "address" & <so>', "display_name": 'Bob "B" & <Sons>'},
        {"email": "nowhere", "display_name": "&amp; &lt;b&gt;", "newsletter": "on"},
        {"email": "bob@other.test", "display_name": "<" * 51, "newsletter": "on"},
    ):
        wrong = "display_name" if len(typed["display_name"]) > 50 else "email"
        for pk in (2, 3):
            found = refused(client, pk, wrong, **typed).fields()
            expected = typed | {"newsletter": "newsletter" in typed}
            assert found == expected, f"after {typed} was refused, the form shows {found}"
    found = refused(client, 2, "email", display_name="Bob").fields()
    assert (found["email"] or "") == "", f"without an address typed the form shows {found['email']!r}"
    page = Page(client.get("/admin/users/2/edit"))
    assert page.fields()["email"] == "bo@site.test" and not page.errors(), "a refused form is still shown to a GET"


def check_flash_messages(client, new_client):
    """After saving, the list says so, once, and only in this browser."""
    login(client)
    other = new_client()
    login(other)
    assert not Page(client.get("/admin/users")).flashes(), "the list has a message before anything is saved"
    refused(client, 2, "email", email="", display_name="Bob")
    assert not Page(client.get("/admin/users")).flashes(), "the list has a message though nothing was saved"
    save(client, 2, email="bob@other.test", display_name="Bob")
    assert not Page(other.get("/admin/users")).flashes(), "the message is shown in another browser"
    found = Page(client.get("/admin/users")).flashes()
    assert len(found) == 1 and found[0], f"after saving, the list has the messages {found}, expected one"
    assert not Page(client.get("/admin/users")).flashes(), "the message is shown a second time"


def check_unknown_users(client):
    """Users that do not exist are 404."""
    login(client)
    for path in ("/admin/users/4", "/admin/users/4/edit", "/admin/users/0/edit"):
        status_is(client.get(path), 404)
    status_is(client.post("/admin/users/4/edit", data={"email": "d@site.test", "display_name": "D"}), 404)
    status_is(client.post("/admin/users/4/edit", data={}), 404)
    status_is(client.get("/admin/users/4"), 404)
    unchanged(client)
