"""Known secrets are found in a text wherever they stand, and nothing that is kept of them says one."""

import gc
import json
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from clients.platform.secret_fingerprints import SHORTEST, Fingerprints, covered, fingerprints_of

secret_texts = st.text(alphabet='ab"\\ /+=é', min_size=SHORTEST, max_size=14)
around = st.text(alphabet='ab"\\ /+=é', max_size=10)


def known(*secrets: str) -> Fingerprints:
    return Fingerprints(one for secret in secrets for one in fingerprints_of(secret))


@given(st.lists(secret_texts, min_size=1, max_size=4), st.data())
def test_of_a_text_exactly_what_is_in_a_secret_is_covered(secrets: list[str], data: st.DataObject) -> None:
    pieces = st.one_of(around, st.sampled_from(secrets))
    text = "".join(data.draw(st.lists(pieces, max_size=6)))
    written = {
        *secrets,
        *(json.dumps(one)[1:-1] for one in secrets),
        *(quote(one, safe="") for one in secrets),
    }
    written |= {json.dumps(one, ensure_ascii=False)[1:-1] for one in secrets}
    places = {
        (start, start + len(one))
        for one in written
        for start in range(len(text))
        if text.startswith(one, start)
    }
    assert set(known(*secrets).spans(text)) == places
    inside = {at for start, end in places for at in range(start, end)}
    left = "".join(letter for at, letter in enumerate(text) if at not in inside)
    assert covered(text, places, "") == left


def test_secrets_that_begin_or_end_alike_are_told_apart() -> None:
    tokens = [
        f"eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.{number:04}.signature-{number % 3}" for number in range(300)
    ]
    found = known(*tokens)
    assert len(found) == 300
    text = f"a {tokens[7]} and {tokens[7][:-1]} and {tokens[8][1:]} and {tokens[299]}"
    assert covered(text, found.spans(text), "*") == f"a * and {tokens[7][:-1]} and {tokens[8][1:]} and *"


def test_in_json_and_in_an_address_a_secret_is_found_as_it_is_written_there() -> None:
    secret = 'käse"pass\\word & more'
    found = known(secret)
    for written in (
        secret,
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        f"?key={quote(secret, safe='')}",
    ):
        assert "more" not in covered(written, found.spans(written), "*")


def test_what_is_shorter_than_eight_characters_is_no_secret_and_nothing_known_finds_nothing() -> None:
    assert len(known("1234567")) == 0
    assert list(known().spans("anything at all")) == []
    assert list(known("12345678").spans("1234567")) == []


def test_nothing_that_is_kept_holds_the_secret() -> None:
    secret = "".join(["canary-", "f00d-", "4711-42"])
    found = known(secret)
    seen, left = {id(found)}, [found.__dict__]
    while left:
        for part in gc.get_referents(left.pop()):
            if id(part) not in seen and isinstance(part, str | bytes | dict | set | tuple | list):
                seen.add(id(part))
                left.append(part)
                assert not (isinstance(part, str) and part in secret and len(part) > 3)
                assert not (isinstance(part, bytes) and part in secret.encode() and len(part) > 3)
