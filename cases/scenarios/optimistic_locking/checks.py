"""Hidden checks of the scenario optimistic_locking: nobody overwrites a version that they have not seen."""

import re

STRONG = re.compile(r'"[^"]+"')


def asked(response):
    """Say which request an answer belongs to."""
    request = response.request
    conditions = {name: request.headers[name] for name in ("If-Match", "If-None-Match") if name in request.headers}
    return f"{request.method} {request.url.path} with {conditions or 'no condition'} and {request.content.decode()!r}"


def status_is(response, status):
    assert response.status_code == status, f"{asked(response)} answered {response.status_code}, expected {status}"


def tag_of(response):
    """Return the entity tag of an answer; it must be a strong one."""
    tag = response.headers.get("etag")
    assert tag is not None, f"the answer to {asked(response)} has no ETag"
    assert STRONG.fullmatch(tag), f"the answer to {asked(response)} has no strong entity tag: {tag!r}"
    return tag


def represented(response, status, number, text):
    """The answer must be this note under a strong tag, which is returned."""
    status_is(response, status)
    expected = {"id": number, "text": text}
    assert response.json() == expected, f"{asked(response)} answered {response.json()}, expected {expected}"
    return tag_of(response)


def refused(response, status, name):
    status_is(response, status)
    found = response.json()
    assert found == {"error": name}, f"{asked(response)} answered {found}, expected the error {name!r}"


def add(client, text="draft", number=1):
    return represented(client.post("/notes", json={"text": text}), 201, number, text)


def put(client, text, if_match, number=1):
    headers = {} if if_match is None else {"If-Match": if_match}
    return client.put(f"/notes/{number}", json={"text": text}, headers=headers)


def unchanged(client, text, tag, number=1):
    """The note must still have this text and this tag."""
    now = represented(client.get(f"/notes/{number}"), 200, number, text)
    assert now == tag, f"note {number} was not changed, but its tag is now {now}, before {tag}"


def check_create_and_read(client):
    """POST answers 201 and the note with its tag, GET the same; ids count up."""
    first = add(client, "draft")
    second = add(client, "x", 2)
    assert first != second, f"two notes have the same tag {first}"
    unchanged(client, "draft", first)
    unchanged(client, "x", second, 2)
    refused(client.get("/notes/3"), 404, "not found")


def check_moderation_takes_its_time(client):
    """POST and PUT wait for the moderation of the text."""
    created = client.post("/notes", json={"text": "draft"})
    changed = put(client, "better", tag_of(created))
    for response in (created, changed):
        seconds = response.elapsed.total_seconds()
        assert seconds >= 0.095, f"{asked(response)} was answered after {seconds:.3f} s, moderation takes 0.1 s"


def check_put_with_the_current_tag(client):
    """PUT with the current tag changes the note and answers with the new tag."""
    tag = add(client)
    other = add(client, "other", 2)
    for text in ("better", "best", "best", "!"):
        new = represented(put(client, text, tag), 200, 1, text)
        assert new != tag, f"the tag {tag} stayed although the note was replaced"
        unchanged(client, text, new)
        tag = new
    unchanged(client, "other", other, 2)


def check_put_and_delete_need_a_tag(client):
    """Without If-Match PUT and DELETE are 428."""
    tag = add(client)
    refused(put(client, "better", None), 428, "precondition required")
    refused(client.delete("/notes/1"), 428, "precondition required")
    unchanged(client, "draft", tag)


def check_other_tags_do_not_match(client):
    """PUT and DELETE with an old or a foreign tag are 412 with the current tag, and change nothing."""
    old = add(client)
    foreign = add(client, "draft", 2)
    current = represented(put(client, "better", old), 200, 1, "better")
    for given in (old, foreign, '"no-such-tag"', f'{old}, {foreign}, "a,b"', '""', current.strip('"')):
        responses = [client.delete("/notes/1", headers={"If-Match": given})]
        if given in (old, foreign):
            responses.append(put(client, "worse", given))
        for response in responses:
            refused(response, 412, "precondition failed")
            told = tag_of(response)
            assert told == current, f"{asked(response)} names the current tag {told}, it is {current}"
    unchanged(client, "better", current)


def check_weak_tags_do_not_match_writes(client):
    """In If-Match a weak tag never matches, by itself or in a list."""
    tag = add(client)
    for given in (f"W/{tag}", f'"x", W/{tag}', f"W/{tag}, W/{tag}"):
        refused(put(client, "worse", given), 412, "precondition failed")
        refused(client.delete("/notes/1", headers={"If-Match": given}), 412, "precondition failed")
    unchanged(client, "draft", tag)


