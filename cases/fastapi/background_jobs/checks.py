"""Hidden checks: jobs run beside the requests, are shared, waited for, and deleted."""

import time


def post(client, text, seconds):
    """Order a rendering and return the path of the job."""
    response = client.post("/jobs", json={"text": text, "seconds": seconds})
    what = f"POST /jobs with {text!r} and {seconds} seconds"
    assert response.status_code == 202, f"{what} answered {response.status_code}, expected 202"
    answer = response.json()
    assert set(answer) == {"token"}, f"{what} answered {answer}, expected a token"
    expected = f"/jobs/{answer['token']}"
    location = response.headers.get("location")
    assert location == expected, f"{what} has the Location {location}, expected {expected}"
    return expected


def get(client, path, wait=None):
    return client.get(path, params={} if wait is None else {"wait": wait})


def answers(response, status, expected):
    what = f"{response.request.method} of a job ({response.request.url.query.decode()})"
    assert response.status_code == status, f"{what} answered {response.status_code}, expected {status}"
    assert response.json() == expected, f"{what} answered {response.json()}, expected {expected}"


def is_pending(response):
    answers(response, 200, {"status": "pending"})
    retry = response.headers.get("retry-after")
    assert retry == "1", f"a pending answer has Retry-After {retry}, expected 1"


def is_done(response, result):
    answers(response, 200, {"status": "done", "result": result})
    assert "retry-after" not in response.headers, "the answer of a finished job has Retry-After"


def status_is(response, status, what):
    assert response.status_code == status, f"{what} answered {response.status_code}, expected {status}"


def started_is(client, count):
    found = client.get("/stats").json()
    assert found == {"started": count}, f"GET /stats answered {found}, expected {count} started jobs"


def timed(call):
    """Return what the call returns, and how many seconds it took."""
    begin = time.monotonic()
    return call(), time.monotonic() - begin


def check_job_is_done(client):
    """The result of a job can be read as often as one likes."""
    started_is(client, 0)
    path = post(client, "abc", 0.1)
    for _ in range(3):
        is_done(get(client, path, 2), "ABC")
    is_done(get(client, path), "ABC")
    other = post(client, "x" * 100, 0)
    is_done(get(client, other, 2), "X" * 100)
    is_done(get(client, path), "ABC")
    started_is(client, 2)


def check_orders_and_requests_are_answered_meanwhile(client):
    """While jobs run, POST, GET and /ping are answered."""
    paths = [post(client, text, 2) for text in ("a", "b")]
    response = client.get("/ping")
    answers(response, 200, {"pong": True})
    for path in paths:
        is_pending(get(client, path))
        is_pending(get(client, path, 0))


def check_waiting_ends_with_the_job(client):
    """With wait the answer comes as soon as the job has finished."""
    path = post(client, "abc", 0.2)
    response, seconds = timed(lambda: get(client, path, 2))
    is_done(response, "ABC")
    assert seconds < 1.6, f"a job of 0.2 seconds was waited for {seconds:.1f} seconds"


def check_waiting_ends_after_the_time(client):
    """If the job takes longer than the wait, the answer is pending, after that time."""
    path = post(client, "abc", 2)
    response, seconds = timed(lambda: get(client, path, 0.3))
    is_pending(response)
    assert seconds > 0.28, f"with wait=0.3 the answer came after {seconds:.2f} seconds"


def check_waiting_holds_up_nobody(client, new_client, parallel):
    """While some wait for a job, others are answered."""
    path = post(client, "abc", 2)
    waiters = [new_client() for _ in range(3)]
    ends = {}

    def wait(number):
        response = get(waiters[number], path, 0.7)
        ends[number] = time.monotonic()
        return response

    def ping():
        time.sleep(0.1)
        client.get("/ping")
        ends["ping"] = time.monotonic()

    *responses, _ = parallel([lambda n=n: wait(n) for n in range(3)] + [ping])
    for response in responses:
        is_pending(response)
    assert ends.pop("ping") < min(ends.values()), "/ping was not answered before the waits had ended"


def check_four_jobs_side_by_side(client):
    """A short job does not wait for three long ones."""
    for text in ("a", "b", "c"):
        post(client, text, 2)
    response = get(client, post(client, "short", 0.1), 1.5)
    assert response.json()["status"] == "done", "a job of 0.1 seconds beside three of 2 is not done after 1.5 seconds"


def check_several_may_wait(client, new_client, parallel):
    """All who wait for a job get its result."""
    path = post(client, "abc", 0.3)
    clients = [new_client() for _ in range(3)]
    for response in parallel([lambda c=c: get(c, path, 2) for c in clients]):
        is_done(response, "ABC")


def check_failed_job(client):
    """A job whose rendering raises an exception has failed; others are not affected."""
    path = post(client, "no!", 0)
    other = post(client, "yes", 0)
    for _ in range(2):
        response = get(client, path, 2)
        answers(response, 200, {"status": "failed"})
        assert "retry-after" not in response.headers, "the answer of a failed job has Retry-After"
    is_done(get(client, other, 2), "YES")
    assert post(client, "no!", 0) != path, "an order equal to one that failed got the old job"


