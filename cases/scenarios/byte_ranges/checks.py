"""Hidden checks: which ranges are answered, which are refused, which are ignored, and what conditions change."""

BLOB = bytes(range(256)) * 4 + b"the end"
TYPE = "application/octet-stream"


def put(client, content=BLOB, name="disk.img", status=201):
    response = client.put(f"/blobs/{name}", content=content)
    assert response.status_code == status, f"PUT gave {response.status_code}, expected {status}"
    etag = response.headers.get("ETag", "")
    assert len(etag) > 2 and etag[0] == etag[-1] == '"', f"PUT gave the ETag {etag!r}, expected a strong one"
    return etag


def get(client, asked=None, name="disk.img", method="GET", **headers):
    sent = {key.replace("_", "-"): value for key, value in headers.items()}
    return client.request(method, f"/blobs/{name}", headers=sent | ({"Range": asked} if asked is not None else {}))


def assert_headers(response, what, **expected):
    for name, value in expected.items():
        found = response.headers.get(name.replace("_", "-"))
        assert found == value, f"{what}: {name.replace('_', '-')} is {found!r}, expected {value!r}"


def assert_whole(response, what, content=BLOB):
    assert response.status_code == 200, f"{what}: status {response.status_code}, expected 200"
    assert response.content == content, f"{what}: {len(response.content)} bytes, expected all {len(content)}"
    assert_headers(response, what, Content_Length=str(len(content)), Accept_Ranges="bytes", Content_Range=None)
    assert_headers(response, what, Content_Type=TYPE)


def assert_part(response, what, first, last, content=BLOB):
    assert response.status_code == 206, f"{what}: status {response.status_code}, expected 206"
    assert_headers(response, what, Content_Range=f"bytes {first}-{last}/{len(content)}", Content_Type=TYPE)
    part = content[first : last + 1]
    assert response.content == part, f"{what}: {response.content[:40]!r}, expected {part[:40]!r}"
    assert_headers(response, what, Content_Length=str(len(part)), Accept_Ranges="bytes")


def assert_unsatisfiable(response, what, length=len(BLOB)):
    assert response.status_code == 416, f"{what}: status {response.status_code}, expected 416"
    assert_headers(response, what, Content_Range=f"bytes */{length}", Accept_Ranges="bytes")
    assert response.json() == {"error": "range not satisfiable"}, f"{what}: body {response.text[:200]}"


def check_whole_blob(client):
    """A blob is stored, read back whole, and replaced; unknown ones are 404."""
    for method in ("GET", "HEAD"):
        response = get(client, method=method)
        assert response.status_code == 404, f"{method} of an unknown blob gave {response.status_code}, expected 404"
    assert get(client).json() == {"error": "not found"}, f"body of a 404: {get(client).text[:200]}"
    etag = put(client)
    response = get(client)
    assert_whole(response, "GET")
    assert_headers(response, "GET", ETag=etag)
    assert put(client, status=204) == etag, "the same content was given another ETag"
    changed = put(client, b"short", status=204)
    assert changed != etag, "another content was given the same ETag"
    assert_whole(get(client), "GET of the new content", b"short")
    put(client, b"other", name="other")
    assert_whole(get(client), "GET after another blob was stored", b"short")


def check_first_and_last(client):
    """bytes=a-b gives the bytes from a to b, both included."""
    etag = put(client)
    for first, last in ((0, 0), (0, 9), (5, 5), (10, 299), (256, 511), (0, len(BLOB) - 1), (1029, 1030), (1030, 1030)):
        response = get(client, f"bytes={first}-{last}")
        assert_part(response, f"bytes={first}-{last}", first, last)
        assert_headers(response, f"bytes={first}-{last}", ETag=etag)
    assert_part(get(client, "bytes=007-0012"), "bytes=007-0012", 7, 12)


def check_open_ranges(client):
    """bytes=a- gives everything from a on."""
    put(client)
    for first in (0, 1, 1024, len(BLOB) - 1):
        assert_part(get(client, f"bytes={first}-"), f"bytes={first}-", first, len(BLOB) - 1)


def check_suffix_ranges(client):
    """bytes=-n gives the last n bytes, and the whole blob as a part if it has no more than n."""
    put(client)
    for count in (1, 7, 1030, len(BLOB)):
        assert_part(get(client, f"bytes=-{count}"), f"bytes=-{count}", len(BLOB) - count, len(BLOB) - 1)
    for count in (len(BLOB) + 1, 5000, 10**30):
        assert_part(get(client, f"bytes=-{count}"), f"bytes=-{count}", 0, len(BLOB) - 1)


def check_end_is_cut(client):
    """A last position at or behind the end means the end."""
    put(client)
    for last in (len(BLOB), len(BLOB) + 1, 99999, 10**30):
        for first in (0, 1000, len(BLOB) - 1):
            assert_part(get(client, f"bytes={first}-{last}"), f"bytes={first}-{last}", first, len(BLOB) - 1)


def check_unsatisfiable_ranges(client):
    """A range without any byte of the blob is 416 and tells the length."""
    put(client)
    end = len(BLOB)
    for asked in (f"{end}-", f"{end}-{end}", f"{end}-{end + 5}", "2000-3000", f"{10**30}-", f"{10**30}-{10**31}", "-0"):
        assert_unsatisfiable(get(client, f"bytes={asked}"), f"bytes={asked}")
    assert_whole(get(client), "GET after refused ranges")


