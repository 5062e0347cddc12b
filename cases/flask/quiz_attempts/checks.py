"""Hidden checks of flask/quiz_attempts."""

import time

RIGHT = {"maths": "3.14159", "physics": "299792458"}
ADMIN = {"X-Admin-Key": "open-sesame-7"}


def submit(client, user, quiz, answer):
    return client.post(f"/quizzes/{quiz}/attempts", json={"answer": answer}, headers={"X-User": user})


def reset(client, user, quiz):
    response = client.post(f"/quizzes/{quiz}/reset", json={"user": user}, headers=ADMIN)
    assert response.status_code == 204, f"a reset with the right key answered {response.status_code} instead of 204"
    return response


def answer(response, status=200):
    """Return the JSON body of a response that must have this status."""
    asked = f"{response.request.method} {response.request.url.path} {response.request.content.decode()}"
    assert response.status_code == status, f"{asked} answered {response.status_code} instead of {status}"
    kind = response.headers.get("content-type", "")
    assert kind.startswith("application/json"), f"{asked} answered {kind!r} instead of JSON"
    return response.json()


def refusal(response, status, error):
    body = answer(response, status)
    expected = {"error": error}
    assert body == expected, f"the {status} answer is {body!r} instead of {expected!r}"


def graded(response, correct, left):
    body = answer(response)
    assert body == {"correct": correct, "left": left}, f"got {body!r}, not correct={correct} with {left} left"


def standing(client, user, score, maths=0, physics=0):
    """Check what GET /me tells about a user."""
    body = answer(client.get("/me", headers={"X-User": user}))
    expected = {"user": user, "score": score, "attempts": {"maths": maths, "physics": physics}}
    assert body == expected, f"GET /me of {user} answered {body!r} instead of {expected!r}"


def check_new_user_has_nothing(client):
    """A name that was never seen is a user without points and without used attempts."""
    standing(client, "ann", 0)


def check_three_attempts_then_refusal(client):
    """Three answers are graded, `left` counts down to 0, and the fourth is refused with 403."""
    for left in (2, 1, 0):
        graded(submit(client, "ann", "maths", "3"), False, left)
    refusal(submit(client, "ann", "maths", "3"), 403, "no_attempts_left")
    refusal(submit(client, "ann", "maths", RIGHT["maths"]), 403, "no_attempts_left")
    standing(client, "ann", 0, maths=3)


def check_right_answer_scores_once(client):
    """The first right answer gives 10 points; a second one uses an attempt and gives none."""
    graded(submit(client, "ann", "maths", "3"), False, 2)
    graded(submit(client, "ann", "maths", RIGHT["maths"]), True, 1)
    standing(client, "ann", 10, maths=2)
    graded(submit(client, "ann", "maths", RIGHT["maths"]), True, 0)
    standing(client, "ann", 10, maths=3)


def check_quizzes_and_users_are_counted_apart(client):
    """Attempts count per user and per quiz; points of both quizzes add up."""
    for _ in range(3):
        submit(client, "ann", "maths", "3")
    graded(submit(client, "ann", "physics", RIGHT["physics"]), True, 2)
    graded(submit(client, "bob", "maths", RIGHT["maths"]), True, 2)
    graded(submit(client, "bob", "physics", RIGHT["physics"]), True, 2)
    standing(client, "ann", 10, maths=3, physics=1)
    standing(client, "bob", 20, maths=1, physics=1)


def check_parallel_wrong_answers_use_three_attempts(client, parallel):
    """Of 25 answers sent at the same time three are graded, with 2, 1 and 0 left; 22 are refused."""
    responses = parallel([lambda: submit(client, "ann", "maths", "3.14158 or so")] * 25)
    left = sorted(answer(response)["left"] for response in responses if response.status_code == 200)
    assert left == [0, 1, 2], f"of 25 answers at the same time {len(left)} were graded, with {left} left"
    for response in responses:
        if response.status_code != 200:
            refusal(response, 403, "no_attempts_left")
    standing(client, "ann", 0, maths=3)


def check_parallel_right_answers_score_once(client, parallel):
    """Right answers sent at the same time use three attempts and give 10 points together."""
    responses = parallel([lambda: submit(client, "ann", "physics", RIGHT["physics"])] * 8)
    statuses = sorted(response.status_code for response in responses)
    assert statuses == [200] * 3 + [403] * 5, f"8 right answers at the same time answered {statuses}"
    standing(client, "ann", 10, physics=3)


