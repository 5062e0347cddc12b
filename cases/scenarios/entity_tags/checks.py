"""Hidden checks of the scenario entity_tags: whoever has the current version is told so with 304."""

import re

STRONG = re.compile(r'"[^"]+"')


def asked(response):
    """Say which request an answer belongs to."""
    request = response.request
    known = request.headers.get("If-None-Match")
    return f"{request.method} {request.url.path}" + (f" with If-None-Match: {known}" if known else "")


def status_is(response, status):
    assert response.status_code == status, f"{asked(response)} answered {response.status_code}, expected {status}"


def body_is(response, expected):
    assert response.json() == expected, f"{asked(response)} answered {response.json()}, expected {expected}"


def tag_of(response):
    """Return the entity tag of an answer; it must be a strong one."""
    tag = response.headers.get("etag")
    assert tag is not None, f"the answer to {asked(response)} has no ETag"
    assert STRONG.fullmatch(tag), f"the answer to {asked(response)} has no strong entity tag: {tag!r}"
    return tag


def put(client, name, text, status, version):
    """Store a text and return the tag of the answer."""
    response = client.put(f"/pages/{name}", json={"text": text})
    status_is(response, status)
    body_is(response, {"id": name, "text": text, "version": version})
    return tag_of(response)


def ask(client, path, known=None, method="GET"):
    return client.request(method, path, headers={} if known is None else {"If-None-Match": known})


def must_revalidate(response):
    found = response.headers.get("cache-control")
    assert found == "no-cache", f"the answer to {asked(response)} has the Cache-Control {found!r}, expected 'no-cache'"


def full(response, expected):
    """The answer must be 200 with the content and its headers; returns the tag."""
    status_is(response, 200)
    body_is(response, expected)
    must_revalidate(response)
    return tag_of(response)


def not_modified(response, tag):
    """The answer must be 304 with the current tag and without a body."""
    status_is(response, 304)
    assert response.content == b"", f"the 304 answer to {asked(response)} has the body {response.content!r}"
    assert tag_of(response) == tag, f"the 304 answer to {asked(response)} has the tag {tag_of(response)}, it is {tag}"
    must_revalidate(response)


def check_put_creates_and_replaces(client):
    """The first PUT is 201 with version 1, later ones are 200 and count the versions."""
    put(client, "intro", "one", 201, 1)
    put(client, "intro", "two", 200, 2)
    put(client, "intro", "", 200, 3)
    put(client, "other", "one", 201, 1)
    full(ask(client, "/pages/intro"), {"id": "intro", "text": "", "version": 3})
    full(ask(client, "/pages/other"), {"id": "other", "text": "one", "version": 1})


def check_same_text_keeps_the_version(client):
    """A PUT of the text that is there already changes neither version nor tag."""
    first = put(client, "intro", "one", 201, 1)
    again = put(client, "intro", "one", 200, 1)
    assert again == first, f"the same text was stored again, and the tag changed from {first} to {again}"
    not_modified(ask(client, "/pages/intro", first), first)


def check_get_and_put_name_the_same_tag(client):
    """GET has the tag that PUT answered, each time, and Cache-Control: no-cache."""
    for version, text in enumerate(("one", "two"), 1):
        tag = put(client, "intro", text, 201 if version == 1 else 200, version)
        for _ in range(2):
            found = full(ask(client, "/pages/intro"), {"id": "intro", "text": text, "version": version})
            assert found == tag, f"PUT answered the tag {tag}, GET answers {found}"


def check_a_tag_means_one_version_of_one_page(client):
    """No two versions have the same tag, not even with the same text or in two pages."""
    tags = [put(client, name, "one", 201, 1) for name in ("a", "b", "1", "11")]
    for version, text in enumerate(("two", "one", "two", "one"), 2):
        tags += [put(client, name, text, 200, version) for name in ("a", "b", "1")]
    assert len(set(tags)) == len(tags), f"{len(tags)} versions have only {len(set(tags))} tags: {tags}"


def check_current_tag_is_304(client):
    """GET with the current tag is 304 with ETag and Cache-Control and without a body."""
    put(client, "intro", "one", 201, 1)
    tag = put(client, "intro", "two", 200, 2)
    not_modified(ask(client, "/pages/intro", tag), tag)
    body_is(ask(client, "/pages/intro"), {"id": "intro", "text": "two", "version": 2})


def check_weak_form_of_the_current_tag_is_304(client):
    """The comparison is weak: W/ before the current tag makes no difference."""
    tag = put(client, "intro", "one", 201, 1)
    not_modified(ask(client, "/pages/intro", f"W/{tag}"), tag)
    not_modified(ask(client, "/pages", f"W/{tag_of(ask(client, '/pages'))}"), tag_of(ask(client, "/pages")))


