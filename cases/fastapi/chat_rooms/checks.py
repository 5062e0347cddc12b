"""Hidden checks: who gets in, what everybody in a room receives, and what is left when somebody goes."""

import json
import socket
import time

from websockets.exceptions import ConnectionClosed, InvalidStatus

TOKENS = {"ada": "tok-ada-51", "bo": "tok-bo-90", "cy": "tok-cy-17", "di": "tok-di-68"}
INVALID = {"type": "error", "error": "invalid"}


def join(websocket, user, room="tea", seq=0):
    """Connect as a user and take the welcome."""
    connection = websocket(f"/rooms/{room}/ws?token={TOKENS[user]}")
    expected = {"type": "welcome", "user": user, "seq": seq}
    found = received(connection, f"the new connection of {user}")
    assert found == expected, f"the first frame for {user} in {room} is {found}, expected {expected}"
    return connection


def received(connection, whose):
    """Return the next frame of a connection as JSON."""
    try:
        frame = connection.recv(timeout=3)
    except TimeoutError:
        raise AssertionError(f"{whose} received nothing within 3 seconds") from None
    except ConnectionClosed as closed:
        raise AssertionError(f"{whose} was closed instead of receiving a frame: {closed}") from None
    assert isinstance(frame, str), f"{whose} received a binary frame"
    return json.loads(frame)


def message(seq, user, text):
    return {"type": "message", "seq": seq, "from": user, "text": text}


def gets(connections, expected):
    """Each of the connections (by name) must receive this frame next."""
    for name, connection in connections.items():
        found = received(connection, f"the connection of {name}")
        assert found == expected, f"{name} received {found}, expected {expected}"


def closed_with(connection, code, what):
    try:
        frame = connection.recv(timeout=3)
    except ConnectionClosed as closed:
        found = closed.rcvd.code if closed.rcvd else None
        assert found == code, f"{what} was closed with the code {found}, expected {code}"
    except TimeoutError:
        raise AssertionError(f"{what} was not closed") from None
    else:
        raise AssertionError(f"{what} received {frame!r}, expected the close code {code}")


def refused(websocket, path, headers=None):
    """The handshake must be answered with 403."""
    try:
        websocket(path, headers=headers)
    except InvalidStatus as refusal:
        status = refusal.response.status_code
        assert status == 403, f"the handshake for {path} with {headers} was answered {status}, expected 403"
    else:
        raise AssertionError(f"the handshake for {path} with {headers} was accepted, expected 403")


def say(connection, text):
    connection.send(json.dumps({"text": text}))


def http(client, method, path, user="ada", **options):
    return client.request(method, path, headers={"Authorization": f"Bearer {TOKENS[user]}"}, **options)


def status_is(response, status, what):
    assert response.status_code == status, f"{what} answered {response.status_code}, expected {status}"


def stored_is(client, expected, room="tea", after=None):
    path = f"/rooms/{room}/messages" + ("" if after is None else f"?after={after}")
    response = http(client, "GET", path)
    status_is(response, 200, f"GET {path}")
    assert response.json() == {"messages": expected}, f"GET {path} answered {response.json()}, expected {expected}"


def members(client, room="tea"):
    response = http(client, "GET", f"/rooms/{room}/members")
    status_is(response, 200, f"GET /rooms/{room}/members")
    return response.json()


def members_become(client, expected, room="tea"):
    """The list of members must be this one soon."""
    end = time.monotonic() + 2
    while members(client, room) != {"members": expected}:
        assert time.monotonic() < end, f"the members of {room} are {members(client, room)}, expected {expected}"
        time.sleep(0.02)


def check_messages_reach_everybody_in_the_room(client, websocket):
    """A message goes to all members, the sender included, with number and name of the sender."""
    room = {user: join(websocket, user) for user in ("ada", "bo", "cy")}
    say(room["bo"], "hello")
    gets(room, message(1, "bo", "hello"))
    say(room["ada"], "Grüße " + "x" * 494)
    gets(room, message(2, "ada", "Grüße " + "x" * 494))
    stored_is(client, [message(1, "bo", "hello"), message(2, "ada", "Grüße " + "x" * 494)])


def check_welcome_tells_the_last_number(client, websocket):
    """Who joins later is told the number of the last message and gets the next ones."""
    first = join(websocket, "ada")
    for seq in (1, 2):
        say(first, "hello")
        gets({"ada": first}, message(seq, "ada", "hello"))
    room = {"ada": first, "bo": join(websocket, "bo", seq=2)}
    say(room["bo"], "late")
    gets(room, message(3, "bo", "late"))


