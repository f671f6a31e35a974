"""What an answer says can be done next with an import is what the import takes."""

from datetime import timedelta

import pytest

from contracts.imports.import_record import SkillImportState as S
from contracts.imports.import_rules import allowed_commands
from contracts.imports.import_work import SkillImport
from contracts.imports.scanning import ScanHold
from contracts.platform.identity import Scope
from domain.imports.import_advice import next_steps
from tests.domain.imports.test_import_rules import IMPORT_ID, NOW, standing

BEGINS_ANEW = {"add", "scan"}
READS = {"show"}


@pytest.mark.parametrize("state", list(S))
def test_every_step_that_is_named_is_one_that_the_import_takes(state: S) -> None:
    for one in next_steps(standing(state), NOW):
        program, group, *words = one.command.split()
        assert program == "apprentice"
        if group == "abilities" or words[0] in BEGINS_ANEW | READS:
            continue
        kind = words[2] if words[0] == "retry" else ""
        assert f"{words[0]} {kind}".strip() in allowed_commands(state)
        assert words[1] == IMPORT_ID


def test_a_bundle_that_cannot_be_staged_is_not_said_to_be_staged_next() -> None:
    present = standing(S.SCAN_COMPLETE, compatible=False)
    assert [one.command.split()[2] for one in next_steps(present, NOW)] == ["add", "discard"]


def test_a_reason_is_asked_for_where_findings_hold_the_import_up() -> None:
    held = ScanHold(needs=Scope.APPROVE, codes=("SCAN_BROAD_TOOLS",))
    first = next_steps(standing(S.READY_FOR_REVIEW, held=held), NOW)[0]
    assert first.command == f"apprentice import install {IMPORT_ID} --override REASON"


def words_of(present: SkillImport) -> list[str]:
    return [one.command.split()[2] for one in next_steps(present, NOW)]


def test_a_scan_that_read_the_archive_and_refused_it_is_not_said_to_be_tried_again() -> None:
    assert words_of(standing(S.SCAN_FAILED, report_blob="0" * 64)) == ["add", "discard"]
    assert words_of(standing(S.SCAN_FAILED)) == ["retry", "add", "discard"]


def test_an_install_that_a_check_refused_is_mended_first_and_can_be_dropped() -> None:
    failed = standing(S.INSTALL_FAILED)
    refused = failed.changed(record=failed.record.changed(last_error_code="VALIDATION_REQUIRED"))
    assert words_of(refused) == ["add", "discard", "retry"]
    aside = refused.changed(record=refused.record.changed(set_aside_at=NOW))
    assert words_of(aside) == ["add", "retry"]


def test_an_approved_import_whose_upload_is_gone_begins_with_its_archive() -> None:
    (only,) = next_steps(standing(S.APPROVED), NOW + timedelta(days=2))
    assert only.command == "apprentice import add FILE.zip"
    assert next_steps(standing(S.DISCARDED), NOW) == ()
