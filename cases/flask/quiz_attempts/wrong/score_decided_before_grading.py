"""Wrong: whether the quiz is solved is read before the grading, so a burst of right answers scores thrice."""

import hmac
import os
import time
from collections import defaultdict
from threading import Lock

from flask import Flask, abort, make_response, request

ADMIN_KEY = os.environ["ADMIN_KEY"]
MAX_ATTEMPTS = 3
POINTS = 10
SOLUTIONS = {"maths": "3.14159", "physics": "299792458"}
NUMBERS = defaultdict(int)

app = Flask(__name__)
lock = Lock()


def grade(quiz_id, answer):
    time.sleep(0.01 * min(len(answer), 80))
    return answer == SOLUTIONS[quiz_id]


def read(key):
    time.sleep(0.002)
    return NUMBERS[key]


def add(key, number):
    time.sleep(0.01)
    NUMBERS[key] += number


def refuse(status, error):
    abort(make_response({"error": error}, status))


def current_user():
    user = request.headers.get("X-User")
    if not user:
        refuse(401, "unauthorized")
    return user


def require_quiz(quiz_id):
    if quiz_id not in SOLUTIONS:
        refuse(404, "unknown_quiz")


def read_answer():
    body = request.get_json(silent=True)
    answer = body.get("answer") if isinstance(body, dict) else None
    if not isinstance(answer, str) or not answer:
        refuse(400, "invalid_answer")
    return answer


def take_attempt(user, quiz_id):
    """Use one attempt before the answer is graded and return how many are left."""
    with lock:
        used = read(("attempts", user, quiz_id))
        if used >= MAX_ATTEMPTS:
            refuse(403, "no_attempts_left")
        add(("attempts", user, quiz_id), 1)
    return MAX_ATTEMPTS - used - 1


@app.post("/quizzes/<quiz_id>/attempts")
def submit(quiz_id):
    user = current_user()
    require_quiz(quiz_id)
    answer = read_answer()
    left = take_attempt(user, quiz_id)
    already_solved = read(("solved", user, quiz_id))
    correct = grade(quiz_id, answer)
    if correct and not already_solved:
        with lock:
            add(("score", user), POINTS)
            add(("solved", user, quiz_id), 1)
    return {"correct": correct, "left": left}


@app.get("/me")
def me():
    user = current_user()
    attempts = {quiz_id: read(("attempts", user, quiz_id)) for quiz_id in SOLUTIONS}
    return {"user": user, "score": read(("score", user)), "attempts": attempts}


@app.post("/quizzes/<quiz_id>/reset")
def reset(quiz_id):
    key = request.headers.get("X-Admin-Key", "")
    if not hmac.compare_digest(key.encode(), ADMIN_KEY.encode()):
        refuse(403, "forbidden")
    require_quiz(quiz_id)
    attempts = "attempts", request.get_json()["user"], quiz_id
    with lock:
        add(attempts, -read(attempts))
    return "", 204
