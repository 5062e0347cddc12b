"""Hidden checks: what each route answers, and what its documentation says of it."""

ADA = {"id": 1, "name": "Ada", "accounts": [{"id": 11, "provider": "git"}, {"id": 12, "provider": "ftp"}]}
BO = {"id": 2, "name": "Bo", "accounts": [{"id": 13, "provider": "git"}]}
BOATS = {"id": 1, "name": "Boats", "lead": ADA, "roles": {"developer": [ADA, BO], "tester": [BO]}}
ADS = {"id": 2, "name": "Ads", "lead": None, "roles": {}}
NEW_TEAM = {"name": "Trains", "notes": "secret plan", "lead": 2, "roles": {"driver": [2, 1], "idle": []}}
NEW_MEMBER = {"name": "Cleo", "email": "cleo@example.com", "password": "green-door-9"}
MEMBER_NAMES = {"id", "name", "accounts", "provider"}
TEAM_NAMES = MEMBER_NAMES | {"lead", "roles"}


def answers(response, status, expected):
    what = f"{response.request.method} {response.request.url.path}"
    assert response.status_code == status, f"{what} answered {response.status_code}, expected {status}: {response.text}"
    assert response.json() == expected, f"{what} answered {response.json()}, expected {expected}"


def status_is(response, status, what):
    assert response.status_code == status, f"{what} answered {response.status_code}, expected {status}"


def check_list_of_teams(client):
    """GET /teams has all teams with the public part of their members."""
    answers(client.get("/teams"), 200, [BOATS, ADS])


def check_one_team(client):
    """GET /teams/{id} has the team, or is 404."""
    answers(client.get("/teams/1"), 200, BOATS)
    answers(client.get("/teams/2"), 200, ADS)
    for number in (0, 3):
        status_is(client.get(f"/teams/{number}"), 404, f"GET /teams/{number}")


def check_one_member(client):
    """GET /members/{id} has the public part of a member, or is 404."""
    answers(client.get("/members/1"), 200, ADA)
    answers(client.get("/members/2"), 200, BO)
    for number in (0, 3, 11):
        status_is(client.get(f"/members/{number}"), 404, f"GET /members/{number}")


def check_new_team(client):
    """POST /teams stores a team and answers its public part."""
    trains = {"id": 3, "name": "Trains", "lead": BO, "roles": {"driver": [BO, ADA], "idle": []}}
    answers(client.post("/teams", json=NEW_TEAM), 201, trains)
    answers(client.get("/teams/3"), 200, trains)
    fourth = {"id": 4, "name": "T", "lead": None, "roles": {}}
    answers(client.post("/teams", json={"name": "T", "notes": "", "lead": None, "roles": {}}), 201, fourth)
    answers(client.get("/teams"), 200, [BOATS, ADS, trains, fourth])


def check_new_member(client):
    """POST /members stores a member, who has no accounts yet, and answers the public part."""
    cleo = {"id": 3, "name": "Cleo", "accounts": []}
    answers(client.post("/members", json=NEW_MEMBER), 201, cleo)
    answers(client.get("/members/3"), 200, cleo)
    shortest = {"name": "D", "email": "@", "password": "8letters"}
    answers(client.post("/members", json=shortest), 201, {"id": 4, "name": "D", "accounts": []})
    team = client.post("/teams", json={**NEW_TEAM, "lead": 3, "roles": {"new": [3]}}).json()
    assert (team["lead"], team["roles"]) == (cleo, {"new": [cleo]}), f"a team of the new member is {team}"


def check_invalid_teams(client):
    """A team with a missing or wrong field or an unknown member is 422 and not stored."""
    changes = ({"name": ""}, {"notes": None}, {"lead": "x"}, {"roles": [1]}, {"lead": 3}, {"roles": {"driver": [1, 3]}})
    bodies = [NEW_TEAM | change for change in changes]
    bodies += [{name: value for name, value in NEW_TEAM.items() if name != left_out} for left_out in NEW_TEAM]
    for body in bodies:
        status_is(client.post("/teams", json=body), 422, f"POST /teams with {body}")
    answers(client.get("/teams"), 200, [BOATS, ADS])


def check_invalid_members(client):
    """A member with a missing or wrong field is 422 and not stored."""
    bodies = [NEW_MEMBER | change for change in ({"name": ""}, {"email": "cleo"}, {"password": "7letter"})]
    bodies += [{name: value for name, value in NEW_MEMBER.items() if name != left_out} for left_out in NEW_MEMBER]
    for body in bodies:
        status_is(client.post("/members", json=body), 422, f"POST /members with {body}")
    status_is(client.get("/members/3"), 404, "GET /members/3 after invalid members only")


def check_search(client):
    """GET /search finds teams, then members, by a part of the name in any letter case."""
    teams = [{"kind": "team", **team} for team in (BOATS, ADS)]
    members = [{"kind": "member", **member} for member in (ADA, BO)]
    for q, expected in (("bo", [teams[0], members[1]]), ("AD", [teams[1], members[0]]), ("ts", teams[:1]), ("x", [])):
        answers(client.get("/search", params={"q": q}), 200, expected)
    answers(client.get("/search?q=a"), 200, [*teams, members[0]])
    for query in ("", "?q="):
        status_is(client.get(f"/search{query}"), 422, f"GET /search{query}")


def check_own_email(client):
    """GET /me has the member of the token with the own address."""
    answers(client.get("/me", headers={"X-Token": "tok-bo-9034"}), 200, BO | {"email": "bo@example.com"})
    answers(client.get("/me", headers={"X-Token": "tok-ada-5121"}), 200, ADA | {"email": "ada@example.com"})
    for headers in ({}, {"X-Token": "tok"}, {"X-Token": ""}):
        status_is(client.get("/me", headers=headers), 401, f"GET /me with {headers}")


def member_names(schema, document):
    """The names of all members that a schema allows, at any depth."""
    if "$ref" in schema:
        return member_names(document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], document)
    names = set(schema.get("properties", {}))
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", []), *schema.get("oneOf", [])]
    parts += schema.get("allOf", [])
    parts += [schema[name] for name in ("items", "additionalProperties") if isinstance(schema.get(name), dict)]
    return names.union(*(member_names(part, document) for part in parts))


def check_documentation(client):
    """/openapi.json describes the successful answers with exactly the public members."""
    document = client.get("/openapi.json").json()
    routes = (
        ("get", "/teams", TEAM_NAMES),
        ("get", "/teams/", TEAM_NAMES),
        ("post", "/teams", TEAM_NAMES),
        ("get", "/members/", MEMBER_NAMES),
        ("post", "/members", MEMBER_NAMES),
        ("get", "/search", TEAM_NAMES | {"kind"}),
        ("get", "/me", MEMBER_NAMES | {"email"}),
    )
    for method, path, expected in routes:
        described = next(found for name, found in document["paths"].items() if name.split("{")[0] == path)
        answer = described[method]["responses"]["201" if method == "post" else "200"]
        found = member_names(answer["content"]["application/json"]["schema"], document)
        what = f"the answer of {method.upper()} {path} is documented"
        assert found == expected, f"{what} with the members {sorted(found)}, expected {sorted(expected)}"
