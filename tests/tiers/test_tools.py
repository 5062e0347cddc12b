"""The tools that checks ask for by name."""

from __future__ import annotations

import socket
import threading
import time
from textwrap import dedent

import pytest
from websockets.sync.server import unix_serve

from pytest_webbench.tiers.client import BODY_LIMIT, ENCODED_LIMIT, Deadline
from pytest_webbench.tiers.results import Deadlines
from pytest_webbench.tiers.tools import Toolbox

APP = """
import gzip, json, os, time
from http.cookies import SimpleCookie

started = time.time()

def app(environ, start_response):
    path = environ["PATH_INFO"]
    headers = [("Content-Type", "application/json")]
    if path == "/login":
        headers.append(("Set-Cookie", "sid=" + environ["QUERY_STRING"] + "; Secure; HttpOnly; Path=/"))
        body = b"{}"
    elif path == "/moved":
        start_response("302 Found", [("Location", "http://elsewhere.test/secret")])
        return [b""]
    elif path == "/headers":
        body = json.dumps({k: v for k, v in environ.items() if k.startswith("HTTP_")}).encode()
    elif path == "/pid":
        with open("starts", "a") as file:
            file.write("x")
        body = json.dumps([os.getpid(), open("starts").read()]).encode()
    elif path == "/nan":
        body = b'{"average": NaN}'
    elif path == "/big":
        body = b"x" * int(environ["QUERY_STRING"])
    elif path == "/bomb":
        headers.append(("Content-Encoding", environ["QUERY_STRING"]))
        body = gzip.compress(b"0" * 200_000_000) if environ["QUERY_STRING"] == "gzip" else b"x"
    elif path == "/zipped":
        headers.append(("Content-Encoding", "gzip"))
        body = gzip.compress(b'{"a": 1}')
    elif path == "/drip":
        start_response("200 OK", headers)
        return (time.sleep(0.05) or b"x" for _ in range(10_000))
    elif path == "/sleep":
        time.sleep(0.3)
        body = json.dumps(time.time()).encode()
    else:
        body = b"{}"
    start_response("200 OK", headers)
    return [body]
"""


def passes(case, judge, check, app=APP, **options):
    (result,) = judge(case(dedent(check)), app, **options).checks
    assert result.passed, result.message


def fails(case, judge, check, app=APP, **options):
    (result,) = judge(case(dedent(check)), app, **options).checks
    assert result.passed is False
    return result


def test_the_client_does_not_follow_redirects_unless_asked(case, judge):
    passes(
        case,
        judge,
        """
        def check_it(client):
            assert client.get("/moved").status_code == 302
            assert client.get("/moved", follow_redirects=True).url.host == "elsewhere.test"
        """,
    )


def test_the_client_looks_like_a_browser_and_names_no_tool(case, judge):
    passes(
        case,
        judge,
        """
        def check_it(client, new_client):
            headers = client.get("/headers").json()
            assert headers == new_client().get("/headers").json()
            assert headers["HTTP_HOST"] == "127.0.0.1:5000"
            assert headers["HTTP_ACCEPT_ENCODING"] == "identity"
            text = str(headers).lower()
            assert not any(word in text for word in ("httpx", "python", "webbench", "pytest", "check"))
        """,
    )


def test_each_client_has_its_own_cookies_and_secure_ones_work(case, judge):
    passes(
        case,
        judge,
        """
        def check_it(client, new_client):
            other = new_client()
            client.get("/login?ada")
            other.get("/login?bob")
            assert client.get("/headers").json()["HTTP_COOKIE"] == "sid=ada"
            assert other.get("/headers").json()["HTTP_COOKIE"] == "sid=bob"
            assert "HTTP_COOKIE" not in new_client().get("/headers").json()
        """,
    )


def test_nan_is_no_json(case, judge):
    result = fails(case, judge, "def check_it(client):\n    client.get('/nan').json()")
    assert "NaN is not JSON" in result.message


def test_a_body_within_the_limit_arrives_and_one_beyond_it_does_not(case, judge):
    passes(
        case,
        judge,
        f"def check_it(client):\n    assert len(client.get('/big?{BODY_LIMIT}').content) == {BODY_LIMIT}",
    )
    result = fails(case, judge, f"def check_it(client):\n    client.get('/big?{BODY_LIMIT + 1}')")
    assert "ResponseTooLarge" in result.message


def test_small_compressed_bodies_are_read_and_bombs_are_not(case, judge):
    passes(case, judge, "def check_it(client):\n    assert client.get('/zipped').json() == {'a': 1}")
    result = fails(case, judge, "def check_it(client):\n    client.get('/bomb?gzip')")
    assert f"more than {ENCODED_LIMIT} bytes" in result.message
    for encoding in ("br", "gzip,gzip"):
        assert "is not read" in fails(case, judge, f"def check_it(client):\n    client.get('/bomb?{encoding}')").message


