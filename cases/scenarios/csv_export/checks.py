"""Hidden checks of the scenario csv_export: one table, two formats, and text that stays text."""

import re
from urllib.parse import unquote

COLUMNS = ["item", "price", "left"]
ROWS = [["tea", 2.5, 12], ["milk, whole", -1, None], ['6" plate', 0, True]]
JSON, CSV = "application/json", "text/csv"
FIELD = re.compile(r'"((?:[^"]|"")*)"|([^",\r\n]*)')


def add(client, columns=COLUMNS, rows=ROWS, name="Stock"):
    response = client.post("/tables", json={"name": name, "columns": columns, "rows": rows})
    assert response.status_code == 201, f"a valid table was answered with {response.status_code}, expected 201"
    return response.json()["id"]


def show(client, number, accept=None, query=""):
    headers = {} if accept is None else {"Accept": accept}
    return client.get(f"/tables/{number}{query}", headers=headers)


def is_error(response, status, expected, what):
    assert response.status_code == status, f"{what}: answered {response.status_code}, expected {status}"
    kind = response.headers.get("content-type", "")
    assert kind.startswith(JSON), f"{what}: the error is {kind!r} instead of JSON"
    assert response.json() == expected, f"{what}: answered {response.json()}, expected {expected}"


def kind_of(response, what):
    assert response.status_code == 200, f"{what}: answered {response.status_code}, expected 200"
    return response.headers.get("content-type", "").split(";")[0].strip().lower()


def read_csv(text):
    """Read RFC 4180 strictly: CRLF after every record, quotes where they are needed."""
    records, place = [], 0
    while place < len(text):
        record = []
        while True:
            match = FIELD.match(text, place)
            record.append(match[2] if match[1] is None else match[1].replace('""', '"'))
            place = match.end()
            if text[place : place + 1] != ",":
                break
            place += 1
        rest = text[place : place + 20]
        assert rest.startswith("\r\n"), f"after the fields {record} expected CRLF or a comma, found {rest!r}"
        place += 2
        records.append(record)
    return records


def as_csv(client, columns, rows):
    """Store a table and return its records as CSV, the header first."""
    response = show(client, add(client, columns, rows), query="?format=csv")
    assert kind_of(response, "a table as CSV") == CSV, f"CSV has the type {response.headers.get('content-type')!r}"
    return read_csv(response.content.decode())


def fields_are(client, cells):
    """Check what becomes of each cell in CSV, inside and at the end of a row."""
    records = as_csv(client, ["a", "b", "c"], [["x", cell, cell] for cell, _ in cells])
    assert len(records) == 1 + len(cells), f"{len(cells)} rows and a header became {len(records)} records"
    for (cell, expected), record in zip(cells, records[1:], strict=True):
        assert record == ["x", expected, expected], f"the cell {cell!r} became {record[1:]}, expected {expected!r}"


def file_name(response):
    """Return the file name as RFC 6266 says: filename* before filename."""
    header = response.headers.get("content-disposition", "")
    kind, _, rest = header.partition(";")
    assert kind.strip().lower() == "attachment", f"Content-Disposition {header!r} is no attachment"
    found = dict(re.findall(r';\s*([A-Za-z*]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;"]+)', f";{rest}"))
    found = {key.lower(): value for key, value in found.items()}
    if "filename*" in found:
        charset, _, value = found["filename*"].split("'")
        return unquote(value, encoding=charset, errors="strict")
    value = found.get("filename", "")
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value


def check_tables_are_numbered(client):
    """POST answers 201 with the id; ids count up from 1."""
    for number in (1, 2, 3):
        response = client.post("/tables", json={"name": "Stock", "columns": COLUMNS, "rows": []})
        assert response.status_code == 201, f"a valid table was answered with {response.status_code}, expected 201"
        assert response.json() == {"id": number}, f"table number {number} was answered with {response.json()}"
    response = show(client, add(client, ["b", "a"], [], "x" * 100))
    assert response.json() == {"name": "x" * 100, "columns": ["b", "a"], "rows": []}, f"found {response.json()}"


def check_json_is_unchanged(client):
    """JSON has name, columns and rows exactly as they were stored."""
    rows = [["=1+1", -5, "-5"], ["a\r\nb", None, True], ['"', 2.5, "'x"], ["é", "", False]]
    number = add(client, ["=sum", "+", "né"], rows, "a/b\r\nc")
    for response in (show(client, number), show(client, number, JSON), show(client, number, CSV, "?format=json")):
        assert kind_of(response, "a table as JSON") == JSON
        expected = {"name": "a/b\r\nc", "columns": ["=sum", "+", "né"], "rows": rows}
        assert response.json() == expected, f"stored {expected}, got {response.json()}"


