"""Documents are read by a process that has given up everything else, and hostile ones harm nobody."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clients.documents.reader import DocumentReader, Reading, ReadingFailed, ReadingLimits
from clients.documents.reading_order import ReadingFailure
from tests.fixtures.pdf_documents import bomb, pictured, with_table, written

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
ROWS = [["Name", "Sum"], ["Rent", "1200"], ["Light", "80"]]


async def read(content: bytes, capability: str = "extract_text", **order: Any) -> Reading:
    return await DocumentReader().read({"capability": capability, **order}, content, lambda: None)


async def refused(
    content: bytes, limits: ReadingLimits | None = None, capability: str = "extract_text", **order: Any
) -> ReadingFailure:
    with pytest.raises(ReadingFailed) as caught:
        await DocumentReader(limits).read({"capability": capability, **order}, content, lambda: None)
    return caught.value.failure


async def test_the_text_of_the_wanted_pages_comes_in_their_order() -> None:
    document = written(["First page"], ["Second page"], ["Third page"])
    found = (await read(document, page_range="3,1")).found
    assert found["text"] == [
        {"page": 1, "text": "First page", "recognised": False},
        {"page": 3, "text": "Third page", "recognised": False},
    ]
    assert (found["page_count"], found["pages_read"], found["warning_codes"]) == (3, [1, 3], [])


@pytest.mark.thorough
async def test_a_page_that_is_a_picture_has_no_text_and_says_so_unless_it_is_recognised() -> None:
    document = pictured("Quarterly report")
    plain = (await read(document)).found
    assert plain["text"][0]["text"] == ""
    assert plain["warning_codes"] == ["PAGE_WITHOUT_TEXT"]
    recognised = (await read(document, ocr_fallback=True)).found
    assert recognised["text"] == [{"page": 1, "text": "Quarterly report", "recognised": True}]
    assert recognised["warning_codes"] == []


@pytest.mark.thorough
async def test_recognition_reads_the_pictures_of_pages_and_says_what_it_makes_of_a_language() -> None:
    found = (await read(pictured("Total 4711"), "ocr", language_hint="tlh")).found
    assert found["text"][0]["text"] == "Total 4711"
    assert found["warning_codes"] == ["OCR_LANGUAGE_NOT_SPECIFIC"]


@pytest.mark.parametrize("mode", ["auto", "strict"])
async def test_a_table_with_lines_is_found_cell_by_cell(mode: str) -> None:
    found = (await read(with_table(ROWS), "extract_tables", table_mode=mode)).found
    (table,) = found["tables"]
    assert table["rows"] == ROWS
    assert table["page"] == 1
    assert table["box"] == [72, 100, 312, 172]


async def test_a_table_without_lines_is_found_by_its_layout_only() -> None:
    document = with_table(ROWS, ruled=False)
    assert (await read(document, "extract_tables")).found["warning_codes"] == ["NO_TABLE_FOUND"]
    found = (await read(document, "extract_tables", table_mode="layout_preserving")).found
    rows = [row for row in found["tables"][0]["rows"] if any(row)]
    assert rows == ROWS


async def test_places_to_black_out_have_boxes_and_show_no_value() -> None:
    secrets = ["jane.doe@example.org", "4111 1111 1111 1111", "123-45-6789", "DE89 3704 0044 0532 0130 00"]
    document = written(
        [f"Mail {secrets[0]} or call +49 30 1234567", *secrets[1:], "Order 4111 1111 1111 1112"]
    )
    found = (await read(document, "redaction_prep")).found
    kinds = [one["kind"] for one in found["candidates"]]
    assert kinds == ["email", "phone", "credit_card", "ssn", "iban"]
    assert not any(secret in json.dumps(found) for secret in secrets)
    left, top, right, bottom = found["candidates"][3]["boxes"][0]
    assert left == 72
    assert top < 72 + 40 < bottom + 4
    assert right - left < 100


async def test_a_text_that_was_asked_for_is_found_in_any_case_and_not_repeated() -> None:
    document = written(["The PROJECT  Falcon starts", "projectfalcon does not"])
    found = (await read(document, "redaction_prep", pattern_set=["email", "project falcon"])).found
    (candidate,) = found["candidates"]
    assert (candidate["kind"], candidate["literal_index"]) == ("literal", 1)
    assert "falcon" not in json.dumps(found).lower()


@pytest.mark.thorough
async def test_places_in_pictures_are_found_as_whole_lines() -> None:
    found = (await read(pictured("write to jane@example.org"), "redaction_prep", pattern_set=["email"])).found
    (candidate,) = found["candidates"]
    assert candidate["recognised"] is True
    assert found["warning_codes"] == ["CANDIDATES_FROM_PICTURES"]


@pytest.mark.parametrize("content", [b"%PDF-1.7 and nothing", b"hello", b"%PDF-" + bytes(range(256)) * 40])
async def test_what_is_no_document_is_refused_in_words(content: bytes) -> None:
    failure = await refused(content)
    assert failure["code"] == "ACROBAT_EXTRACTION_FAILED"
    assert "damaged or no PDF" in failure["message"]


async def test_a_locked_document_is_refused_and_the_password_is_named_as_the_reason() -> None:
    failure = await refused(written(["secret"], password="open sesame"))
    assert failure["code"] == "ACROBAT_EXTRACTION_FAILED"
    assert "password" in failure["message"]


async def test_a_page_that_is_not_there_is_refused_before_anything_is_read() -> None:
    failure = await refused(written(["one"]), page_range="2")
    assert failure["code"] == "VALIDATION_FAILED"
    assert "ends on page 1" in failure["message"]


async def test_too_many_pages_are_refused() -> None:
    failure = await refused(written(["1"], ["2"], ["3"]), ReadingLimits(max_pages=2))
    assert "3 pages, more than 2" in failure["message"]


@pytest.mark.thorough
async def test_a_bomb_bursts_within_its_limit_of_memory() -> None:
    failure = await refused(bomb(768 << 20), ReadingLimits(memory_bytes=512 << 20))
    assert failure["code"] == "ACROBAT_EXTRACTION_FAILED"
    assert failure["page"] == 1
    assert "memory" in failure["message"]


async def test_a_document_that_takes_too_long_is_given_up_with_the_page_it_came_to() -> None:
    document = written(*[["word " * 20] * 35] * 400)
    failure = await refused(document, ReadingLimits(wall_seconds=1.0))
    assert failure["code"] == "ACROBAT_EXTRACTION_FAILED"
    assert "longer than 1 s" in failure["message"]


async def test_an_answer_that_is_too_large_is_given_up() -> None:
    failure = await refused(written(["x" * 80] * 30), ReadingLimits(answer_bytes=1_000))
    assert "ask for fewer pages" in failure["message"]


async def test_what_the_caller_raises_ends_the_process_and_comes_out() -> None:
    class Stop(Exception):
        pass

    def beat() -> None:
        raise Stop

    document = written(*[["word " * 20] * 35] * 400)
    before = children()
    with pytest.raises(Stop):
        await DocumentReader().read({"capability": "extract_text"}, document, beat)
    assert children() <= before


async def test_a_cancelled_reading_leaves_no_process() -> None:
    document = written(*[["word " * 20] * 35] * 400)
    before = children()
    started = asyncio.Event()
    reading = asyncio.create_task(
        DocumentReader().read({"capability": "extract_text"}, document, started.set)
    )
    await started.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert children() <= before


@pytest.mark.thorough
async def test_a_document_waits_for_its_turn_and_gives_up_when_its_time_is_over() -> None:
    reader = DocumentReader(ReadingLimits(at_once=1))
    begun = asyncio.Event()
    slow = asyncio.create_task(
        reader.read(
            {"capability": "extract_text"}, written(*[["word " * 20] * 35] * 400), lambda: begun.set()
        )
    )
    await begun.wait()
    with pytest.raises(ReadingFailed, match="took all the time"):
        await reader.read({"capability": "extract_text"}, written(["short"]), lambda: None, 0.01)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    found = (await reader.read({"capability": "extract_text"}, written(["short"]), lambda: None)).found
    assert found["text"][0]["text"] == "short"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has the layers")
async def test_a_reading_process_is_held_by_both_layers() -> None:
    held = (await read(written(["one"]))).confinement
    assert held["landlock"] > 0
    assert held["seccomp"] is True


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has the layers")
@pytest.mark.parametrize(
    "attempt",
    [
        "open({secret!r}).read()",
        "open({new!r}, 'w')",
        "__import__('socket').socket()",
        "__import__('os').kill({parent}, 0)",
        "__import__('subprocess').run(['/bin/true'], check=True)",
    ],
)
def test_a_confined_process_reaches_no_file_no_network_and_no_other_process(
    attempt: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    tried = attempt.format(secret=str(secret), new=str(tmp_path / "new"), parent=os.getpid())
    script = (
        f"import sys; sys.path.append({str(ROOT)!r})\n"
        "import os, socket, subprocess\n"
        "from clients.documents.reading_process import confine\n"
        f"confine({str(ROOT)!r}, 10, 1 << 30)\n"
        f"try:\n    {tried}\nexcept OSError as error:\n    print('refused', error.errno)\n"
        "else:\n    print('reached')\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith("refused"), done.stdout + done.stderr
    assert not (tmp_path / "new").exists()


def children() -> set[str]:
    """The processes that this one has started and not yet heard the end of."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
