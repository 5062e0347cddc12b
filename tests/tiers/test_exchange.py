"""Requests and responses as short text."""

from __future__ import annotations

from pytest_webbench.tiers.exchange import Recorder, clip


def test_a_text_is_cut_at_the_limit_and_says_so():
    assert clip("x" * 100, 100) == "x" * 100
    cut = clip("x" * 1000, 100)
    assert len(cut) == 100
    assert cut.startswith("xx")
    assert cut.endswith("more characters)")


def test_the_beginning_of_a_body_is_kept_and_the_rest_counted():
    exchange = Recorder().begin("GET /", "GET / HTTP/1.1")
    exchange.status = "200 OK"
    for _ in range(3):
        exchange.receive(b"x" * 1000)
    assert exchange.received == 3000
    assert exchange.response.endswith("x" * 2048 + " ... (952 more bytes)")


def test_bytes_that_are_no_text_are_shown_as_escapes():
    exchange = Recorder().begin("GET /", "")
    exchange.receive(b"\xff\x00a")
    assert exchange.response.endswith("\\xff\x00a")


def test_what_could_move_a_terminals_cursor_is_escaped():
    assert clip("a\x1b[2Jb\r\x07\x9bc\td\n\ud800") == "a\\x1b[2Jb\\x0d\\x07\\x9bc\td\n\\ud800"


def test_the_last_exchange_is_shown_in_full_and_a_dozen_before_it_in_a_line_each():
    recorder = Recorder()
    assert (recorder.request, recorder.response, recorder.last) == ("", "", None)
    for number in range(20):
        recorder.begin(f"GET /{number}", f"full {number}").status = "200 OK"
    lines = recorder.request.splitlines()
    assert lines[0] == "GET /7 -> 200 OK"
    assert lines[-3:] == ["GET /18 -> 200 OK", "", "full 19"]
    assert recorder.last.request == "full 19"