def check_csv_layout(client):
    """CSV has a header, CRLF after every record, and quotes where RFC 4180 wants them; it is UTF-8."""
    rows = [["a,b", 'say "hi"', "two\r\nlines"], ["one\nline", "", ","], ['""', "é €", "a;b"], [" x ", "b\rc", ""]]
    records = as_csv(client, ["first", "with,comma", 'with"quote'], rows)
    assert records == [["first", "with,comma", 'with"quote'], *rows], f"the records are {records}"
    assert as_csv(client, ["only", "header"], []) == [["only", "header"]]
    response = show(client, add(client), query="?format=csv")
    kind = response.headers["content-type"].lower().replace(" ", "").replace('"', "")
    assert "charset=utf-8" in kind.split(";"), f"the Content-Type {kind!r} does not name the charset utf-8"
    assert not response.content.startswith(b"\xef\xbb\xbf"), "the CSV begins with a byte order mark"


def check_values_in_csv(client):
    """Numbers, booleans and null in CSV."""
    values = [(7, "7"), (-5, "-5"), (0, "0"), (2.5, "2.5"), (-0.25, "-0.25"), (12345678901, "12345678901")]
    values += [(True, "true"), (False, "false"), (None, ""), ("", ""), ("None", "None"), ("true", "true"), ("0", "0")]
    fields_are(client, values)


def check_formulas_get_an_apostrophe(client):
    """Text with a dangerous first character gets an apostrophe in front and is otherwise unchanged."""
    texts = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\tx", "\rx", "\nx", "=", "+", "-", "@", "--5", "+-5", '="a,b"']
    fields_are(client, [(text, f"'{text}") for text in texts])


def check_other_text_is_unchanged(client):
    """Text that only contains such characters, or begins with an apostrophe, is unchanged."""
    texts = [
        "a=1",
        "1+1",
        "a-b",
        "me@site.test",
        "'=1",
        "'",
        " =1",
        "x\ty",
        "(-5)",
        "1",
        "3.5",
        "x\n=1",
        "%",
        "#",
        "–5",
    ]
    fields_are(client, [(text, text) for text in texts])


def check_numbers_in_text(client):
    """Text that is a decimal number stays unchanged; what only looks similar does not."""
    numbers = ["-5", "+3", "-0.5", "+3.20", "-007", "-12345678901234567890", "+0"]
    fields_are(client, [(text, text) for text in numbers])
    others = [
        "-5 ",
        "- 5",
        "-.5",
        "+5.",
        "-1e5",
        "-1_000",
        "-1,5",
        "+0x1F",
        "-5\n",
        "-inf",
        "-nan",
        "+٣",
        "-5%",
        "-1.2.3",
    ]
    fields_are(client, [(text, f"'{text}") for text in others])


def check_column_names_are_text_too(client):
    """The names of columns follow the rules of text."""
    columns = ["=1+1", "-5", "plain", "@x", "-x", "a,b", ""]
    records = as_csv(client, columns, [["x"] * 7])
    expected = ["'=1+1", "-5", "plain", "'@x", "'-x", "a,b", ""]
    assert records == [expected, ["x"] * 7], f"the columns {columns} became {records[0]}, expected {expected}"


def check_accept_chooses_the_format(client):
    """The most specific range decides about a type; the greater q wins, and JSON among equals."""
    number = add(client)
    for accept, expected in (
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        (JSON, JSON),
        (CSV, CSV),
        ("text/*", CSV),
        ("application/*", JSON),
        ("TEXT/CSV", CSV),
        (f"{CSV}, {JSON}", JSON),
        (f"{CSV}, {JSON};q=1.0", JSON),
        (f"{JSON};q=1, {CSV}", JSON),
        (f"{JSON};q=0.5, {CSV}", CSV),
        (f"{CSV};q=0.5, {JSON}", JSON),
        (f"{JSON};q=0.9,{CSV};q=0.95", CSV),
        (f"{JSON} ; q=0.09 , {CSV} ; q=0.1", CSV),
        (f"{CSV};q=0.2, */*;q=0.1", CSV),
        (f"{CSV};q=0.1, */*;q=0.2", JSON),
        (f"{JSON};q=0, */*", CSV),
        (f"{CSV};q=0, */*;q=0.1", JSON),
        ("application/*;q=0.4, text/*;q=0.6", CSV),
        (f"{JSON};q=0.3, application/*;q=0.9, {CSV};q=0.5", CSV),
        ("text/html, image/*, text/csv;q=0.1", CSV),
        ("text/html, application/xhtml+xml, */*;q=0.8", JSON),
        (f"{CSV};q=0.001", CSV),
    ):
        response = show(client, number, accept)
        found = kind_of(response, f"Accept: {accept}")
        assert found == expected, f"Accept: {accept} was answered with {found}, expected {expected}"
        vary = response.headers.get("vary", "").lower()
        assert "accept" in re.split(r"[,\s]+", vary), f"Accept: {accept} was answered with Vary {vary!r}"


