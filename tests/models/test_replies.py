"""Readings of provider bodies: the answer, why it ended, what it cost; never a crash on a null."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_webbench.extraction import extract_code
from pytest_webbench.models.replies import Reply, all_choices, from_chat_completion, from_generate_content
from pytest_webbench.tiers import syntax

ITEMS = {
    item["id"]: item
    for line in (Path(__file__).parent / "data" / "kind_b_bodies.jsonl").open(encoding="utf-8")
    if (item := json.loads(line))
}


def body_of(item_id: str, number: int = 0):
    return ITEMS[item_id]["input"]["responses"][number]["json"]


def chat(message=None, finish_reason="stop", **more):
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish_reason}], **more}


class TestChatCompletions:
    def test_text_finish_usage_and_model_are_read(self):
        usage = {"prompt_tokens": 20, "completion_tokens": 8, "total_tokens": 28}
        reply = from_chat_completion(chat({"role": "assistant", "content": "hi"}, usage=usage, model="m-1"))
        assert reply == Reply("hi", "stop", input_tokens=20, output_tokens=8, model="m-1")

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"choices": None},
            {"choices": []},
            {"choices": [None]},
            {"choices": "none"},
            {"choices": None, "error": None},
            {"choices": None, "error": "overloaded"},
        ],
    )
    def test_a_body_without_choices_is_an_error_in_clear_words(self, body):
        with pytest.raises(ValueError, match=r"^no choices: "):
            from_chat_completion(body)

    @pytest.mark.parametrize("item_id", ["B027", "B028"])
    def test_the_error_names_what_the_server_said(self, item_id):
        body = body_of(item_id)
        with pytest.raises(ValueError, match=body["error"]["message"]):
            from_chat_completion(body)

    @pytest.mark.parametrize(
        "body",
        [
            chat(None),
            chat({}),
            chat({"content": None}, usage=None, model=None),
            chat({"content": []}),
            chat({"content": [None, 3, {"type": "text"}, {"type": "text", "text": None}]}),
            chat({"content": None, "tool_calls": None, "refusal": None, "function_call": None}),
            {"choices": [{}]},
        ],
    )
    def test_null_and_missing_fields_are_unknown(self, body):
        reply = from_chat_completion(body)
        assert (reply.text, reply.refusal, reply.blocked, reply.input_tokens, reply.flags) == (
            None,
            False,
            None,
            None,
            (),
        )

    @pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
    def test_reasoning_fields_are_never_the_answer(self, field):
        assert from_chat_completion(chat({"content": None, field: "```python\nx = 1\n```"}, "length")) == Reply(
            None, "length"
        )

    def test_text_parts_are_joined_without_separator_and_without_thinking(self):
        content = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "x"}]},
            {"type": "reasoning", "text": "hm"},
            {"type": "text", "text": "a"},
            "b",
            {"type": "output_text", "text": "c"},
            {"type": "image_url", "image_url": {}},
        ]
        assert from_chat_completion(chat({"content": content})).text == "abc"

    def test_a_legacy_completion_holds_its_text_beside_the_message(self):
        assert from_chat_completion({"choices": [{"text": "hi", "finish_reason": "stop"}]}).text == "hi"

    @pytest.mark.parametrize(
        ("said", "read"),
        [
            ("STOP", "stop"),
            ("eos", "stop"),
            ("end_turn", "stop"),
            ("max_tokens", "length"),
            ("model_length", "length"),
            ("function_call", "tool_calls"),
            ("something_new", "something_new"),
            (None, None),
            ("", None),
        ],
    )
    def test_finish_reasons_are_put_into_the_same_words(self, said, read):
        assert from_chat_completion(chat({"content": "x"}, said)).finish_reason == read

    @pytest.mark.parametrize(
        "body",
        [
            chat({"content": None, "refusal": "I cannot."}),
            chat({"content": None}, "refusal"),
            chat({"content": [{"type": "refusal", "refusal": "I cannot."}]}),
        ],
    )
    def test_a_declared_refusal_is_read(self, body):
        reply = from_chat_completion(body)
        assert (reply.text, reply.refusal, reply.blocked) == (None, True, None)

    @pytest.mark.parametrize(
        "body",
        [
            chat({"content": None, "tool_calls": [{"id": "c1"}]}, "tool_calls"),
            chat({"content": None, "tool_calls": [{"id": "c1"}]}, "stop"),
            chat({"content": None, "function_call": {"name": "f"}}, "function_call"),
        ],
    )
    def test_a_tool_call_is_flagged_and_its_arguments_are_no_answer(self, body):
        reply = from_chat_completion(body)
        assert (reply.text, reply.flags) == (None, ("tool_call_reply",))

    @pytest.mark.parametrize("item_id", ["B030", "B031"])
    def test_a_filtered_answer_is_blocked_and_keeps_its_partial_text(self, item_id):
        body = body_of(item_id)
        reply = from_chat_completion(body)
        assert reply.blocked == "content_filter"
        assert reply.text == body["choices"][0]["message"]["content"]

    def test_choices_out_of_order_are_sorted_by_index(self):
        assert [reply.text for reply in all_choices(body_of("B039"))] == ["a", "b", "c"]
        assert from_chat_completion(body_of("B039")).text == "a"

    def test_every_choice_is_returned_even_more_than_asked(self):
        assert [reply.text for reply in all_choices(body_of("B040"))] == ["a", "b", "c"]

    def test_choices_without_index_keep_their_order(self):
        body = {"choices": [{"index": None, "message": {"content": text}} for text in "ab"]}
        assert [reply.text for reply in all_choices(body)] == ["a", "b"]

    def test_the_tokens_of_several_choices_add_up_to_the_request(self):
        usage = {"prompt_tokens": 5, "completion_tokens": 30}
        body = {"choices": [{"index": n, "message": {"content": "x"}} for n in range(3)], "usage": usage}
        replies = all_choices(body)
        assert [reply.input_tokens for reply in replies] == [5, None, None]
        assert [reply.output_tokens for reply in replies] == [30, None, None]

    def test_usage_with_null_details_is_read(self):
        reply = from_chat_completion(body_of("B042"))
        assert reply.input_tokens + reply.output_tokens == ITEMS["B042"]["expected"]["tokens"]

    def test_blank_text_stays_what_it_is(self):
        assert from_chat_completion(ITEMS["B054"]["input"]["runs"][0]["responses"][0]["json"]).text == "  \n"

    def test_the_served_model_is_reported(self):
        assert from_chat_completion(body_of("B057")).model == "coder-2026-05-01"

    def test_a_reply_cut_by_the_token_limit_is_truncated(self):
        reply = from_chat_completion(body_of("B033"))
        assert extract_code(reply.text, "flask", reply.finish_reason).failure_class == "truncated"

    def test_a_reply_that_fills_the_window_is_suspected_of_an_unsaid_cut(self):
        reply = from_chat_completion(body_of("B034"))
        code = extract_code(reply.text, "flask", reply.finish_reason)
        assert reply.flags == ("truncation_suspected",)
        assert code.failure_class is None
        assert not syntax.check(code.text).passed

    @pytest.mark.parametrize(("total", "finish"), [(4095, "stop"), (512, "stop"), (4096, "length"), (None, "stop")])
    def test_other_totals_are_not_suspected(self, total, finish):
        assert from_chat_completion(chat({"content": "x"}, finish, usage={"total_tokens": total})).flags == ()


class TestGenerateContent:
    def test_answer_parts_are_joined_without_thoughts(self):
        parts = [{"text": "draft", "thought": True}, {"text": "a"}, {"inlineData": {}}, {"text": "b"}]
        body = {
            "candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 5, "thoughtsTokenCount": 3},
            "modelVersion": "gemini-x",
        }
        assert from_generate_content(body) == Reply("ab", "stop", input_tokens=7, output_tokens=8, model="gemini-x")

    def test_the_sdk_s_snake_case_and_numbers_are_read_alike(self):
        body = {
            "candidates": [{"content": {"parts": [{"text": "a"}]}, "finish_reason": 2, "index": 0}],
            "usage_metadata": {"prompt_token_count": 7, "candidates_token_count": 5},
            "model_version": "gemini-x",
        }
        assert from_generate_content(body) == Reply("a", "length", input_tokens=7, output_tokens=5, model="gemini-x")

    @pytest.mark.parametrize(
        ("said", "blocked"),
        [
            ("SAFETY", "safety"),
            ("RECITATION", "recitation"),
            ("PROHIBITED_CONTENT", "prohibited_content"),
            ("BLOCKLIST", "blocklist"),
            (3, "safety"),
            (4, "recitation"),
            ("STOP", None),
            ("MAX_TOKENS", None),
            ("OTHER", None),
            (99, None),
            (None, None),
        ],
    )
    def test_a_blocked_candidate_is_named(self, said, blocked):
        assert from_generate_content({"candidates": [{"finishReason": said}]}).blocked == blocked

    @pytest.mark.parametrize(
        "body",
        [
            {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}},
            {"promptFeedback": {"blockReason": "SAFETY"}, "candidates": []},
            {"prompt_feedback": {"block_reason": 1}, "candidates": None},
        ],
    )
    def test_a_blocked_prompt_is_told_from_an_empty_body(self, body):
        assert from_generate_content(body) == Reply(None, blocked="prompt_blocked")

    @pytest.mark.parametrize("body", [{}, {"candidates": None}, {"promptFeedback": None}, {"promptFeedback": {}}])
    def test_a_body_without_candidates_is_an_error(self, body):
        with pytest.raises(ValueError, match=r"^no choices: "):
            from_generate_content(body)

    @pytest.mark.parametrize(
        "candidate",
        [
            {"content": None, "finishReason": "MAX_TOKENS"},
            {"content": {"role": "model"}, "finishReason": "MAX_TOKENS"},
            {"content": {"parts": None}, "finishReason": "MAX_TOKENS"},
            {"content": {"parts": [{}, {"text": None}]}, "finishReason": "MAX_TOKENS"},
        ],
    )
    def test_a_candidate_without_text_that_used_up_its_tokens_is_truncated(self, candidate):
        reply = from_generate_content({"candidates": [candidate]})
        assert reply == Reply(None, "length")
        assert extract_code(reply.text, "flask", reply.finish_reason).failure_class == "truncated"

    def test_a_function_call_is_flagged(self):
        parts = [{"functionCall": {"name": "write", "args": {}}}]
        assert from_generate_content({"candidates": [{"content": {"parts": parts}}]}).flags == ("tool_call_reply",)
