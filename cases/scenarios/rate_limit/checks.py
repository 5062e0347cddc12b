"""Hidden checks: exactly so many calls in any window, a Retry-After that is right, and bursts."""

import math
import time
from collections import Counter

ANN, BEN, CAT, DAN, EVE = "key-ann-11", "key-ben-22", "key-cat-33", "key-dan-44", "key-eve-55"
QUOTE_WINDOW, ORDER_WINDOW, PAUSE = 2, 1, 0.2
SMALL, LARGE = {"item": "tea", "quantity": 3}, {"item": "tea", "quantity": 101}


def get_quote(client, key, symbol="abc"):
    return client.get(f"/quotes/{symbol}", headers={"X-Api-Key": key})


def post_order(client, key, order=SMALL):
    return client.post("/orders", json=order, headers={"X-Api-Key": key})


def statuses(responses):
    return [response.status_code for response in responses]


def within(seconds, attempt):
    """Call `attempt` with one key after the other until it takes at most so long, and return its result.

    A busy machine may stretch calls that are meant to come at once over more than a window.
    """
    for key in (ANN, BEN, CAT, DAN, EVE):
        started = time.monotonic()
        result = attempt(key)
        if time.monotonic() - started <= seconds:
            return key, result
    raise AssertionError(f"calls hold each other up: they took more than {seconds} seconds, five times")


def burst(new_client, parallel, count, order):
    """Answers to `count` equal orders at once, of one key, none of which was kept waiting for another."""
    clients = [new_client() for _ in range(count)]

    def send(key):
        return parallel([lambda client=client: post_order(client, key, order) for client in clients])

    return within(2 * PAUSE - 0.05, send)


def assert_limited(response, what):
    assert response.status_code == 429, f"{what}: status {response.status_code}, expected 429"
    assert response.json() == {"error": "rate limited"}, f"{what}: body {response.text[:200]}"
    after = response.headers.get("Retry-After", "")
    assert after.isdecimal() and int(after) >= 1, f"{what}: Retry-After is {after!r}, expected a whole number from 1"
    return int(after)


def assert_list(client, key, expected):
    response = client.get("/orders", headers={"X-Api-Key": key})
    assert response.status_code == 200, f"GET /orders gave {response.status_code}, expected 200"
    assert response.json() == {"orders": expected}, f"GET /orders gave {response.text[:300]}, expected {expected}"


def check_key_is_needed(client):
    """Calls without a known key are 401, whatever their number, and take nobody's slots."""
    for key in ("", "key-mallory", "KEY-ANN-11"):
        for _ in range(6):
            for response in (get_quote(client, key), post_order(client, key), post_order(client, key, {})):
                assert response.status_code == 401, f"key {key!r}: status {response.status_code}, expected 401"
                assert response.json() == {"error": "unauthorized"}, f"key {key!r}: body {response.text[:200]}"
    status = client.get("/orders").status_code
    assert status == 401, f"GET /orders without a key gave {status}, expected 401"
    status = get_quote(client, ANN).status_code
    assert status == 200, f"the first call with a key gave {status}, expected 200"


def check_five_quotes(client):
    """The first five quotes are answered and tell how many remain; the sixth is refused."""
    _, responses = within(QUOTE_WINDOW / 2, lambda key: [get_quote(client, key, f"sym{n}") for n in range(8)])
    assert statuses(responses) == [200] * 5 + [429] * 3, f"eight quotes in a row gave {statuses(responses)}"
    for number, response in enumerate(responses[:5]):
        expected = {"symbol": f"sym{number}", "remaining": 4 - number}
        assert response.json() == expected, f"quote {number + 1} of 5 is {response.text[:200]}, expected {expected}"
    for response in responses[5:]:
        after = assert_limited(response, "a quote too many")
        assert after == 2, f"Retry-After is {after} less than a second after the first of five quotes, expected 2"


