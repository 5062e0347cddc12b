"""Hidden checks of the scenario accept_language: which language is spoken, and what caches learn about it."""

GREETINGS = {"en-US": "Hello", "de": "Hallo", "pt-BR": "Oi", "pt-PT": "Olá", "fr": "Bonjour"}
UNSUPPORTED = {"error": "unsupported"}


def greet(client, *lines, query="", cookie=None):
    """Ask for a greeting, with each of `lines` as an Accept-Language header of its own."""
    headers = [("Accept-Language", line) for line in lines]
    if cookie is not None:
        headers.append(("Cookie", f"lang={cookie}"))
    request = client.build_request("GET", f"/greet{query}", headers=headers)
    if not lines:
        del request.headers["Accept-Language"]
    return client.send(request)


def asked(response):
    headers = response.request.headers
    told = [f"{name}: {headers.get(name)}" for name in ("Accept-Language", "Cookie") if name in headers]
    return " with ".join([f"{response.request.method} {response.request.url.raw_path.decode()}", *told])


def is_answer(response, status, expected):
    assert response.status_code == status, f"{asked(response)}: status {response.status_code}, expected {status}"
    assert response.json() == expected, f"{asked(response)}: body {response.text[:200]}, expected {expected}"


def speaks(response, language):
    is_answer(response, 200, {"language": language, "greeting": GREETINGS[language]})
    found = response.headers.get("Content-Language")
    assert found == language, f"{asked(response)}: Content-Language is {found!r}, expected {language!r}"


def all_speak(client, expected):
    for header, language in expected.items():
        speaks(greet(client, header), language)


def check_exact_languages(client):
    """Each available language is spoken where it is asked for, in whatever case."""
    all_speak(client, {language: language for language in GREETINGS})
    all_speak(client, {"EN-us": "en-US", "PT-BR": "pt-BR", "Fr": "fr", "pt-pt": "pt-PT"})


def check_default(client):
    """Without a header, or where nothing fits, the default is spoken."""
    speaks(greet(client), "de")
    all_speak(client, {"": "de", "zh": "de", "zh-TW, ja;q=0.9": "de"})


def check_related_languages(client):
    """A plain language stands for its variants, and variants for one another, but not for other languages."""
    all_speak(client, {"en": "en-US", "en-GB": "en-US", "de-AT": "de", "fr-CA": "fr", "de-CH-1996": "de"})
    all_speak(client, {"pt": "pt-BR", "pt-AO": "pt-BR", "zh-Hant-TW, fr-CH": "fr", "PT-ao, fr;q=0.5": "pt-BR"})
    all_speak(client, {"eng": "de", "f": "de", "frr-DE": "de", "us": "de", "br, frr": "de", "e": "de"})


def check_weights_decide(client):
    """The greatest weight wins, wherever it stands and however the range fits."""
    all_speak(
        client,
        {
            "fr;q=0.5, en-US;q=0.8": "en-US",
            "fr;q=0.999, en-US": "en-US",
            "fr;q=0.2, en-GB;q=0.7": "en-US",
            "pt-PT;q=0.3, fr-CA;q=0.301": "fr",
            "fr;q=0.09, en;q=0.1": "en-US",
            "fr;q=0.9, en-US;q=1.000": "en-US",
            "zh, fr;q=0.001": "fr",
            "fr;q=1, en-US": "fr",
            "en, fr;q=1.0": "en-US",
        },
    )


def check_exact_range_decides_for_its_language(client):
    """A language that is named itself has that weight, also if a related range has a greater one."""
    all_speak(
        client,
        {
            "pt, pt-BR;q=0.5": "pt-PT",
            "pt-PT;q=0.5, pt": "pt-BR",
            "en, en-US;q=0.4, fr;q=0.6": "fr",
            "en-US;q=0.6, en;q=0.1, fr;q=0.5": "en-US",
            "pt-BR;q=0.3, pt;q=0.2, pt-PT;q=0.1": "pt-BR",
        },
    )


