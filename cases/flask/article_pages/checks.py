"""Hidden checks of flask/article_pages."""


def answer(response, status=200):
    """Return the JSON object of a response that must have this status."""
    asked = f"GET {response.request.url.raw_path.decode()}"
    assert response.status_code == status, f"{asked} answered {response.status_code} instead of {status}"
    kind = response.headers.get("content-type", "")
    assert kind.startswith("application/json"), f"{asked} answered {kind!r} instead of JSON"
    body = response.json()
    assert isinstance(body, dict), f"{asked} must answer a JSON object, got {body!r}"
    return body


def look(client, **params):
    return answer(client.get("/articles", params=params))


def expect(body, **fields):
    """Compare these keys of the answer."""
    for key, value in fields.items():
        assert key in body, f"the answer lacks the key {key!r}: it has {sorted(body)}"
        assert body[key] == value, f"{key!r} is {body[key]!r} instead of {value!r}"


def ids(body):
    return [article["id"] for article in body["items"]]


def check_first_page_by_default(client):
    """Without parameters: articles 1 to 10, page 1 of 6, no previous page."""
    body = look(client)
    expect(body, page=1, per_page=10, total=57, pages=6, prev=None, next=2)
    assert body["items"][0] == {"id": 1, "title": "Article 1"}, f"the first article is {body['items'][0]!r}"
    assert ids(body) == list(range(1, 11)), f"page 1 shows the articles {ids(body)}"


def check_a_page_in_the_middle(client):
    """Page 2 of 20 each shows articles 21 to 40 and points both ways."""
    middle = look(client, page=2, per_page=20)
    expect(middle, page=2, per_page=20, total=57, pages=3, prev=1, next=3)
    assert ids(middle) == list(range(21, 41)), f"page 2 of 20 each shows the articles {ids(middle)}"


def check_last_page_has_no_next(client):
    """The last page shows the rest; its `next` is null."""
    body = look(client, page=6)
    expect(body, page=6, pages=6, prev=5, next=None)
    assert ids(body) == list(range(51, 58)), f"page 6 shows the articles {ids(body)}"


def check_full_last_page(client):
    """57 articles are exactly 3 pages of 19; the third has no next page."""
    expect(look(client, page=1, per_page=19), pages=3, next=2)
    body = look(client, page=3, per_page=19)
    expect(body, pages=3, prev=2, next=None)
    assert ids(body) == list(range(39, 58)), f"page 3 of 19 each shows the articles {ids(body)}"


def check_following_next_visits_every_article_once(client):
    """Following `next` from page 1 shows every article once, in order."""
    seen, page = [], 1
    while page is not None and len(seen) < 100:
        body = look(client, page=page, per_page=7)
        assert body["items"], f"`next` led to page {page}, which is empty"
        seen += ids(body)
        page = body["next"]
    assert seen == list(range(1, 58)), f"following `next` showed the articles {seen}"


def check_page_size_is_capped(client):
    """A per_page above 25 counts as 25, and the answer shows 25."""
    expect(look(client, per_page=25), per_page=25, pages=3)
    for size in (26, 57, 1000):
        body = look(client, per_page=size)
        shown = len(body["items"])
        assert ids(body) == list(range(1, 26)), f"per_page={size} shows {shown} articles instead of 25"
        expect(body, per_page=25, pages=3, next=2)
    body = look(client, page=2, per_page=1000)
    assert ids(body) == list(range(26, 51)), f"page 2 with per_page=1000 shows the articles {ids(body)}"


def check_page_after_the_last_is_empty(client):
    """A page after the last one answers 200 with no items, no next page and the right totals."""
    for page in (7, 1000):
        body = look(client, page=page)
        expect(body, items=[], page=page, total=57, pages=6, prev=page - 1, next=None)


def check_invalid_numbers_are_refused(client):
    """page and per_page below 1 or not whole numbers answer 400 with an error."""
    for name in ("page", "per_page"):
        for value in ("0", "-3", "abc", "2.5"):
            body = answer(client.get("/articles", params={name: value}), 400)
            assert "error" in body, f"the 400 answer to {name}={value} lacks the key 'error': {body!r}"


def check_single_articles(client):
    """GET /articles/<id> answers the article, or 404 with an error."""
    for number in (1, 57):
        article = answer(client.get(f"/articles/{number}"))
        expected = {"id": number, "title": f"Article {number}"}
        assert article == expected, f"article {number} came back as {article!r}"
    for number in (0, 58):
        body = answer(client.get(f"/articles/{number}"), 404)
        assert "error" in body, f"the 404 answer for article {number} lacks the key 'error': {body!r}"