def check_other_users_do_not_wait(client, parallel):
    """While a long answer is being graded, another user's requests are answered."""

    def slow():
        graded(submit(client, "ann", "maths", "a" * 80), False, 2)
        return time.monotonic()

    def quick():
        for _ in range(5):
            standing(client, "bob", 0)
        graded(submit(client, "bob", "maths", "3"), False, 2)
        standing(client, "bob", 0, maths=1)
        return time.monotonic()

    ann, bob = parallel([slow, quick])
    assert bob < ann, "bob's short answer, to the same quiz, was held up until ann's long one had been graded"


def check_reset_gives_new_attempts(client):
    """A reset answers 204 and gives one user three new attempts at one quiz."""
    for user, quiz in (("ann", "maths"), ("ann", "physics"), ("bob", "maths")):
        for _ in range(3):
            submit(client, user, quiz, "3")
    response = reset(client, "ann", "maths")
    assert response.content == b"", f"a 204 answer has no body, got {response.content!r}"
    standing(client, "ann", 0, maths=0, physics=3)
    standing(client, "bob", 0, maths=3)
    for left in (2, 1, 0):
        graded(submit(client, "ann", "maths", "3"), False, left)
    refusal(submit(client, "ann", "maths", "3"), 403, "no_attempts_left")


def check_parallel_resets_give_three_attempts(client, parallel):
    """Resets sent at the same time give three new attempts, as one reset does."""
    for _ in range(3):
        submit(client, "ann", "maths", "3")
    parallel([lambda: reset(client, "ann", "maths")] * 6)
    standing(client, "ann", 0)
    for left in (2, 1, 0):
        graded(submit(client, "ann", "maths", "3"), False, left)
    refusal(submit(client, "ann", "maths", "3"), 403, "no_attempts_left")


def check_reset_keeps_the_score(client):
    """A reset leaves the score as it is, and the quiz gives no points for a second time."""
    submit(client, "ann", "maths", RIGHT["maths"])
    reset(client, "ann", "maths")
    standing(client, "ann", 10)
    graded(submit(client, "ann", "maths", RIGHT["maths"]), True, 2)
    standing(client, "ann", 10, maths=1)


def check_reset_needs_the_admin_key(client):
    """Without the key, or with another one, a reset answers 403 and changes nothing."""
    submit(client, "ann", "maths", "3")
    for headers in ({}, {"X-Admin-Key": "open-sesame"}, {"X-Admin-Key": ""}):
        refusal(client.post("/quizzes/maths/reset", json={"user": "ann"}, headers=headers), 403, "forbidden")
    standing(client, "ann", 0, maths=1)


def check_requests_without_a_user_are_refused(client):
    """Without X-User, or with an empty one, submitting and GET /me answer 401."""
    for headers in ({}, {"X-User": ""}):
        refusal(client.get("/me", headers=headers), 401, "unauthorized")
        response = client.post("/quizzes/maths/attempts", json={"answer": "3"}, headers=headers)
        refusal(response, 401, "unauthorized")


def check_unknown_quiz_is_not_found(client):
    """An unknown quiz answers 404, for submitting as for a reset."""
    refusal(submit(client, "ann", "history", "1789"), 404, "unknown_quiz")
    refusal(client.post("/quizzes/history/reset", json={"user": "ann"}, headers=ADMIN), 404, "unknown_quiz")
    standing(client, "ann", 0)


def check_invalid_answers_use_no_attempt(client):
    """An answer that is missing, empty or no string answers 400 and uses no attempt."""
    for body in ({}, {"answer": ""}, {"answer": None}, {"answer": 3.14159}, {"answer": ["3.14159"]}):
        response = client.post("/quizzes/maths/attempts", json=body, headers={"X-User": "ann"})
        refusal(response, 400, "invalid_answer")
    for content in (b"{", b"", b"[]", b"null", b'"3"'):
        headers = {"X-User": "ann", "Content-Type": "application/json"}
        refusal(client.post("/quizzes/maths/attempts", content=content, headers=headers), 400, "invalid_answer")
    standing(client, "ann", 0)
