"""The call that an invocation belongs to is held to 64 KiB, in bytes as JSON and not in characters (O-22)."""

import pytest
from pydantic import ValidationError

from contracts.skills.invocation import MAX_CONTEXT_BYTES, CallContext


def test_a_transcript_of_letters_of_one_byte_is_taken() -> None:
    assert CallContext(id="call-1", transcript="a" * 60_000).transcript == "a" * 60_000


@pytest.mark.parametrize("letter", ["ü", "漢", '"', "\n"])
def test_a_transcript_that_takes_more_bytes_than_letters_is_refused_beyond_the_limit(letter: str) -> None:
    with pytest.raises(ValidationError, match=f"at most {MAX_CONTEXT_BYTES} are taken"):
        CallContext(transcript=letter * 60_000)
    assert CallContext(transcript=letter * 15_000).transcript == letter * 15_000