def check_several_ranges_for_one_language(client):
    """Among several ranges of one kind the greatest weight counts."""
    all_speak(
        client,
        {
            "en-GB;q=0.2, en;q=0.8, fr;q=0.5": "en-US",
            "en;q=0.8, en-GB;q=0.2, fr;q=0.5": "en-US",
            "en-GB;q=0, en-AU;q=0.6, fr;q=0.5": "en-US",
            "fr;q=0.1, en-US;q=0.5, fr;q=0.9": "fr",
            "*;q=0.1, fr;q=0.5, *;q=0.7": "en-US",
        },
    )


def check_weight_zero_excludes(client):
    """A weight of 0 excludes a language that another range would bring in."""
    all_speak(
        client,
        {
            "pt-BR;q=0, pt": "pt-PT",
            "pt-BR;q=0.000, pt-PT;q=0, fr;q=0.1": "fr",
            "*, en-US;q=0": "de",
            "*, en-GB;q=0, de;q=0": "pt-BR",
            "fr;q=0": "de",
            "en-US;q=0, en": "de",
            "*, en;q=0, de;q=0, pt;q=0": "fr",
            "*;q=0": "de",
            "*;q=0, fr;q=0.2": "fr",
        },
    )


def check_any_language(client):
    """The asterisk stands for the languages that no other range fits."""
    all_speak(
        client,
        {
            "*": "en-US",
            "fr;q=0.5, *;q=0.4": "fr",
            "fr;q=0.5, *;q=0.6": "en-US",
            "en;q=0.3, *;q=0.5": "de",
            "en-GB;q=0.1, de;q=0.2, *;q=0.3": "pt-BR",
            "zh, *;q=0.5, fr;q=0.5": "en-US",
        },
    )


def check_equal_qualities(client):
    """Among equals the place in the header counts, then the order of the languages."""
    all_speak(
        client,
        {
            "fr, en-US": "fr",
            "fr;q=0.5, pt-PT;q=0.5, en;q=0.5": "fr",
            "pt-PT, pt-BR": "pt-PT",
            "fr-CA, de": "fr",
            "en-GB;q=0.8, fr;q=0.8, en;q=0.8": "en-US",
            "fr, pt": "fr",
            "pt, fr": "pt-BR",
            "pt-PT, pt": "pt-PT",
            "pt, pt-PT": "pt-BR",
            "fr, *": "fr",
            "*, fr": "en-US",
        },
    )


def check_blanks_and_letter_case(client):
    """Blanks, tabs, empty items and a capital Q are no obstacle."""
    all_speak(
        client,
        {
            "fr ;\tq=0.5 ,\ten-US ; q=0.7": "en-US",
            "fr;Q=0.5,en-US;Q=0.7": "en-US",
            ", ,fr;q=0.5,,en-gb;q=0.7,": "en-US",
        },
    )


def check_malformed_items_are_ignored(client):
    """An item that is not well-formed is left out, and the others still count."""
    for bad in (
        "en-US;q=2",
        "en-US;q=1.001",
        "en-US;q=-1",
        "en-US;q=0.1234",
        "en-US;q=high",
        "en-US;q=",
        "en-US;q",
        "en-US;x=1",
        "en-US q=1",
        "en_US",
        "en-",
        "-en",
        "en--US",
        "e1-US",
        "*-US",
        "en-abcdefghi",
        ";q=1",
        "en-US;q=nan",
        "en-US;q=1e0",
    ):
        all_speak(client, {f"{bad}, fr;q=0.3": "fr", f"fr;q=0.3,{bad}": "fr"})


def check_several_header_lines(client):
    """Several Accept-Language lines are one list."""
    speaks(greet(client, "zh", "fr;q=0.4", "pt-PT;q=0.6"), "pt-PT")
    speaks(greet(client, "fr;q=0.4, en-US;q=0", "*;q=0.1"), "fr")
    speaks(greet(client, "fr", "en"), "fr")