def check_invalid_orders(client):
    """An invalid order is 400 and takes no slot, also when no slot is free."""
    invalid = ({}, {"item": "tea"}, {"quantity": 1}, {"item": "", "quantity": 1}, {"item": 5, "quantity": 1}, [SMALL])
    invalid += tuple({"item": "tea", "quantity": quantity} for quantity in (0, -1, "3", 1.5, True, None))
    for order in invalid:
        response = post_order(client, ANN, order)
        assert response.status_code == 400, f"order {order}: status {response.status_code}, expected 400"
        assert response.json() == {"error": "invalid"}, f"order {order}: body {response.text[:200]}"
    headers = {"X-Api-Key": ANN, "Content-Type": "application/json"}
    response = client.post("/orders", content=b"{", headers=headers)
    assert response.status_code == 400, f"an order that is not JSON gave {response.status_code}, expected 400"
    assert response.json() == {"error": "invalid"}, f"an order that is not JSON: body {response.text[:200]}"
    found = within(
        ORDER_WINDOW - 0.1, lambda key: [post_order(client, key, order) for order in (SMALL, SMALL, SMALL, {}, SMALL)]
    )[1]
    expected = [201, 201, 201, 400, 429]
    assert statuses(found) == expected, f"three orders, an invalid one, another: {statuses(found)}"


def check_orders_are_listed(client):
    """An accepted order is 201 and listed for its key; a quantity of 100 is not declined."""
    largest = {"item": "coffee", "quantity": 100}
    for key, order in ((ANN, SMALL), (BEN, largest), (ANN, {"item": "milk", "quantity": 1})):
        response = post_order(client, key, order)
        assert response.status_code == 201, f"order {order}: status {response.status_code}, expected 201"
        assert response.json() == order, f"order {order}: body {response.text[:200]}"
    assert_list(client, ANN, [SMALL, {"item": "milk", "quantity": 1}])
    assert_list(client, BEN, [largest])
    assert_list(client, CAT, [])


def check_limits_are_separate(client):
    """Each key has slots of its own, for quotes and for orders apart; lists are not limited."""

    def attempt(key):
        others = [other for other in (ANN, BEN, CAT, DAN, EVE) if other != key][:2]
        own = [get_quote(client, key) for _ in range(6)]
        return own + [get_quote(client, other) for other in others] + [post_order(client, key)]

    key, responses = within(QUOTE_WINDOW / 2, attempt)
    expected = [200] * 5 + [429, 200, 200, 201]
    assert statuses(responses) == expected, f"six quotes, two of other keys, one order: {statuses(responses)}"
    for _ in range(8):
        assert_list(client, key, [SMALL])


def check_declined_orders(client):
    """A declined order is 402, gives its slot back and is not listed."""
    responses = [post_order(client, EVE, LARGE) for _ in range(5)]
    assert statuses(responses) == [402] * 5, f"five declined orders in a row gave {statuses(responses)}"
    assert responses[0].json() == {"error": "declined"}, f"body of a declined order: {responses[0].text[:200]}"
    assert_list(client, EVE, [])
    orders = [SMALL, LARGE, SMALL, LARGE]
    responses = [post_order(client, DAN, order) for order in orders]
    assert statuses(responses) == [201, 402, 201, 402], f"orders of 3, 101, 3, 101: {statuses(responses)}"
    assert_list(client, DAN, [SMALL, SMALL])


def check_burst_of_orders(new_client, parallel):
    """Of ten orders at once three are accepted; the others are refused."""
    key, responses = burst(new_client, parallel, 10, SMALL)
    found = Counter(statuses(responses))
    assert found == {201: 3, 429: 7}, f"ten orders at once gave {dict(found)}, expected 3 of 201 and 7 of 429"
    assert_list(new_client(), key, [SMALL] * 3)
    for response in responses:
        if response.status_code == 429:
            after = assert_limited(response, "an order too many")
            assert after == 1, f"Retry-After of an order is {after}, expected 1"