def check_rooms_are_separate(client, websocket):
    """Messages, numbers and members of one room have nothing to do with those of the other."""
    tea, coffee = join(websocket, "ada"), join(websocket, "bo", "coffee")
    say(tea, "tea one")
    gets({"ada": tea}, message(1, "ada", "tea one"))
    say(coffee, "coffee one")
    gets({"bo": coffee}, message(1, "bo", "coffee one"))
    stored_is(client, [message(1, "ada", "tea one")])
    stored_is(client, [message(1, "bo", "coffee one")], "coffee")
    assert members(client) == {"members": ["ada"]}, f"the members of tea are {members(client)}"
    assert members(client, "coffee") == {"members": ["bo"]}, f"the members of coffee are {members(client, 'coffee')}"


def check_posted_messages(client, websocket):
    """POST stores a message, answers it and sends it to the members."""
    room = {user: join(websocket, user) for user in ("ada", "bo")}
    response = http(client, "POST", "/rooms/tea/messages", "di", json={"text": "from outside"})
    status_is(response, 201, "POST /rooms/tea/messages")
    expected = message(1, "di", "from outside")
    assert response.json() == expected, f"POST answered {response.json()}, expected {expected}"
    gets(room, expected)
    say(room["ada"], "x")
    gets(room, message(2, "ada", "x"))
    for body in ({}, {"text": ""}, {"text": "x" * 501}, {"text": 7}, ["x"]):
        status_is(http(client, "POST", "/rooms/tea/messages", json=body), 422, f"POST with {body}")
    stored_is(client, [expected, message(2, "ada", "x")])


def check_stored_messages(client):
    """GET lists the messages after a number, by default all."""
    expected = [message(seq, "bo", f"text {seq}") for seq in range(1, 6)]
    for one in expected:
        http(client, "POST", "/rooms/tea/messages", "bo", json={"text": one["text"]})
    stored_is(client, expected)
    for after in (0, 1, 4, 5, 9):
        stored_is(client, expected[after:], after=after)
    for after in ("-1", "x", "1.5"):
        status_is(http(client, "GET", f"/rooms/tea/messages?after={after}"), 422, f"GET with after={after}")


def check_requests_need_token_and_room(client):
    """Without a valid token the HTTP routes are 401, for an unknown room 404."""
    for method, path in (("GET", "messages"), ("POST", "messages"), ("GET", "members")):
        body = {"json": {"text": "x"}} if method == "POST" else {}
        for headers in ({}, {"Authorization": "Bearer tok"}, {"Authorization": "Bearer ada"}):
            response = client.request(method, f"/rooms/tea/{path}", headers=headers, **body)
            status_is(response, 401, f"{method} {path} with {headers}")
        status_is(http(client, method, f"/rooms/milk/{path}", **body), 404, f"{method} {path} of an unknown room")
    stored_is(client, [])


def check_handshake_needs_token_and_room(client, websocket):
    """A handshake without a valid token, or for an unknown room, is 403."""
    for path in ("tea/ws", "tea/ws?token=", "tea/ws?token=tok", "tea/ws?token=ada", "milk/ws?token=tok-ada-51"):
        refused(websocket, f"/rooms/{path}")
    assert members(client) == {"members": []}, f"after refused handshakes the members are {members(client)}"


def check_origins(client, websocket):
    """Pages of the two allowed origins may connect, others not."""
    path = f"/rooms/tea/ws?token={TOKENS['ada']}"
    refused(websocket, path, {"Origin": "https://other.example.org"})
    for origin in ("https://chat.example.com", "https://beta.example.com:8443"):
        found = received(websocket(path, headers={"Origin": origin}), f"the connection from {origin}")
        assert found["type"] == "welcome", f"a page of {origin} received {found}"


def check_full_room(client, websocket):
    """The fourth connection is accepted and closed with 1013; a place that was left can be taken."""
    room = {user: join(websocket, user) for user in ("ada", "bo", "cy")}
    closed_with(websocket("/rooms/tea/ws?token=tok-di-68"), 1013, "the fourth connection")
    say(room["ada"], "still here")
    gets(room, message(1, "ada", "still here"))
    assert members(client) == {"members": ["ada", "bo", "cy"]}, f"the members are {members(client)}"
    join(websocket, "di", "coffee")
    room.pop("bo").close()
    members_become(client, ["ada", "cy"])
    room["di"] = join(websocket, "di", seq=1)
    say(room["di"], "hello")
    gets(room, message(2, "di", "hello"))


def check_places_are_not_given_twice(client, websocket, parallel):
    """Of six simultaneous connections three get in and three are closed with 1013."""
    users = ["ada", "bo", "cy", "di", "ada", "bo"]
    connections = parallel([lambda u=u: websocket(f"/rooms/tea/ws?token={TOKENS[u]}") for u in users])
    welcome = 0
    for connection in connections:
        try:
            welcome += json.loads(connection.recv(timeout=3))["type"] == "welcome"
        except ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else None
            assert code == 1013, f"one of six connections was closed with {code}, expected 1013"
    assert welcome == 3, f"{welcome} of six simultaneous connections got in, expected 3"


