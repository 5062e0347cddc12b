"""Documents, their share links, and how a link ends."""

import re
import time
from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import unquote

ALICE, BOB, CAROL = ({"Authorization": f"Bearer {key}"} for key in ("key-alice-51", "key-bob-62", "key-carol-73"))
NOT_FOUND = {"error": "not found"}


def expect(response, status, what, body=None):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    if body is not None:
        assert response.json() == body, f"{what}: body {response.text[:200]}, expected {body}"
    return response


def add_document(client, title="Plan", content="Dig here.", viewers=()):
    response = client.post("/documents/", json={"title": title, "content": content}, headers=ALICE)
    pk = expect(response, 201, f"alice creates {title!r}").json()["id"]
    if viewers:
        set_viewers(client, pk, list(viewers))
    return pk


def set_viewers(client, pk, names):
    return expect(
        client.put(f"/documents/{pk}/viewers/", json={"viewers": names}, headers=ALICE),
        200,
        f"viewers {names}",
    )


def add_link(client, pk, who=ALICE, **fields):
    return expect(
        client.post("/share_links/", json={"document": pk, **fields}, headers=who), 201, f"link to {pk}"
    ).json()


def slugs(client, who):
    return [
        link["slug"] for link in expect(client.get("/share_links/", headers=who), 200, "list of links").json()["links"]
    ]


def file_name(response):
    """The file name of a Content-Disposition header, read as RFC 6266 says."""
    header = response.headers.get("Content-Disposition", "")
    assert re.match(r"attachment\s*;", header, re.I), f"Content-Disposition is {header!r}, expected an attachment"
    if extended := re.search(r";\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)", header, re.I):
        return unquote(extended[1])
    plain = re.search(r';\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))\s*(?:;|$)', header, re.I)
    assert plain, f"no readable file name in {header!r}"
    return re.sub(r"\\(.)", r"\1", plain[1]) if plain[1] is not None else plain[2]


def check_create_document(client):
    """A new document is answered with 201, its fields and no viewers."""
    response = client.post("/documents/", json={"title": "Plan", "content": "Dig here."}, headers=BOB)
    made = expect(response, 201, "new document").json()
    assert type(made.pop("id", None)) is int, f"the document has no whole number as id: {response.text[:200]}"
    assert made == {"title": "Plan", "owner": "bob", "viewers": []}, f"unexpected document {response.text[:200]}"


def check_invalid_documents(client):
    """Missing or wrong fields are 400."""
    for body in (
        {},
        {"title": "x"},
        {"content": "x"},
        {"title": "", "content": "x"},
        {"title": "x" * 101, "content": "x"},
        {"title": 5, "content": "x"},
        {"title": "x", "content": None},
    ):
        expect(
            client.post("/documents/", json=body, headers=ALICE),
            400,
            f"document {body}",
            {"error": "invalid"},
        )
    for title in ("x", "x" * 100):
        response = client.post("/documents/", json={"title": title, "content": ""}, headers=ALICE)
        expect(response, 201, f"title of {len(title)} characters")


def check_bodies_that_are_no_objects(client):
    """Malformed JSON and JSON that is no object are 400."""
    pk = add_document(client)
    for method, path in (("POST", "/documents/"), ("PUT", f"/documents/{pk}/viewers/"), ("POST", "/share_links/")):
        for content in (b"{", b"", b"[]", b"null", b'"document"'):
            headers = ALICE | {"Content-Type": "application/json"}
            response = client.request(method, path, content=content, headers=headers)
            expect(response, 400, f"{method} {path} with body {content!r}", {"error": "invalid"})


def check_other_methods_are_refused(client):
    """Methods that a route does not name are 405."""
    pk = add_document(client)
    slug = add_link(client, pk)["slug"]
    for method, path in (
        ("GET", "/documents/"),
        ("PATCH", f"/documents/{pk}/"),
        ("POST", f"/documents/{pk}/viewers/"),
        ("PUT", "/share_links/"),
        ("PATCH", f"/share_links/{slug}/"),
        ("POST", f"/share/{slug}/"),
        ("DELETE", f"/share/{slug}/"),
    ):
        expect(client.request(method, path, json={}, headers=ALICE), 405, f"{method} {path}")
    expect(client.get(f"/share/{slug}/"), 200, "share link after refused methods")


def check_key_is_needed(client):
    """Without a valid key everything but `/share/` is 401."""
    pk = add_document(client)
    slug = add_link(client, pk)["slug"]
    for method, path in (
        ("POST", "/documents/"),
        ("PUT", f"/documents/{pk}/viewers/"),
        ("DELETE", f"/documents/{pk}/"),
        ("POST", "/share_links/"),
        ("GET", "/share_links/"),
        ("DELETE", f"/share_links/{slug}/"),
    ):
        for value in (None, "Bearer alice", "Basic key-alice-51", "key-alice-51"):
            headers = {"Authorization": value} if value else {}
            response = client.request(method, path, headers=headers)
            expect(response, 401, f"{method} {path} with Authorization {value!r}", {"error": "unauthorized"})
    expect(client.get(f"/share/{slug}/"), 200, "share link after refused calls")