def check_ignored_ranges(client):
    """What is no single range of bytes in the right form is ignored."""
    put(client)
    for asked in (
        "bytes=0-1,3-4",
        "bytes=0-1, 5000-",
        "bytes=-1,0-0",
        "items=0-5",
        "lines=1-2",
        "seconds=1-",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=5",
        "bytes=--5",
        "bytes=5--7",
        "bytes=a-b",
        "bytes=1-b",
        "bytes=0x1-0x5",
        "bytes=1_0-20",
        "bytes=+1-5",
        "bytes=1-+5",
        "bytes=1.0-5",
        "bytes=1-2-3",
        "bytes 0-5",
        "bytes:0-5",
        "0-5",
        "",
        "bytes=\xb2-5",
        "bytes=1-\xb3",
        "bytes=-\xb9",
    ):
        assert_whole(get(client, asked.encode("latin-1")), f"Range {asked!r}")


def check_last_before_first(client):
    """A range whose last position is before its first is ignored, also behind the end."""
    put(client)
    for asked in ("bytes=5-4", "bytes=100-0", f"bytes={len(BLOB) + 9}-5", f"bytes={len(BLOB) + 9}-{len(BLOB) + 8}"):
        assert_whole(get(client, asked), f"Range {asked!r}")


def check_empty_blob(client):
    """No range of an empty blob can be satisfied."""
    put(client, b"")
    assert_whole(get(client), "GET of an empty blob", b"")
    for asked in ("0-", "0-0", "0-9", "-1", "-0", "5-"):
        assert_unsatisfiable(get(client, f"bytes={asked}"), f"bytes={asked} of an empty blob", 0)
    assert_whole(get(client, "bytes=0-0,1-1"), "several ranges of an empty blob", b"")


def check_if_range(client):
    """The range counts if If-Range is exactly the present ETag."""
    etag = put(client)
    assert_part(get(client, "bytes=5-9", If_Range=etag), "If-Range with the present ETag", 5, 9)
    assert_unsatisfiable(get(client, "bytes=5000-", If_Range=etag), "unsatisfiable, If-Range with the present ETag")
    others = (f"W/{etag}", '"other"', etag.strip('"'), f'{etag}, "other"', "*", "Wed, 21 Oct 2015 07:28:00 GMT")
    for text in others:
        assert_whole(get(client, "bytes=5-9", If_Range=text), f"If-Range {text!r} (the ETag is {etag})")
        assert_whole(get(client, "bytes=5000-", If_Range=text), f"unsatisfiable, If-Range {text!r}")
    assert_whole(get(client, If_Range=etag), "If-Range without a range")
    content = BLOB[::-1]
    newer = put(client, content, status=204)
    assert_whole(get(client, "bytes=5-9", If_Range=etag), "If-Range with the ETag of the former content", content)
    assert_part(get(client, "bytes=5-9", If_Range=newer), "If-Range with the new ETag", 5, 9, content)


def check_if_none_match(client):
    """A matching If-None-Match is 304, before any range is looked at."""
    etag = put(client)
    for text in (etag, f"W/{etag}", f'"other", {etag}', f'W/"other",W/{etag} , "x"', "*"):
        for asked in (None, "bytes=0-4", "bytes=5000-"):
            for method in ("GET", "HEAD"):
                what = f"{method} with If-None-Match {text!r} and Range {asked!r}"
                response = get(client, asked, method=method, If_None_Match=text)
                assert response.status_code == 304, f"{what}: status {response.status_code}, expected 304"
                assert response.content == b"", f"{what}: the answer has a body"
                assert_headers(response, what, ETag=etag)
    for text in ('"other"', etag.strip('"'), f'"{etag.strip(chr(34))[:-1]}"', 'W/"*"'):
        assert_whole(get(client, If_None_Match=text), f"If-None-Match {text!r} (the ETag is {etag})")
        assert_part(get(client, "bytes=0-4", If_None_Match=text), f"a range with If-None-Match {text!r}", 0, 4)


def check_head(client):
    """HEAD answers as GET of the whole blob does, whatever the range, without a body."""
    etag = put(client)
    for asked in (None, "bytes=0-4", "bytes=5000-"):
        for headers in ({}, {"If_Range": etag}):
            response = get(client, asked, method="HEAD", **headers)
            what = f"HEAD with Range {asked!r}"
            assert response.status_code == 200, f"{what}: status {response.status_code}, expected 200"
            assert response.content == b"", f"{what}: the answer has a body"
            assert_headers(response, what, Content_Length=str(len(BLOB)), Accept_Ranges="bytes", ETag=etag)
            assert_headers(response, what, Content_Range=None, Content_Type=TYPE)


def check_download_in_pieces(client):
    """Pieces fetched one after the other make up the blob, until there are no more."""
    etag = put(client)
    for size in (100, 1031, 5000):
        pieces = b""
        while True:
            asked = f"bytes={len(pieces)}-{len(pieces) + size - 1}"
            response = get(client, asked, If_Range=etag)
            if response.status_code == 416:
                break
            assert response.status_code == 206, f"{asked}: status {response.status_code}, expected 206"
            pieces += response.content
            assert len(pieces) <= len(BLOB), f"pieces of {size} are more than the blob"
        assert pieces == BLOB, f"pieces of {size} bytes make up {len(pieces)} bytes, not the blob of {len(BLOB)}"
