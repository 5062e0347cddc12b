"""Hidden checks: pages, totals, the offsets of the neighbouring pages, bounds and the genre filter."""


def page(client, **params):
    response = client.get("/books", params=params)
    assert response.status_code == 200, f"GET /books {params} gave {response.status_code}, expected 200"
    return response.json()


def ids(answer):
    return [book.get("id") for book in answer.get("items", [])]


def assert_fields(answer, **expected):
    for field, value in expected.items():
        assert field in answer, f"the answer has no field {field}: {sorted(answer)}"
        assert answer[field] == value, f"{field} is {answer[field]!r}, expected {value!r}"


def assert_refused(client, parameter, *values):
    page(client)
    for value in values:
        status = client.get("/books", params={parameter: value}).status_code
        assert status == 422, f"{parameter}={value} gave {status}, expected 422"


def check_first_page_by_default(client):
    """Without parameters the page holds the first 10 of 45 books."""
    answer = page(client)
    assert ids(answer) == list(range(1, 11)), f"the first page holds the ids {ids(answer)}, expected 1 to 10"
    assert_fields(answer, total=45, offset=0, limit=10, next_offset=10, previous_offset=None)


def check_book_fields(client):
    """Book n has id n, title "Book n" and the genre that n decides."""
    expected = [
        {"id": 3, "title": "Book 3", "genre": "poetry"},
        {"id": 4, "title": "Book 4", "genre": "prose"},
    ]
    items = page(client, offset=2, limit=2).get("items")
    assert items == expected, f"books 3 and 4 are {items}, expected {expected}"


def check_page_in_the_middle(client):
    """Offset books are skipped, at most limit are shown; the neighbours are one limit away."""
    answer = page(client, offset=14, limit=6)
    assert ids(answer) == list(range(15, 21)), f"offset 14, limit 6 gave the ids {ids(answer)}"
    assert_fields(answer, total=45, offset=14, limit=6, next_offset=20, previous_offset=8)


def check_previous_offset_is_never_negative(client):
    """The previous offset is never below 0, and null only at offset 0."""
    assert_fields(page(client, offset=3, limit=8), previous_offset=0)
    assert_fields(page(client, offset=1, limit=1), previous_offset=0)


def check_short_last_page(client):
    """The last page may be short and has no next offset."""
    answer = page(client, offset=40, limit=10)
    assert ids(answer) == [41, 42, 43, 44, 45], f"offset 40 gave the ids {ids(answer)}, expected 41 to 45"
    assert_fields(answer, total=45, next_offset=None, previous_offset=30)


def check_last_page_that_is_just_full(client):
    """A full page with no books after it has no next offset; one book earlier there is one."""
    assert_fields(page(client, offset=35, limit=10), next_offset=None)
    assert_fields(page(client, offset=34, limit=10), next_offset=44)


def check_offset_past_the_end(client):
    """An offset at or past the end gives an empty page with the right total."""
    assert_fields(page(client, offset=45), items=[], total=45, next_offset=None, previous_offset=35)
    assert_fields(page(client, offset=1000), items=[], total=45, offset=1000, next_offset=None, previous_offset=990)


def check_limit_bounds(client):
    """The limit is an integer from 1 to 20."""
    assert len(ids(page(client, limit=1))) == 1, "limit=1 does not give one book"
    assert len(ids(page(client, limit=20))) == 20, "limit=20 does not give 20 books"
    assert_refused(client, "limit", "0", "21", "-5", "ten", "2.5")


def check_offset_bounds(client):
    """The offset is an integer, 0 or more."""
    assert_fields(page(client, offset=0), offset=0, previous_offset=None)
    assert_refused(client, "offset", "-1", "first", "1.5")


def check_genre_filters_before_paging(client):
    """With a genre, pages and total count the books of this genre only."""
    answer = page(client, genre="poetry", offset=10, limit=4)
    assert ids(answer) == [33, 36, 39, 42], f"poetry from offset 10 gave the ids {ids(answer)}"
    assert_fields(answer, total=15, next_offset=14, previous_offset=6)
    assert_fields(page(client, genre="prose", offset=20), total=30, next_offset=None)


def check_unknown_genre_is_an_empty_page(client):
    """Any string is allowed as a genre and compared exactly."""
    for genre in ("drama", "Poetry", "poe"):
        assert_fields(page(client, genre=genre), items=[], total=0, next_offset=None, previous_offset=None)


def check_following_next_offset_shows_each_book_once(client):
    """Walking along next_offset shows every book exactly once."""
    seen, offset = [], 0
    while offset is not None and len(seen) <= 45:
        answer = page(client, offset=offset, limit=7)
        seen += ids(answer)
        offset = answer.get("next_offset")
    assert seen == list(range(1, 46)), f"the walk with limit 7 shows the ids {seen}"
