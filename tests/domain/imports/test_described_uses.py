"""What a foreign skill is for and what it is not for, read from the prose of its description."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.imports.described_uses import MOST_USES, described_uses

DESCRIPTIONS = {
    "wishes of a user": (
        "Converts recordings to text. Use this skill whenever the user wants to transcribe a meeting, caption a video,"
        " or translate an interview. Do NOT use for music or live streams.",
        ("Converts recordings to text", "transcribe a meeting", "caption a video", "translate an interview"),
        ("music or live streams",),
    ),
    "verbs that share an object": (
        "Create, edit, and archive invoices. Triggers include: any mention of an invoice or a receipt."
        " Not for payroll.",
        ("Create invoices", "edit invoices", "archive invoices", "an invoice or a receipt"),
        ("payroll",),
    ),
    "formats in parentheses": (
        "Toolkit for map making (GeoJSON, shapefiles). Use when the user asks to draw, annotate or export a map.",
        ("map making", "GeoJSON", "shapefiles", "draw a map", "annotate or export a map"),
        (),
    ),
    "an enumeration after a colon": (
        "Guides users through planting a garden: choosing seeds, laying out beds, and watering schedules, etc.",
        ("planting a garden", "choosing seeds", "laying out beds", "watering schedules"),
        (),
    ),
    "examples": (
        "Helps you to rename files; sort downloads; and delete duplicates such as copies or thumbnails.",
        ("rename files", "sort downloads", "delete duplicates", "copies or thumbnails"),
        (),
    ),
    "what does not trigger it": (
        "Resize photos in a folder. Don't trigger when the user only wants to view photos.",
        ("Resize photos in a folder",),
        ("view photos",),
    ),
    "what it is": ("A collection of recipes for people.", ("A collection of recipes for people",), ()),
    "a verb without an object": ("Use when asked to pack.", (), ()),
    "nothing": ("", (), ()),
}

_WORDS = (
    "Use", "when", "the", "not", "for", "(", ")", ",", "or", ":", ".", "wants", "to", "edit", "etc", "such as",
)  # fmt: skip


@pytest.mark.parametrize(("description", "uses", "not_for"), DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_each_use_that_is_described_is_read(
    description: str, uses: tuple[str, ...], not_for: tuple[str, ...]
) -> None:
    assert described_uses(description) == (uses, not_for)


@given(st.text(max_size=1024) | st.lists(st.sampled_from(_WORDS)).map(" ".join))
def test_whatever_is_written_what_is_read_is_bounded_and_never_both(description: str) -> None:
    found = described_uses(description)
    for phrases in found:
        assert len(phrases) <= MOST_USES
        assert all(3 <= len(phrase) <= 120 for phrase in phrases)
    assert not set(found.uses) & set(found.not_for)