def check_large_frames(client, websocket):
    """A frame of more than 1024 bytes closes the connection with 1009 and is no message."""
    reader = join(websocket, "bo")
    for frame in (json.dumps({"text": "x", "more": "y" * 1020}), '{"text": "' + "é" * 510 + '"}', b"x" * 1025):
        sender = join(websocket, "ada")
        sender.send(frame)
        what = f"the connection that sent {len(frame.encode() if isinstance(frame, str) else frame)} bytes"
        closed_with(sender, 1009, what)
        members_become(client, ["bo"])
    sender = join(websocket, "ada")
    frame = json.dumps({"text": "x", "more": ""})
    sender.send(frame[:-2] + "y" * (1024 - len(frame)) + frame[-2:])
    gets({"ada": sender, "bo": reader}, message(1, "ada", "x"))
    stored_is(client, [message(1, "ada", "x")])


def check_invalid_frames(client, websocket):
    """What is not a valid message is answered with an error to its sender, who stays connected."""
    room = {user: join(websocket, user) for user in ("ada", "bo")}
    frames = ["", "hello", "{", "null", "[]", '"x"', "{}", '{"text": ""}', '{"text": 7}', '{"text": null}']
    for frame in (*frames, json.dumps({"text": "x" * 501}), b'{"text": "binary"}', b"\xff", b""):
        room["ada"].send(frame)
        found = received(room["ada"], "the sender of an invalid frame")
        assert found == INVALID, f"the frame {frame!r} was answered with {found}, expected {INVALID}"
    say(room["ada"], "valid")
    gets(room, message(1, "ada", "valid"))
    stored_is(client, [message(1, "ada", "valid")])


def check_members(client, websocket):
    """Members are listed in alphabetical order, each once, as long as one of their connections is open."""
    assert members(client) == {"members": []}, f"the members of an empty room are {members(client)}"
    cy = join(websocket, "cy")
    first, second = join(websocket, "ada"), join(websocket, "ada")
    assert members(client) == {"members": ["ada", "cy"]}, f"the members are {members(client)}"
    first.close()
    cy.close()
    members_become(client, ["ada"])
    say(second, "alone")
    gets({"ada": second}, message(1, "ada", "alone"))
    second.close()
    members_become(client, [])


def check_connections_that_break(client, websocket):
    """A connection that ends without a farewell is gone soon, and the others still receive everything."""
    broken, stays = join(websocket, "ada"), join(websocket, "bo")
    broken.socket.shutdown(socket.SHUT_RDWR)
    for seq in (1, 2, 3):
        response = http(client, "POST", "/rooms/tea/messages", "cy", json={"text": "hello"})
        status_is(response, 201, "POST after a connection broke")
        gets({"bo": stays}, message(seq, "cy", "hello"))
    members_become(client, ["bo"])


def check_all_receive_the_same_order(client, new_client, websocket, parallel):
    """Messages sent at the same time reach all members in the order of their numbers."""
    room = {user: join(websocket, user) for user in ("ada", "bo", "cy")}
    clients = [new_client() for _ in range(2)]

    def post(number):
        for text in range(5):
            http(clients[number], "POST", "/rooms/tea/messages", "di", json={"text": f"{number} {text}"})

    def talk(user):
        for text in range(5):
            say(room[user], f"{user} {text}")

    parallel([lambda: post(0), lambda: post(1), lambda: talk("ada"), lambda: talk("bo")])
    stored = http(client, "GET", "/rooms/tea/messages").json()["messages"]
    assert [one["seq"] for one in stored] == list(range(1, 21)), f"the numbers are {[one['seq'] for one in stored]}"
    for expected in stored:
        gets(room, expected)
    for user in ("ada", "bo"):
        texts = [one["text"] for one in stored if one["from"] == user]
        assert texts == [f"{user} {text}" for text in range(5)], f"the messages of {user} came in the order {texts}"


def check_a_member_who_does_not_read(client, websocket):
    """A member who takes no messages does not hold up the others."""
    join(websocket, "cy")
    room = {"ada": join(websocket, "ada"), "bo": join(websocket, "bo")}
    for start in range(0, 900, 15):
        for number in range(start, start + 15):
            say(room["ada"], f"{number} ".ljust(500, "."))
        for number in range(start, start + 15):
            gets(room, message(number + 1, "ada", f"{number} ".ljust(500, ".")))
    response = http(client, "POST", "/rooms/tea/messages", "di", json={"text": "from outside"})
    status_is(response, 201, "POST while a member does not read")
    gets(room, message(901, "di", "from outside"))