def test_a_streamed_answer_is_seen_as_it_arrives(case, judge):
    passes(
        case,
        judge,
        """
        def check_it(client):
            with client.stream("GET", "/drip") as response:
                assert next(response.iter_raw()) == b"x"
        """,
    )


def test_a_dripping_body_ends_with_the_deadline_of_the_check(case, judge):
    deadlines = Deadlines(start=5, check=0.5, request=5)
    result = fails(case, judge, "def check_it(client):\n    client.get('/drip')", deadlines=deadlines)
    assert result.failure_class == "timeout"
    assert result.seconds < 5


def test_parallel_calls_overlap_and_return_in_order(case, judge):
    passes(
        case,
        judge,
        """
        def check_it(client, parallel):
            ends = parallel([lambda: client.get("/sleep").json()] * 8)
            assert max(ends) - min(ends) < 0.25
            assert parallel([lambda n=n: n for n in range(5)]) == [0, 1, 2, 3, 4]
        """,
    )


def test_a_failing_parallel_call_fails_the_check(case, judge):
    result = fails(
        case,
        judge,
        """
        def check_it(client, parallel):
            def status():
                assert client.get("/").status_code == 409
            parallel([status, status])
        """,
    )
    assert "assert 200 == 409" in result.message


def test_raw_bytes_go_out_and_come_in_unchanged(case, judge):
    passes(
        case,
        judge,
        """
        def check_it(raw):
            answer = raw(b"GET /headers HTTP/1.1\\r\\nX-Odd: \\xff\\r\\nConnection: close\\r\\n\\r\\n")
            assert answer.startswith(b"HTTP/1.0 200 OK\\r\\n")
            assert b"HTTP_X_ODD" in answer
        """,
    )


def test_raw_returns_what_came_when_its_time_is_up(case, judge):
    passes(
        case,
        judge,
        """
        import time

        def check_it(raw):
            started = time.monotonic()
            answer = raw(b"GET /drip HTTP/1.0\\r\\n\\r\\n", timeout=0.4)
            assert b"xx" in answer
            assert time.monotonic() - started < 3
        """,
    )


def test_raw_refuses_an_endless_answer(case, judge):
    result = fails(case, judge, "def check_it(raw):\n    raw(b'GET /big?2000000 HTTP/1.0\\r\\n\\r\\n')")
    assert "ResponseTooLarge" in result.message


def test_restart_keeps_the_folder_and_changes_the_process(case, judge):
    passes(
        case,
        judge,
        """
        def check_it(client, restart):
            first, visits = client.get("/pid").json()
            assert visits == "x"
            restart()
            second, visits = client.get("/pid").json()
            assert visits == "xx"
            assert first != second
        """,
    )


def test_an_app_that_does_not_come_back_fails_the_check(case, judge):
    app = """
    import os
    if os.path.exists("once"):
        raise RuntimeError("no second time")
    open("once", "w").close()
    def app(environ, start_response):
        start_response("200 OK", [])
        return []
    """
    result = fails(case, judge, "def check_it(restart):\n    restart()", app)
    assert "after a restart the app does not start" in result.message


@pytest.fixture
def websocket_server(tmp_path_factory):
    path = tmp_path_factory.mktemp("ws", numbered=True) / "s"

    def answer(connection):
        for message in connection:
            connection.send(message[::-1])

    def only_ws(connection, request):
        wanted = request.path == "/ws" and request.headers.get("X-Token") == "t"
        return None if wanted else connection.respond(403, "no")

    with unix_serve(answer, str(path), process_request=only_ws) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield path
        server.shutdown()
        thread.join()


class Served:
    """An instance of which only the socket matters."""

    def __init__(self, path):
        self.socket_path = path


def test_a_websocket_talks_and_a_refusal_shows_its_status(websocket_server):
    from websockets.exceptions import InvalidStatus

    with Toolbox(Served(websocket_server), Deadline(5), 5, 5) as tools:
        connection = tools.websocket("/ws", headers={"X-Token": "t"})
        connection.send("abc")
        assert connection.recv(timeout=5) == "cba"
        with pytest.raises(InvalidStatus) as refusal:
            tools.websocket("/ws", headers={"X-Token": "other"})
        assert refusal.value.response.status_code == 403
        assert tools.recorder.request.startswith("WEBSOCKET /ws -> 101 Switching Protocols")


def test_raw_ends_with_the_check_even_if_it_would_wait_longer(tmp_path_factory):
    path = tmp_path_factory.mktemp("silent", numbered=True) / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        with Toolbox(Served(path), Deadline(0.3), 5, 5) as tools:
            started = time.monotonic()
            assert tools.raw(b"hello", timeout=60) == b""
            assert time.monotonic() - started < 30
