from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.logging import scrub

SECRET = "s3cr3t-value"


@pytest.mark.parametrize(
    "key",
    [
        "token",
        "admin_token",
        "Authorization",
        "proxy-authorization",
        "Set-Cookie",
        "client_secret",
        "password",
        "api_key",
        "x-api-key",
        "private_key",
    ],
)
def test_what_stands_under_a_secret_key_is_masked_at_any_depth(key: str) -> None:
    assert SECRET not in repr(scrub({"outer": [{"inner": {key: SECRET}}], key: [SECRET]}))


@pytest.mark.parametrize("key", ["token_id", "tokens", "author", "secretary", "key"])
def test_what_only_resembles_a_secret_key_is_kept(key: str) -> None:
    assert scrub({key: SECRET}) == {key: SECRET}


@pytest.mark.parametrize(
    "text",
    [
        f"Bearer {SECRET}",
        f"authorization: bearer {SECRET}==",
        f"postgresql+psycopg://me:{SECRET}@host/name refused",
        f"GET /callback?access_token={SECRET}&state=1",
        f"password={SECRET}",
    ],
)
def test_a_secret_inside_a_text_is_masked(text: str) -> None:
    assert SECRET not in scrub(text)


@given(before=st.text(" /:=\"'(", max_size=5), after=st.text(" /:\"',)", max_size=5))
def test_our_own_tokens_are_masked_wherever_they_stand(before: str, after: str) -> None:
    assert "apr_0123" not in scrub(f"{before}apr_0123456789abcdef{after}")


@given(st.recursive(st.none() | st.integers() | st.booleans(), lambda inner: st.lists(inner, max_size=3)))
def test_values_without_text_come_through_unchanged(value: Any) -> None:
    assert scrub({"n": value}) == {"n": value}