def check_shared_document_is_delivered(client):
    """Anybody gets the content as plain text, as an attachment named after the title."""
    slug = add_link(client, add_document(client, content="Grüße <b>1</b>\n"))["slug"]
    response = expect(client.get(f"/share/{slug}/"), 200, "share link")
    kind = response.headers.get("Content-Type", "").lower().replace(" ", "").replace('"', "")
    assert kind == "text/plain;charset=utf-8", f"Content-Type is {kind!r}"
    assert response.content == "Grüße <b>1</b>\n".encode(), f"content is {response.content[:100]!r}"
    assert file_name(response) == "Plan.txt", f"file name is {file_name(response)!r}, expected 'Plan.txt'"
    head = expect(client.head(f"/share/{slug}/"), 200, "HEAD of the share link")
    assert head.content == b"" and file_name(head) == "Plan.txt", "HEAD has a body or another file name"


def check_unusual_titles_survive(client):
    """Quotes, separators, other scripts and control characters in a title give a correct header."""
    for title, name in (
        ('say "no"; then go', 'say "no"; then go'),
        ("Übersicht 東京", "Übersicht 東京"),
        ("100% a,b=c", "100% a,b=c"),
        ("one\r\ntwo\tthree\x7f", "onetwothree"),
    ):
        slug = add_link(client, add_document(client, title=title))["slug"]
        found = file_name(expect(client.get(f"/share/{slug}/"), 200, f"share of title {title!r}"))
        assert found == f"{name}.txt", f"title {title!r}: file name is {found!r}, expected {name + '.txt'!r}"


def check_new_link_is_described(client):
    """A new link names document, creator and expiry; its slug has the promised form and is never the same."""
    pk = add_document(client, viewers=["bob"])
    made = [add_link(client, pk, BOB) for _ in range(5)]
    for link in made:
        assert re.fullmatch(r"[A-Za-z0-9_-]{20,64}", link["slug"]), f"slug {link['slug']!r} has another form"
        rest = {key: value for key, value in link.items() if key != "slug"}
        assert rest == {"document": pk, "created_by": "bob", "expires_at": None}, f"unexpected link {link}"
    assert len({link["slug"] for link in made}) == 5, "slugs repeat"


def check_expiry_is_a_future_instant(client):
    """Future instants are accepted with any offset and given back; other values and past ones are not."""
    pk = add_document(client)
    for hours in (-11, 0, 11):
        zone = timezone(timedelta(hours=hours))
        soon = datetime.now(zone).replace(microsecond=0) + timedelta(hours=1)
        link = add_link(client, pk, expires_at=soon.isoformat())
        again = datetime.fromisoformat(link["expires_at"])
        assert again.tzinfo and again == soon, f"expires_at {soon.isoformat()} came back as {link['expires_at']}"
        expect(client.get(f"/share/{link['slug']}/"), 200, f"link that expires in an hour, offset {hours:+d} h")
        past = {"document": pk, "expires_at": (soon - timedelta(hours=2)).isoformat()}
        expect(
            client.post("/share_links/", json=past, headers=ALICE),
            400,
            f"expiry {past['expires_at']}",
            {"error": "invalid"},
        )
    for value in ("2099-01-01T00:00:00", "tomorrow", "", 4070908800, "2099-13-01T00:00:00+00:00"):
        response = client.post("/share_links/", json={"document": pk, "expires_at": value}, headers=ALICE)
        expect(response, 400, f"expires_at {value!r}", {"error": "invalid"})
    assert len(slugs(client, ALICE)) == 3, "links other than the three accepted ones are listed"


def check_who_may_create_links(client):
    """Owner and viewers may share; for others a document looks like one that does not exist."""
    pk = add_document(client, viewers=["bob"])
    add_link(client, pk, ALICE)
    add_link(client, pk, BOB)
    for document in (pk, pk + 1000):
        response = client.post("/share_links/", json={"document": document}, headers=CAROL)
        expect(response, 404, "carol's link to a document she may not view or that is unknown", NOT_FOUND)


def check_document_of_a_link_is_an_integer(client):
    """A link needs the number of a document."""
    pk = add_document(client)
    for body in ({}, {"document": None}, {"document": str(pk)}, {"document": "Plan"}, {"document": [pk]}):
        response = client.post("/share_links/", json=body, headers=ALICE)
        expect(response, 400, f"link with {body}", {"error": "invalid"})


def check_lists_are_personal(client):
    """Everybody lists their own links, oldest first."""
    pk = add_document(client, viewers=["bob"])
    alice = [add_link(client, pk, ALICE)["slug"], add_link(client, pk, ALICE)["slug"]]
    bob = add_link(client, pk, BOB)
    alice.append(add_link(client, pk, ALICE)["slug"])
    assert slugs(client, ALICE) == alice, "alice's list is not her three links, oldest first"
    listed = client.get("/share_links/", headers=BOB).json()
    assert listed == {"links": [bob]}, f"bob's list is {listed}, expected the link he created"


