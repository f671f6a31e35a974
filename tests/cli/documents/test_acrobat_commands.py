"""``apprentice pdf`` against a whole running service."""

import json
from pathlib import Path

import pytest

from cli.platform.output import ExitCode
from clients.apprentice.transport import ApiTransport
from contracts.mcp.dispatch import AskFirstDecision, MCPAskFirstDecisionRequest, MCPAskFirstDecisionResponse
from tests.cli.conftest import Person
from tests.fixtures.pdf_documents import pictured, with_table, written

pytestmark = pytest.mark.thorough


def file(folder: Path, content: bytes) -> str:
    path = folder / "document.pdf"
    path.write_bytes(content)
    return str(path)


@pytest.mark.thorough
def test_text_tables_and_pictures_of_a_document_are_printed(person: Person, tmp_path: Path) -> None:
    found = person.gets("pdf", "text", file(tmp_path, written(["Hello"], ["World"])), "--pages", "2")
    assert found["operation"]["status"] == "ok"
    assert [page["text"] for page in found["output"]["text"]] == ["World"]
    shown = person.types("pdf", "tables", file(tmp_path, with_table([["Rent", "1200"]])), "--mode", "strict")
    assert shown.exit_code == ExitCode.OK
    assert "Rent" in shown.stdout
    assert "1200" in shown.stdout
    assert "Total 4711" in person.types("pdf", "ocr", file(tmp_path, pictured("Total 4711"))).stdout
    assert "redaction_prep" in person.types("pdf", "health").stdout


def test_a_document_is_forgotten_with_what_was_found_once_that_is_printed(
    person: Person, tmp_path: Path
) -> None:
    document = file(tmp_path, written(["Payslip of May"]))
    found = person.gets("pdf", "text", document, "--forget")
    assert [page["text"] for page in found["output"]["text"]] == ["Payslip of May"]
    for digest in (found["output"]["source_digest"], found["operation"]["output_ref"].rpartition("/")[2]):
        gone = person.types("pdf", "forget", digest)
        assert gone.exit_code == ExitCode.REFUSED
        assert "forgotten already" in gone.stderr
    kept = person.gets("pdf", "text", document)
    shown = person.types("pdf", "forget", kept["operation"]["output_ref"])
    assert "nobody can read it any more" in shown.stdout


def test_redaction_is_listed_once_it_is_approved_and_the_command_says_how(
    person: Person, tmp_path: Path
) -> None:
    document = file(tmp_path, written(["Write to jane.doe@example.org"]))
    waiting = person.types("pdf", "redaction-prep", document, "--find", "email", "--request", "mine")
    assert waiting.exit_code == ExitCode.REFUSED
    assert "ACROBAT_REDACTION_PREP_REQUIRES_APPROVAL" in waiting.stderr
    assert "--request mine" in waiting.stderr
    again = person.types("pdf", "redaction-prep", document, "--find", "email", "--request", "mine", "--json")
    dispatch_id = json.loads(again.stdout)["operation"]["operation_id"]
    http = ApiTransport(person.state.api_url, person.token)
    approval = MCPAskFirstDecisionRequest(decision=AskFirstDecision.APPROVE_ONCE)
    http.write("POST", f"/api/mcp/ask-first/{dispatch_id}/approve", MCPAskFirstDecisionResponse, approval)
    http.close()
    done = person.types("pdf", "redaction-prep", document, "--find", "email", "--request", "mine")
    assert done.exit_code == ExitCode.OK, done.stderr
    assert "c-00001" in done.stdout
    assert "jane.doe" not in done.stdout


@pytest.mark.parametrize("content", [None, b"no document"])
def test_a_file_that_is_none_is_said_with_what_to_do(
    person: Person, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "missing.pdf" if content is None else Path(file(tmp_path, content))
    result = person.types("pdf", "text", str(path))
    assert result.exit_code in (ExitCode.USAGE, ExitCode.REFUSED)
    assert "cannot be read" in result.stderr or "no PDF document" in result.stderr
