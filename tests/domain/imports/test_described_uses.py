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

TYPICAL = {
    "wants done": (
        "Sorts a CSV by a column. Use when the user wants a CSV sorted or rows deduplicated.",
        ("Sorts a CSV by a column", "sort a CSV", "deduplicate rows"),
    ),
    "mentions": (
        "Extract text and tables from PDF files, fill in forms, and merge documents. Use when working with PDF files or"
        " when the user mentions PDFs, forms, or document extraction.",
        (
            "Extract text and tables from PDF files",
            "fill in forms",
            "merge documents",
            "PDF files",
            "PDFs",
            "forms",
            "document extraction",
        ),
    ),
    "is involved": (
        "Use this skill any time a slide deck is involved: making a pitch deck, reading the text of a .pptx, or"
        " changing an existing presentation.",
        ("making a pitch deck", "reading the text of a .pptx", "changing an existing presentation"),
    ),
    "help with, or wants done": (
        "Generates clear commit messages from git diffs. Use when the user asks for help writing a commit message or"
        " wants their staged changes reviewed.",
        (
            "Generates clear commit messages from git diffs",
            "writing a commit message",
            "review their staged changes",
        ),
    ),
    "need a thing, or want it done": (
        "Reviews pull requests. Use when you need a code review or want a PR checked before merging.",
        ("Reviews pull requests", "a code review", "check a PR before merging"),
    ),
    "supports": (
        "Toolkit for testing web applications. Supports checking the frontend, debugging the UI, and viewing logs.",
        ("testing web applications", "checking the frontend", "debugging the UI", "viewing logs"),
    ),
    "a possessive": (
        "Write announcements in the company's format. Use whenever asked to write a status report or a newsletter.",
        ("Write announcements in the company's format", "write a status report or a newsletter"),
    ),
    "apply": (
        "Applies the brand's colours to any document. Use it when brand colours, or company design standards apply.",
        ("Applies the brand's colours to any document", "brand colours", "company design standards"),
    ),
    "a guide": (
        "Guide for making MCP servers. Use when building an MCP server in Python or in Node.",
        ("making MCP servers", "building an MCP server in Python or in Node"),
    ),
    "needs several things done": (
        "Downloads videos from the web. Use if someone needs a video downloaded, an MP3 extracted from a clip, or"
        " subtitles saved.",
        (
            "Downloads videos from the web",
            "download a video",
            "extract an MP3 from a clip",
            "save subtitles",
        ),
    ),
    "requests in quotation marks": (
        'Rename files. Use when someone says "tidy my downloads", "sort these files" or "clean up this folder".',
        ("Rename files", "tidy my downloads", "sort these files", "clean up this folder"),
    ),
    "needs to be done": (
        "Turns transcripts into minutes. Use when a transcript needs to be summarised or action items have to be"
        " extracted.",
        ("Turns transcripts into minutes", "summarise a transcript", "extract action items"),
    ),
    "whether, and a key": (
        "Looks up current weather. No API key required. Use when the user asks about the weather, the temperature or"
        " whether it will rain.",
        ("Looks up current weather", "the weather", "the temperature"),
    ),
    "wants to have done": (
        "Query a database with SQL. Use when the user wants to have data looked up, a schema explained, or a slow query"
        " analysed.",
        ("Query a database with SQL", "look up data", "explain a schema", "analyse a slow query"),
    ),
    "triggers": (
        "Translate documents. Triggers: translate this document, make a German version, localise this page.",
        ("Translate documents", "translate this document", "make a German version", "localise this page"),
    ),
    "use for": (
        "Backs up a folder to S3. Use for nightly backups, for restoring a lost file, and for comparing backups.",
        ("Backs up a folder to S3", "nightly backups", "restoring a lost file", "comparing backups"),
    ),
    "should be done": (
        "Converts images between formats. Use when images should be resized, compressed or converted.",
        ("Converts images between formats", "resize images", "compress images", "convert images"),
    ),
    "one thing in several ways": (
        "Keeps a board of tasks. Use when the user wants a card created, moved or archived.",
        ("Keeps a board of tasks", "create a card", "move a card", "archive a card"),
    ),
    "complains, or wants": (
        "Optimise Docker images. Use when an image is too large, or the user wants a Dockerfile reviewed.",
        ("Optimise Docker images", "review a Dockerfile"),
    ),
    "a rule of its own": (
        "Write release notes. The version must be written in full. Use when the user wants to publish a release.",
        ("Write release notes", "publish a release"),
    ),
}

_WORDS = (
    "Use", "when", "the", "not", "for", "(", ")", ",", "or", ":", ".", "wants", "to", "edit", "etc", "such as",
)  # fmt: skip


@pytest.mark.parametrize(("description", "uses", "not_for"), DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_each_use_that_is_described_is_read(
    description: str, uses: tuple[str, ...], not_for: tuple[str, ...]
) -> None:
    assert described_uses(description) == (uses, not_for)


@pytest.mark.parametrize(("description", "uses"), TYPICAL.values(), ids=TYPICAL)
def test_uses_are_read_as_they_would_be_asked_for(description: str, uses: tuple[str, ...]) -> None:
    assert described_uses(description).uses == uses


@given(st.text(max_size=1024) | st.lists(st.sampled_from(_WORDS)).map(" ".join))
def test_whatever_is_written_what_is_read_is_bounded_and_never_both(description: str) -> None:
    found = described_uses(description)
    for phrases in found:
        assert len(phrases) <= MOST_USES
        assert all(3 <= len(phrase) <= 120 for phrase in phrases)
    assert not set(found.uses) & set(found.not_for)