def check_query_overrides(client):
    """The parameter lang decides over cookie and header, and must be an available language."""
    speaks(greet(client, "fr", query="?lang=pt-PT", cookie="en-US"), "pt-PT")
    speaks(greet(client, "fr;q=0.5", query="?lang=EN-us"), "en-US")
    speaks(greet(client, "fr", query="?name=ada&lang=de", cookie="fr"), "de")
    for value in ("en", "zh", "", "*", "de-AT", "fr;q=1", "pt_BR"):
        is_answer(greet(client, "fr", query=f"?lang={value}", cookie="fr"), 400, UNSUPPORTED)


def check_cookie_decides_over_the_header(client):
    """A cookie with an available language decides over the header; any other is ignored."""
    speaks(greet(client, "fr", cookie="pt-BR"), "pt-BR")
    speaks(greet(client, "de;q=0", cookie="de"), "de")
    speaks(greet(client, "fr", cookie="PT-br"), "pt-BR")
    speaks(greet(client, cookie="fr"), "fr")
    for value in ("zh", "en", "garbage", "%00", "", "fr-CA", "*"):
        speaks(greet(client, "pt-PT;q=0.5", cookie=value), "pt-PT")


def check_preference_is_kept_and_forgotten(client, new_client):
    """A preference is answered in its proper spelling, decides later greetings, and can be withdrawn."""
    is_answer(client.put("/preference", json={"language": "PT-br"}), 200, {"language": "pt-BR"})
    for _ in range(2):
        speaks(client.get("/greet", headers={"Accept-Language": "fr"}), "pt-BR")
    speaks(new_client().get("/greet", headers={"Accept-Language": "fr"}), "fr")
    is_answer(client.put("/preference", json={"language": "de"}), 200, {"language": "de"})
    speaks(client.get("/greet", headers={"Accept-Language": "fr"}), "de")
    status = client.delete("/preference").status_code
    assert status == 204, f"DELETE /preference: status {status}, expected 204"
    speaks(client.get("/greet", headers={"Accept-Language": "fr"}), "fr")
    status = client.delete("/preference").status_code
    assert status == 204, f"DELETE /preference without a preference: status {status}, expected 204"


def check_invalid_preferences(client):
    """Other languages and other bodies are 400 and leave the preference as it was."""
    client.put("/preference", json={"language": "pt-PT"})
    for given in ({}, {"language": "en"}, {"language": "zh"}, {"language": ""}, {"language": None}, {"language": 5}):
        is_answer(client.put("/preference", json=given), 400, UNSUPPORTED)
    for given in ({"language": ["de"]}, {"language": {"de": 1}}, [], ["de"], "de", None):
        is_answer(client.put("/preference", json=given), 400, UNSUPPORTED)
    for content in (b"", b"{", b"lang=de"):
        response = client.put("/preference", content=content, headers={"Content-Type": "application/json"})
        is_answer(response, 400, UNSUPPORTED)
    speaks(client.get("/greet", headers={"Accept-Language": "fr"}), "pt-PT")


def check_caches_are_told(client):
    """Every answer of the greeting says that it varies by language and cookie."""
    for response in (
        greet(client),
        greet(client, "fr"),
        greet(client, "zh", cookie="fr"),
        greet(client, query="?lang=fr"),
        greet(client, query="?lang=zh"),
    ):
        lines = ",".join(response.headers.get_list("Vary"))
        names = {name.strip().lower() for name in lines.split(",")}
        assert {"accept-language", "cookie"} <= names, f"{asked(response)}: Vary is {lines!r}"


def check_other_methods(client):
    """POST is 405 on both routes."""
    for path in ("/greet", "/preference"):
        status = client.post(path, json={"language": "de"}).status_code
        assert status == 405, f"POST {path}: status {status}, expected 405"