def check_equal_orders_share_a_pending_job(client):
    """An order that equals a pending job gets that job; another text or time does not."""
    path = post(client, "abc", 1.5)
    assert post(client, "abc", 1.5) == path, "an equal order did not get the pending job"
    others = {post(client, "abd", 1.5), post(client, "abc", 1.6), post(client, "ABC", 1.5)}
    assert len(others | {path}) == 4, "orders with another text or another time share a job"
    started_is(client, 4)


def check_equal_orders_at_the_same_time(client, new_client, parallel):
    """Simultaneous equal orders start one job."""
    clients = [new_client() for _ in range(5)]
    paths = set(parallel([lambda c=c: post(c, "abc", 1.5) for c in clients]))
    assert len(paths) == 1, f"five equal orders at the same time started {len(paths)} jobs"
    started_is(client, 1)


def check_finished_jobs_are_not_shared(client):
    """An order that equals a finished job starts a new one; the old result stays."""
    path = post(client, "abc", 0)
    is_done(get(client, path, 2), "ABC")
    again = post(client, "abc", 0)
    assert again != path, "an order equal to one that had finished got the old job"
    is_done(get(client, again, 2), "ABC")
    is_done(get(client, path), "ABC")
    started_is(client, 2)


def check_delete_a_pending_job(client):
    """A deleted job is 410 from then on, also when its rendering ends."""
    path = post(client, "abc", 0.2)
    response = client.delete(path)
    status_is(response, 204, "DELETE of a pending job")
    assert response.content == b"", f"a 204 answer has no body, got {response.content!r}"
    for wait in (0, 0.4, 0):
        if wait:
            time.sleep(wait)
        status_is(get(client, path), 410, "GET of a deleted job")
    status_is(get(client, path, 0.1), 410, "GET of a deleted job with wait")
    status_is(client.delete(path), 410, "DELETE of a deleted job")


def check_delete_a_finished_job(client):
    """Finished jobs can be deleted too; other jobs stay."""
    path, other = post(client, "abc", 0), post(client, "xyz", 0)
    for job, result in ((path, "ABC"), (other, "XYZ")):
        is_done(get(client, job, 2), result)
    status_is(client.delete(path), 204, "DELETE of a finished job")
    status_is(get(client, path), 410, "GET of a deleted job")
    is_done(get(client, other), "XYZ")
    started_is(client, 2)


def check_deleted_jobs_are_not_shared(client):
    """An order that equals a deleted job starts a new one, which is shared in turn."""
    path, other = post(client, "abc", 1), post(client, "xyz", 2)
    client.delete(path)
    assert post(client, "xyz", 2) == other, "after another job was deleted a pending one is no longer shared"
    again = post(client, "abc", 1)
    assert again != path, "an order equal to a deleted job got that job"
    time.sleep(0.1)
    assert post(client, "abc", 1) == again, "the new job is not shared while it is pending"
    is_pending(get(client, again))
    status_is(get(client, path), 410, "GET of a deleted job")
    started_is(client, 3)


def check_delete_ends_the_waiting(client, new_client, parallel):
    """Whoever waits for a job that is deleted is answered 410 at once."""
    path = post(client, "abc", 2)
    waiter = new_client()

    def delete():
        time.sleep(0.2)
        return client.delete(path), 0

    (response, seconds), _ = parallel([lambda: timed(lambda: get(waiter, path, 2)), delete])
    status_is(response, 410, "GET with wait of a job that was deleted meanwhile")
    assert seconds < 1.6, f"the waiting went on for {seconds:.1f} seconds, the job was deleted after 0.2"


def check_unknown_tokens(client):
    """A token that was never given out is 404."""
    token = post(client, "abc", 0).rsplit("/", 1)[1]
    for unknown in ("1", "unknown", token[:-1], token + "0"):
        status_is(get(client, f"/jobs/{unknown}"), 404, f"GET /jobs/{unknown}")
        status_is(get(client, f"/jobs/{unknown}", 0.1), 404, f"GET /jobs/{unknown} with wait")
        status_is(client.delete(f"/jobs/{unknown}"), 404, f"DELETE /jobs/{unknown}")


def check_invalid_input(client):
    """Invalid orders and waits are 422."""
    good = {"text": "abc", "seconds": 1}
    changes = [{"text": ""}, {"text": "x" * 101}, {"text": 7}, {"seconds": -0.1}, {"seconds": 2.1}, {"seconds": None}]
    for body in ({}, {"text": "abc"}, {"seconds": 1}, *(good | change for change in changes)):
        status_is(client.post("/jobs", json=body), 422, f"POST /jobs with {body}")
    started_is(client, 0)
    path = post(client, "abc", 2)
    for wait in ("-1", "2.1", "soon", "nan", "inf"):
        status_is(get(client, path, wait), 422, f"GET of a job with wait={wait}")
