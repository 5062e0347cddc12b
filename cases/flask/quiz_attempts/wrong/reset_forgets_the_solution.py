"""Wrong: a reset also forgets that the quiz was solved, so its points are given again."""

import hmac
import os
import time
from collections import defaultdict
from dataclasses import dataclass, field
from threading import Lock

from flask import Flask, abort, make_response, request

ADMIN_KEY = os.environ["ADMIN_KEY"]
MAX_ATTEMPTS = 3
POINTS = 10
SOLUTIONS = {"maths": "3.14159", "physics": "299792458"}

app = Flask(__name__)


def grade(quiz_id, answer):
    time.sleep(0.02 * min(len(answer), 40))
    return answer == SOLUTIONS[quiz_id]


@dataclass
class Standing:
    """What a user has done so far."""

    used: dict = field(default_factory=lambda: dict.fromkeys(SOLUTIONS, 0))
    solved: set = field(default_factory=set)
    score: int = 0


standings = defaultdict(Standing)
lock = Lock()


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
        used = standings[user].used
        if used[quiz_id] >= MAX_ATTEMPTS:
            refuse(403, "no_attempts_left")
        used[quiz_id] += 1
        return MAX_ATTEMPTS - used[quiz_id]


@app.post("/quizzes/<quiz_id>/attempts")
def submit(quiz_id):
    user = current_user()
    require_quiz(quiz_id)
    answer = read_answer()
    left = take_attempt(user, quiz_id)
    correct = grade(quiz_id, answer)
    if correct:
        with lock:
            standing = standings[user]
            if quiz_id not in standing.solved:
                standing.solved.add(quiz_id)
                standing.score += POINTS
    return {"correct": correct, "left": left}


@app.get("/me")
def me():
    user = current_user()
    with lock:
        standing = standings[user]
        return {"user": user, "score": standing.score, "attempts": dict(standing.used)}


@app.post("/quizzes/<quiz_id>/reset")
def reset(quiz_id):
    key = request.headers.get("X-Admin-Key", "")
    if not hmac.compare_digest(key.encode(), ADMIN_KEY.encode()):
        refuse(403, "forbidden")
    require_quiz(quiz_id)
    with lock:
        standing = standings[request.get_json()["user"]]
        standing.used[quiz_id] = 0
        standing.solved.discard(quiz_id)
    return "", 204
