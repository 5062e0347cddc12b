"""Several samples from one request: one of them asks, the others wait, nobody is left waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loopback import Loopback, Scripted, Seen, completion, error

Make = Callable[..., Any]


def choices(seen: Seen) -> Scripted:
    texts = [f"text {number}" for number in range(seen.body.get("n", 1))]
    return completion(
        choices=[
            {"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            for index, text in enumerate(texts)
        ]
    )


def results(fetcher: Any, requests: list[Any]) -> list[Any]:
    fetcher.prefetch([("m", request) for request in requests])
    return [fetcher.submit("m", request) for request in requests]


def test_samples_of_one_prompt_share_a_request_and_others_do_not(fetching: Make, ask: Make) -> None:
    requests = [ask(sample, prompt=prompt) for prompt in ("a", "b") for sample in range(4)]
    with Loopback(answer=choices) as server:
        fetcher = fetching(server, plan={"n_per_request": 3})
        texts = [future.result(20).completion.text for future in results(fetcher, requests)]
        assert sorted(body.get("n", 1) for body in server.bodies) == [1, 1, 3, 3]
        assert fetcher.progress().sent == 4
        assert fetcher.progress().done == 8
    assert sorted(texts) == ["text 0"] * 4 + ["text 1"] * 2 + ["text 2"] * 2


def test_a_retried_request_still_asks_for_all(fetching: Make, ask: Make) -> None:
    with Loopback([error(500, "down")], answer=choices) as server:
        fetcher = fetching(server, plan={"n_per_request": 4})
        for future in results(fetcher, [ask(sample) for sample in range(4)]):
            assert future.result(20).completion.text
        assert [body.get("n") for body in server.bodies] == [4, 4]


def test_those_whose_asker_failed_ask_themselves(fetching: Make, ask: Make) -> None:
    with Loopback([error(500, "down")], answer=choices) as server:
        fetcher = fetching(server, plan={"n_per_request": 4, "retries": 0})
        failed = [future.exception(20) is not None for future in results(fetcher, [ask(sample) for sample in range(4)])]
        assert [body.get("n") for body in server.bodies] == [4, 3]
    assert sum(failed) == 1


def test_a_server_that_refuses_several_is_asked_one_by_one(fetching: Make, ask: Make) -> None:
    def one_only(seen: Seen) -> Scripted:
        return error(400, "'n' is not supported", param="n") if "n" in seen.body else choices(seen)

    with Loopback(answer=one_only) as server:
        fetcher = fetching(server, plan={"n_per_request": 3})
        for future in results(fetcher, [ask(sample) for sample in range(3)]):
            assert future.result(20).completion.text == "text 0"
        assert len(server.log) == 4


def test_max_retries_of_the_model_take_the_place_of_the_policys(fetching: Make, ask: Make) -> None:
    with Loopback(answer=lambda seen: error(500, "down")) as server:
        assert fetching(server, plan={"retries": 1}).submit("m", ask()).exception(20) is not None
        assert len(server.log) == 2
