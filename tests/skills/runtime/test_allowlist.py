"""The allowlist lies in the data directory and is believed only where it can be trusted (AM-02, X-3)."""

import json
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, Refusal
from contracts.skills.catalog import SkillRoot
from skills.runtime.allowlist import FILE_NAME, Allowlist

NOW = datetime(2026, 11, 23, tzinfo=UTC)
ONE, OTHER = "1" * 64, "2" * 64


def test_without_a_file_nobody_is_approved_and_what_ships_is(tmp_path: Path) -> None:
    read = Allowlist(tmp_path).read()

    assert (read.approvals, read.approvedSkills) == ((), None)


def test_an_approval_is_kept_for_this_user_alone(tmp_path: Path) -> None:
    Allowlist(tmp_path).approve(SkillRoot.WORKSPACE, "trial", ONE, "olga", NOW)

    (approved,) = Allowlist(tmp_path).read().approvals
    assert (approved.root, approved.name, approved.digest, approved.approved_by) == (
        SkillRoot.WORKSPACE,
        "trial",
        ONE,
        "olga",
    )
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_a_new_approval_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    allowlist = Allowlist(tmp_path)
    allowlist.approve(SkillRoot.WORKSPACE, "trial", ONE, "olga", NOW)
    allowlist.approve(SkillRoot.MANAGED, "trial", ONE, "olga", NOW)
    allowlist.approve(SkillRoot.WORKSPACE, "trial", OTHER, "olga", NOW)

    assert {(one.root, one.digest) for one in allowlist.read().approvals} == {
        (SkillRoot.WORKSPACE, OTHER),
        (SkillRoot.MANAGED, ONE),
    }


@pytest.mark.acceptance("AM-02")
def test_the_form_of_the_document_is_read_and_kept(tmp_path: Path) -> None:
    """Bare folder names."""
    (tmp_path / FILE_NAME).write_text('{"approvedSkills": ["calendar"]}')
    allowlist = Allowlist(tmp_path)

    allowlist.approve(SkillRoot.WORKSPACE, "trial", ONE, "olga", NOW)

    assert json.loads((tmp_path / FILE_NAME).read_text())["approvedSkills"] == ["calendar"]
    assert allowlist.read().approvedSkills == ("calendar",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"approvedSkills": "calendar"}',
        '{"approved": []}',
        '{"approvals": [{"root": "x"}]}',
        "{}" * 600_000,
    ],
)
def test_a_malformed_file_approves_nobody_and_is_not_written_over(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    allowlist = Allowlist(tmp_path)

    assert (allowlist.read().approvals, allowlist.read().approvedSkills) == ((), ())
    with pytest.raises(Refusal, match=FILE_NAME) as refused:
        allowlist.approve(SkillRoot.WORKSPACE, "trial", ONE, "olga", NOW)
    assert refused.value.code is ErrorCode.CONFLICT
    assert (tmp_path / FILE_NAME).read_text() == text


def test_a_file_that_others_may_write_or_that_is_a_link_approves_nobody(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_text('{"approvedSkills": ["calendar"]}')
    path.chmod(0o666)
    assert Allowlist(tmp_path).read().approvedSkills == ()

    path.chmod(0o600)
    moved = path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(moved)
    assert Allowlist(tmp_path).read().approvedSkills == ()