def check_who_may_delete_links(client):
    """Creator and document owner may delete a link, others get 404; a deleted link is gone."""
    pk = add_document(client, viewers=["bob", "carol"])
    by_bob, by_alice = add_link(client, pk, BOB)["slug"], add_link(client, pk, ALICE)["slug"]
    by_carol = add_link(client, pk, CAROL)["slug"]
    for slug, who in ((by_bob, CAROL), (by_alice, BOB), ("x" * 30, ALICE)):
        expect(
            client.delete(f"/share_links/{slug}/", headers=who),
            404,
            "deletion without right or target",
            NOT_FOUND,
        )
    expect(client.get(f"/share/{by_alice}/"), 200, "link after refused deletion")
    expect(client.delete(f"/share_links/{by_bob}/", headers=ALICE), 204, "owner deletes bob's link")
    expect(client.delete(f"/share_links/{by_alice}/", headers=ALICE), 204, "owner deletes her own link")
    expect(client.delete(f"/share_links/{by_carol}/", headers=CAROL), 204, "viewer deletes the link she created")
    for slug in (by_bob, by_alice, by_carol):
        expect(client.get(f"/share/{slug}/"), 404, "deleted link", NOT_FOUND)
    assert slugs(client, ALICE) == slugs(client, BOB) == [], "deleted links are still listed"


def check_only_the_owner_manages_documents(client):
    """Viewers and strangers cannot change the viewers or delete the document."""
    pk, other = add_document(client, viewers=["bob"]), add_document(client)
    response = client.put(f"/documents/{other + 1000}/viewers/", json={"viewers": []}, headers=ALICE)
    expect(response, 404, "viewers of an unknown document", NOT_FOUND)
    for who in (BOB, CAROL):
        expect(
            client.put(f"/documents/{pk}/viewers/", json={"viewers": ["carol"]}, headers=who),
            404,
            "viewers",
            NOT_FOUND,
        )
        expect(client.delete(f"/documents/{pk}/", headers=who), 404, "deletion", NOT_FOUND)
    for names in (["mallory"], "bob", [1], None):
        response = client.put(f"/documents/{pk}/viewers/", json={"viewers": names}, headers=ALICE)
        expect(response, 400, f"viewers {names!r}", {"error": "invalid"})
    document = set_viewers(client, pk, ["carol"]).json()
    assert document == {"id": pk, "title": "Plan", "owner": "alice", "viewers": ["carol"]}, f"unexpected {document}"


def check_link_ends_with_its_document(client):
    """Deleting the document ends its links."""
    pk, other = add_document(client), add_document(client)
    slug, kept = add_link(client, pk)["slug"], add_link(client, other)["slug"]
    expect(client.delete(f"/documents/{pk}/", headers=ALICE), 204, "deletion of the document")
    expect(client.get(f"/share/{slug}/"), 404, "link of a deleted document", NOT_FOUND)
    assert slugs(client, ALICE) == [kept], "the list is not the link of the other document alone"


def check_link_ends_with_its_creators_right(client):
    """A link ends for good when its creator may no longer view the document; others' links go on."""
    pk = add_document(client, viewers=["bob", "carol"])
    ended, kept, own = (add_link(client, pk, who)["slug"] for who in (BOB, CAROL, ALICE))
    set_viewers(client, pk, ["carol"])
    expect(client.get(f"/share/{ended}/"), 404, "link of a former viewer", NOT_FOUND)
    for slug in (kept, own):
        expect(client.get(f"/share/{slug}/"), 200, "link of somebody who may still view")
    set_viewers(client, pk, ["carol", "bob"])
    expect(client.get(f"/share/{ended}/"), 404, "ended link after the right was given back", NOT_FOUND)
    assert slugs(client, BOB) == [], "the ended link is still listed"


def check_data_survives_a_restart(client, restart):
    """Documents and links are still there after a restart."""
    pk = add_document(client, viewers=["bob"])
    slug = add_link(client, pk, BOB)["slug"]
    restart()
    expect(client.get(f"/share/{slug}/"), 200, "link after a restart")
    assert slugs(client, BOB) == [slug], "the link is no longer listed after a restart"
    add_link(client, pk, ALICE)


def check_expired_link(client):
    """After its expiry a link answers 410 and is still listed."""
    pk = add_document(client)
    moment = datetime.now(UTC) + timedelta(seconds=1.2)
    slug = add_link(client, pk, expires_at=moment.isoformat())["slug"]
    time.sleep(max(0.0, (moment - datetime.now(UTC)).total_seconds()) + 0.1)
    expect(client.get(f"/share/{slug}/"), 410, "expired link", {"error": "expired"})
    assert client.head(f"/share/{slug}/").status_code == 410, "HEAD of an expired link is not 410"
    assert slugs(client, ALICE) == [slug], "the expired link is not listed"