def check_list_with_the_current_tag_is_304(client):
    """If-None-Match may be a list with the current tag anywhere in it."""
    old = put(client, "intro", "one", 201, 1)
    tag = put(client, "intro", "two", 200, 2)
    for known in (f'"x", {tag}', f'{tag}, "x"', f'{old},{tag},"y"', f'W/"x" ,  W/{tag} , "y"', f"{tag},{tag}"):
        not_modified(ask(client, "/pages/intro", known), tag)


def check_asterisk_is_304(client):
    """An asterisk matches every page that exists."""
    tag = put(client, "intro", "one", 201, 1)
    not_modified(ask(client, "/pages/intro", "*"), tag)


def check_other_tags_are_200(client):
    """Earlier tags, tags of other pages and made-up ones bring the whole page."""
    old = put(client, "intro", "one", 201, 1)
    foreign = put(client, "other", "two", 201, 1)
    tag = put(client, "intro", "two", 200, 2)
    listed = tag_of(ask(client, "/pages"))
    longer, shorter = f'{tag[:-1]}0"', f'{tag[:-2]}"'
    for known in (old, foreign, listed, f'{old}, {foreign}, W/"x"', f"W/{old}", longer, shorter, '"x"', '"*"'):
        found = full(ask(client, "/pages/intro", known), {"id": "intro", "text": "two", "version": 2})
        assert found == tag, f"the tag of the unchanged page went from {tag} to {found}"


def check_missing_pages_are_404(client):
    """A page that does not exist is 404 with and without If-None-Match."""
    tag = put(client, "intro", "one", 201, 1)
    for known in (None, "*", tag, f'"x", {tag}'):
        response = ask(client, "/pages/missing", known)
        status_is(response, 404)
        body_is(response, {"error": "not found"})
        status_is(ask(client, "/pages/missing", known, "HEAD"), 404)


def check_head_is_like_get(client):
    """HEAD has the status and the headers of GET, conditions included, but no body."""
    old = put(client, "intro", "one", 201, 1)
    tag = put(client, "intro", "two", 200, 2)
    for path in ("/pages/intro", "/pages"):
        for known in (None, "*", old, tag, f'"x", W/{tag}', tag_of(ask(client, path))):
            got, head = ask(client, path, known), ask(client, path, known, "HEAD")
            status_is(head, got.status_code)
            assert head.content == b"", f"the answer to {asked(head)} has the body {head.content!r}"
            names = ["etag", "cache-control"] + ["content-type"] * (got.status_code == 200)
            for name in names:
                found, expected = head.headers.get(name), got.headers.get(name)
                assert found == expected, f"{asked(head)} has {name}: {found}, the same GET has {expected}"


def check_list_of_pages(client):
    """GET /pages has all pages by id, with their versions and a tag."""
    full(ask(client, "/pages"), {"pages": []})
    for name in ("pear", "apple", "fig"):
        put(client, name, "one", 201, 1)
    put(client, "fig", "two", 200, 2)
    expected = [{"id": "apple", "version": 1}, {"id": "fig", "version": 2}, {"id": "pear", "version": 1}]
    full(ask(client, "/pages"), {"pages": expected})


def check_tag_of_the_list(client):
    """The tag of the list is another whenever the list is another, and only then."""
    tags = [tag_of(ask(client, "/pages"))]
    for name, text in (("pear", "one"), ("apple", "one"), ("pear", "two"), ("apple", "two"), ("pear", "one")):
        client.put(f"/pages/{name}", json={"text": text})
        response = ask(client, "/pages", ", ".join(tags))
        status_is(response, 200)
        tags.append(tag_of(response))
    client.put("/pages/apple", json={"text": "two"})
    for known in (tags[-1], f"W/{tags[-1]}", ", ".join(tags), "*"):
        not_modified(ask(client, "/pages", known), tags[-1])
    assert len(set(tags)) == len(tags), f"{len(tags)} different lists have only {len(set(tags))} tags: {tags}"
    page = tag_of(ask(client, "/pages/pear"))
    status_is(ask(client, "/pages", page), 200)


def check_invalid_bodies(client):
    """A body without a text that is a string is 400 and changes nothing."""
    tag = put(client, "intro", "one", 201, 1)
    for body in (b"{}", b'{"text": 7}', b'{"text": null}', b'{"text": ["a"]}', b'["text"]', b'"text"', b"null", b"{"):
        for name in ("intro", "new"):
            response = client.put(f"/pages/{name}", content=body, headers={"Content-Type": "application/json"})
            assert response.status_code == 400, f"PUT with the body {body!r} answered {response.status_code}, not 400"
            body_is(response, {"error": "invalid"})
    not_modified(ask(client, "/pages/intro", tag), tag)
    status_is(ask(client, "/pages/new"), 404)