def check_lists_and_the_asterisk(client):
    """If-Match may be a list with the current tag in it, or an asterisk."""
    tag = add(client)
    for before, after in (('"x", ', ""), ("", ', "x"'), ('"x","y",', ', W/"z"'), ('W/"x" ,  ', "")):
        tag = represented(put(client, "better", f"{before}{tag}{after}"), 200, 1, "better")
    tag = represented(put(client, "starred", "*"), 200, 1, "starred")
    status_is(client.delete("/notes/1", headers={"If-Match": f'"x", {tag}'}), 204)
    add(client, "second", 2)
    status_is(client.delete("/notes/2", headers={"If-Match": "*"}), 204)


def check_a_tag_never_comes_back(client):
    """Each version has a tag of its own, also if the text is one that the note had before."""
    tags = [add(client, "yes")]
    for text in ("no", "yes", "no", "yes", "yes"):
        tags.append(represented(put(client, text, tags[-1]), 200, 1, text))
    assert len(set(tags)) == len(tags), f"{len(tags)} versions have only {len(set(tags))} tags: {tags}"
    for tag in tags[:-1]:
        refused(client.delete("/notes/1", headers={"If-Match": tag}), 412, "precondition failed")
    unchanged(client, "yes", tags[-1])


def check_delete(client):
    """DELETE with the current tag removes the note; its id is not given out again."""
    tag = add(client)
    add(client, "other", 2)
    response = client.delete("/notes/1", headers={"If-Match": tag})
    status_is(response, 204)
    assert response.content == b"", f"a 204 answer has no body, got {response.content!r}"
    for response in (client.get("/notes/1"), put(client, "better", tag), client.delete("/notes/1")):
        refused(response, 404, "not found")
    refused(put(client, "better", None, 9), 404, "not found")
    refused(put(client, "better", "*", 9), 404, "not found")
    assert client.get("/notes/2").status_code == 200, "deleting note 1 removed note 2"
    add(client, "new", 3)


def check_reads_with_a_known_version(client):
    """GET is 304 without body if If-None-Match has the current tag, weak or not, or an asterisk."""
    old = add(client)
    tag = represented(put(client, "better", old), 200, 1, "better")
    for given in (tag, f"W/{tag}", f'"x", {tag}', f'{old},W/{tag},"y"', "*"):
        response = client.get("/notes/1", headers={"If-None-Match": given})
        status_is(response, 304)
        assert response.content == b"", f"a 304 answer has no body, got {response.content!r}"
        assert tag_of(response) == tag, f"the 304 answer names {tag_of(response)}, the tag is {tag}"
    for given in (old, f"W/{old}", '"x", "y"'):
        represented(client.get("/notes/1", headers={"If-None-Match": given}), 200, 1, "better")


def check_invalid_texts(client):
    """A body without a text is 400, before anything else is looked at."""
    tag = add(client)
    for body in (b"{}", b'{"text": ""}', b'{"text": 7}', b'{"text": null}', b'["text"]', b"null", b"{"):
        headers = {"Content-Type": "application/json"}
        refused(client.post("/notes", content=body, headers=headers), 400, "invalid")
        for path, given in (("/notes/1", {"If-Match": tag}), ("/notes/1", {"If-Match": '"x"'}), ("/notes/9", {})):
            refused(client.put(path, content=body, headers=headers | given), 400, "invalid")
    unchanged(client, "draft", tag)
    add(client, "second", 2)


def check_parallel_writers(client, new_client, parallel):
    """Of several simultaneous PUTs with the same tag exactly one is done, the others are 412."""
    tag = add(client)
    texts = [f"version of writer {number}" for number in range(6)]
    clients = [new_client() for _ in texts]
    calls = [lambda c=c, text=text: put(c, text, tag) for c, text in zip(clients, texts, strict=True)]
    responses = parallel(calls)
    statuses = [response.status_code for response in responses]
    assert sorted(statuses) == [200] + [412] * 5, f"six simultaneous PUTs with the same tag answered {statuses}"
    winner = statuses.index(200)
    new = represented(responses[winner], 200, 1, texts[winner])
    unchanged(client, texts[winner], new)
    late = {tag_of(response) for response in responses if response.status_code == 412}
    assert late <= {tag, new}, f"the 412 answers name the tags {late}, the note only had {tag} and {new}"