def check_not_acceptable(client):
    """Where Accept allows neither format, the answer is 406 and names both."""
    number = add(client)
    expected = {"error": "not acceptable", "available": [JSON, CSV]}
    for accept in ("text/html", "image/*", "application/xml, text/plain", f"{CSV};q=0", "*/*;q=0", f"{JSON};q=0.000"):
        response = show(client, number, accept)
        is_error(response, 406, expected, f"Accept: {accept}")
        vary = response.headers.get("vary", "").lower()
        assert "accept" in re.split(r"[,\s]+", vary), f"406 for Accept: {accept} has Vary {vary!r}"


def check_format_overrides_accept(client):
    """?format= decides whatever Accept says; unknown formats are invalid."""
    number = add(client)
    for accept in (None, JSON, CSV, "text/html", "*/*;q=0"):
        for form, expected in (("json", JSON), ("csv", CSV)):
            found = kind_of(show(client, number, accept, f"?format={form}"), f"format={form} with Accept: {accept}")
            assert found == expected, f"format={form} with Accept: {accept} was answered with {found}"
    for form in ("xml", "", "CSV", "text/csv", "json,csv"):
        for accept in (None, "text/html"):
            is_error(show(client, number, accept, f"?format={form}"), 400, {"error": "invalid"}, f"format={form!r}")


def check_file_names(client):
    """CSV is a download that is named after the table."""
    for name, expected in (
        ("Stock", "Stock.csv"),
        ("S", "S.csv"),
        ("Stock 2024", "Stock 2024.csv"),
        ("Überblick €", "Überblick €.csv"),
        ('the "best"', 'the "best".csv'),
        ("a;b=c, 'd' 50%", "a;b=c, 'd' 50%.csv"),
        ("../etc/passwd", ".._etc_passwd.csv"),
        ("a\\b", "a_b.csv"),
        ("two\r\nlines\t\x00\x7f\x1f", "two__lines____.csv"),
        ("é" * 100, "é" * 100 + ".csv"),
    ):
        number = add(client, name=name)
        for response in (show(client, number, CSV), show(client, number, query="?format=csv")):
            assert kind_of(response, f"the table {name!r} as CSV") == CSV
            found = file_name(response)
            assert found == expected, f"the table {name!r} is downloaded as {found!r}, expected {expected!r}"


def check_invalid_tables(client):
    """Tables that are not as described are invalid, and nothing is stored."""
    good = {"name": "Stock", "columns": ["a", "b"], "rows": [["x", 1]]}
    changes = [
        {"name": ""},
        {"name": "x" * 101},
        {"name": 7},
        {"name": None},
        {"columns": [], "rows": []},
        {"columns": ["a", 1]},
    ]
    changes += [{"columns": "ab"}, {"columns": ["a"]}, {"rows": [["x"]]}, {"rows": [["x", 1, 2]]}, {"rows": ["ab"]}]
    changes += [
        {"columns": [], "rows": [[]]},
        {"rows": None},
        {"rows": [[]]},
        {"rows": [["x", []]]},
        {"rows": [["x", 1], [{}, 1]]},
        {"rows": {}},
    ]
    bodies = [good | change for change in changes] + [[], "table", {}]
    bodies += [{key: value for key, value in good.items() if key != left_out} for left_out in good]
    for body in bodies:
        is_error(client.post("/tables", json=body), 400, {"error": "invalid"}, f"the table {body}")
    for content in (b"", b"{", b"null"):
        response = client.post("/tables", content=content, headers={"Content-Type": JSON})
        is_error(response, 400, {"error": "invalid"}, f"the body {content!r}")
    assert client.post("/tables", json=good).json() == {"id": 1}, "after invalid tables the first id is not 1"


def check_unknown_tables(client):
    """Ids that do not exist are not found, whatever format is asked for."""
    add(client)
    for number, accept, query in ((2, None, ""), (0, CSV, ""), (99, "text/html", ""), (2, None, "?format=xml")):
        is_error(show(client, number, accept, query), 404, {"error": "not found"}, f"GET /tables/{number}{query}")


def check_other_methods(client):
    """Methods that a route does not have are 405."""
    add(client)
    for method, path in (("GET", "/tables"), ("POST", "/tables/1"), ("DELETE", "/tables/1"), ("PUT", "/tables")):
        status = client.request(method, path).status_code
        assert status == 405, f"{method} {path} answered {status}, expected 405"