def check_burst_of_declined_orders(new_client, parallel):
    """An order in progress holds its slot, even if it is declined in the end."""
    key, responses = burst(new_client, parallel, 10, LARGE)
    found = Counter(statuses(responses))
    assert found == {402: 3, 429: 7}, f"ten large orders at once gave {dict(found)}, expected 3 of 402 and 7 of 429"
    responses = [post_order(new_client(), key) for _ in range(3)]
    assert statuses(responses) == [201] * 3, f"afterwards all slots are free, but orders gave {statuses(responses)}"


def check_burst_of_quotes(new_client, parallel):
    """Of fifteen quotes at once five are answered."""
    clients = [new_client() for _ in range(15)]
    found = within(
        QUOTE_WINDOW / 2, lambda key: parallel([lambda client=client: get_quote(client, key) for client in clients])
    )[1]
    assert Counter(statuses(found)) == {200: 5, 429: 10}, f"fifteen quotes at once gave {Counter(statuses(found))}"
    left = sorted(response.json()["remaining"] for response in found if response.status_code == 200)
    assert left == [0, 1, 2, 3, 4], f"the five answers tell that {left} remain"


def check_order_slot_counts_from_arrival(client, new_client, parallel):
    """An order's slot is free again one second after the order came, not after it was done."""
    key, responses = burst(new_client, parallel, 3, SMALL)
    ended = time.monotonic()
    assert statuses(responses) == [201] * 3, f"three orders at once gave {statuses(responses)}"
    limited = post_order(client, key)
    assert_limited(limited, "a fourth order")
    time.sleep(max(0.0, ended + ORDER_WINDOW - PAUSE + 0.1 - time.monotonic()))
    status = post_order(client, key).status_code
    assert status == 201, f"the order after the first slots became free gave {status}, expected 201"


def check_window_slides(client):
    """Slots become free one by one; Retry-After says when the next one does; refused calls take none."""

    def calls(key, count):
        """Answers with the moments before and after."""
        return [(time.monotonic(), get_quote(client, key), time.monotonic()) for _ in range(count)]

    def first_calls(key):
        two = calls(key, 2)
        time.sleep(1.3)
        return two + calls(key, 6)

    def assert_wait(first, last):
        """Retry-After of `last` leads to the end of the window of the call `first`."""
        found = assert_limited(last[1], "a quote too many")
        soonest = math.ceil(first[0] + QUOTE_WINDOW - last[2])
        latest = math.ceil(first[2] + QUOTE_WINDOW - last[0])
        assert soonest <= found <= latest, f"Retry-After is {found}, expected {soonest}"

    key, done = within(QUOTE_WINDOW - 0.1, first_calls)
    found = statuses(answer for _, answer, _ in done)
    assert found == [200] * 5 + [429] * 3, f"two quotes, and six more 1.3 seconds later: {found}"
    assert_wait(done[0], done[7])
    time.sleep(max(0.0, done[1][2] + QUOTE_WINDOW + 0.1 - time.monotonic()))
    more = calls(key, 4)
    if more[3][2] < done[2][0] + QUOTE_WINDOW:
        found = statuses(answer for _, answer, _ in more)
        assert found == [200] * 2 + [429] * 2, f"four quotes when two of five slots are free again: {found}"
        assert more[0][1].json()["remaining"] == 1, f"one slot remains, but the answer is {more[0][1].text[:200]}"
        assert_wait(done[2], more[3])


def check_retry_after_can_be_trusted(client):
    """Who waits as long as Retry-After says is let in."""
    key, responses = within(QUOTE_WINDOW / 2, lambda key: [get_quote(client, key) for _ in range(6)])
    time.sleep(assert_limited(responses[5], "the sixth quote"))
    status = get_quote(client, key).status_code
    assert status == 200, f"after the seconds of Retry-After a quote gave {status}, expected 200"


def check_other_methods(client):
    """Other methods of the paths are 405."""
    for path, methods in (("/quotes/abc", ("POST", "PUT", "DELETE")), ("/orders", ("PUT", "DELETE"))):
        for method in methods:
            status = client.request(method, path, headers={"X-Api-Key": ANN}).status_code
            assert status == 405, f"{method} {path} gave {status}, expected 405"
