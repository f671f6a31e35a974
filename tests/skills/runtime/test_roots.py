"""Folders of the three roots: only what a person approved is opened, and nothing that is wrong stops the rest."""

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contracts.skills.catalog import ApprovedSkill, SkillAllowlist, SkillRecord, SkillRoot, SkillState
from skills.runtime.folder_digest import read_folder
from skills.runtime.roots import CHANGED, NOT_APPROVED, SkillRoots
from tests.skills.runtime.conftest import write_skill

NOW = datetime(2026, 11, 23, tzinfo=UTC)


class Roots:
    """Three roots, and who is approved in them."""

    def __init__(self, folder: Path) -> None:
        self.roots = SkillRoots(folder / "workspace", folder / "managed", folder / "bundled")
        self.approvals: list[ApprovedSkill] = []

    def approve(self, root: SkillRoot, name: str) -> None:
        """Approves a folder as it is, each later than the one before."""
        digest = read_folder(getattr(self.roots, root.value) / name).digest
        at = NOW.replace(second=len(self.approvals))
        self.approvals.append(
            ApprovedSkill(root=root, name=name, digest=digest, approved_by="olga", approved_at=at)
        )

    def scan(self, *, bundled: tuple[str, ...] | None = None) -> dict[str, SkillRecord]:
        """What is found, by root and folder."""
        allowlist = SkillAllowlist(approvals=tuple(self.approvals), approvedSkills=bundled)
        return {f"{one.root.value}/{one.name}": one for one in self.roots.scan(allowlist, NOW)}


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    """Three empty roots."""
    return Roots(tmp_path)


_opened: list[str] | None = None


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if _opened is not None and event in ("open", "os.listdir", "os.scandir"):
        _opened.append(str(arguments[0]))


@pytest.mark.acceptance("AM-03")
def test_an_unlisted_folder_is_named_and_nothing_in_it_is_opened(roots: Roots) -> None:
    """A pipe as SKILL.md would hold up whoever opens it."""
    global _opened
    folder = roots.roots.workspace / "stranger"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "SKILL.md")
    (folder / "handler.py").write_text("open('/tmp/marker', 'w')")
    sys.addaudithook(_watch)
    _opened = []
    try:
        found = roots.scan()["workspace/stranger"]
        opened = _opened
    finally:
        _opened = None

    assert (found.state, found.reason) == (SkillState.AWAITING_APPROVAL, NOT_APPROVED)
    assert (found.digest, found.manifest, found.documentation) == (None, None, "")
    assert opened == [str(roots.roots.workspace), str(roots.roots.managed), str(roots.roots.bundled)]


@pytest.mark.acceptance("AM-01", "AM-02")
def test_an_approved_folder_is_ready_and_shows_its_manifest(roots: Roots) -> None:
    """Nothing but the approval is added."""
    write_skill(roots.roots.workspace, "trial")
    roots.approve(SkillRoot.WORKSPACE, "trial")

    found = roots.scan()["workspace/trial"]

    assert found.state is SkillState.READY, found.reason
    assert found.manifest is not None
    assert found.digest == roots.approvals[0].digest


def test_a_folder_that_changed_awaits_approval_anew(roots: Roots) -> None:
    """X-3: an approval binds root, name and content."""
    folder = write_skill(roots.roots.workspace, "trial")
    roots.approve(SkillRoot.WORKSPACE, "trial")
    (folder / "handler.py").write_text("async def handle(p, c): return {'success': False}\n")

    found = roots.scan()["workspace/trial"]

    assert (found.state, found.reason, found.manifest) == (SkillState.AWAITING_APPROVAL, CHANGED, None)


def test_the_right_to_execute_belongs_to_the_content_and_caches_do_not(roots: Roots) -> None:
    folder = write_skill(roots.roots.workspace, "trial")
    before = read_folder(folder).digest
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "handler.pyc").write_bytes(b"x")
    assert read_folder(folder).digest == before

    (folder / "handler.py").chmod(0o755)
    assert read_folder(folder).digest != before


@pytest.mark.acceptance("AM-02")
def test_what_ships_with_the_product_is_approved_unless_the_list_names_others(roots: Roots) -> None:
    """Only what is listed loads."""
    write_skill(roots.roots.bundled, "calendar")
    write_skill(roots.roots.bundled, "send-message")

    assert {one.state for one in roots.scan().values()} == {SkillState.READY}
    listed = roots.scan(bundled=("calendar",))
    assert listed["bundled/calendar"].state is SkillState.READY
    assert listed["bundled/send-message"].state is SkillState.AWAITING_APPROVAL


@pytest.mark.acceptance("X-3")
def test_a_bare_name_approves_no_folder_of_another_root(roots: Roots) -> None:
    """X-3: a workspace folder of that name is not the audited one."""
    write_skill(roots.roots.workspace, "calendar")

    assert roots.scan(bundled=("calendar",))["workspace/calendar"].state is SkillState.AWAITING_APPROVAL


@pytest.mark.acceptance("AM-04")
def test_files_and_nested_folders_are_no_skills(roots: Roots) -> None:
    roots.roots.managed.mkdir(parents=True)
    (roots.roots.managed / "README.md").write_text("x")
    (roots.roots.managed / ".git").mkdir()
    write_skill(roots.roots.managed / "group", "inner")

    assert list(roots.scan()) == ["managed/group"]


BROKEN: dict[str, Callable[[Path], object]] = {
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "no JSON": lambda folder: (folder / "manifest.json").write_text("{"),
    "no UTF-8": lambda folder: (folder / "manifest.json").write_bytes(b"\xff"),
    "no object": lambda folder: (folder / "manifest.json").write_text("[]"),
    "deep": lambda folder: (folder / "manifest.json").write_text("[" * 100_000),
    "no handler": lambda folder: (folder / "handler.py").unlink(),
    "no function": lambda folder: (folder / "handler.py").write_text("x = 1\n"),
    "no Python": lambda folder: (folder / "handler.py").write_text("async def handle(\n"),
    "deep Python": lambda folder: (folder / "handler.py").write_text("(" * 100_000),
    "link": lambda folder: (folder / "data").symlink_to("/etc/passwd"),
    "pipe": lambda folder: os.mkfifo(folder / "pipe"),
    "large": lambda folder: (folder / "data").write_bytes(bytes(1_048_577)),
    "many": lambda folder: [(folder / str(number)).touch() for number in range(201)],
    "nested": lambda folder: (folder / "/".join("abcdefghij")).mkdir(parents=True),
    "control": lambda folder: (folder / "a\nb").touch(),
}


@pytest.mark.acceptance("AM-08", "AM-09")
def test_a_broken_folder_is_named_with_its_reason_and_the_good_one_is_ready(roots: Roots) -> None:
    """Each kind of fault beside a good one."""
    for number, change in enumerate(BROKEN.values()):
        change(write_skill(roots.roots.bundled, f"broken-{number}"))
    write_skill(roots.roots.bundled, "another").rename(roots.roots.bundled / "other-name")
    write_skill(roots.roots.bundled, "ask", function_name="ask_openclaw")
    write_skill(roots.roots.bundled, "good")
    (roots.roots.bundled / "linked").symlink_to(roots.roots.bundled / "good")

    found = roots.scan()

    assert found.pop("bundled/good").state is SkillState.READY
    assert len(found) == len(BROKEN) + 3
    reasons = {name: one.reason for name, one in found.items() if one.state is SkillState.MALFORMED}
    assert set(reasons) == set(found)
    assert all(reasons.values())


def test_a_folder_that_cannot_be_read_at_all_is_named(roots: Roots) -> None:
    name = b"\xff\xfe-skill"
    os.makedirs(os.path.join(os.fsencode(roots.roots.bundled), name))  # noqa: PTH103, PTH118

    (found,) = roots.scan().values()

    assert found.state is SkillState.MALFORMED
    assert SkillRecord.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize("first", [SkillRoot.WORKSPACE, SkillRoot.MANAGED])
def test_whoever_was_approved_first_keeps_the_name(roots: Roots, first: SkillRoot) -> None:
    """X-3: no root shadows an approved name, however high it stands."""
    second = SkillRoot.MANAGED if first is SkillRoot.WORKSPACE else SkillRoot.WORKSPACE
    for root in (first, second):
        write_skill(getattr(roots.roots, root.value), "trial")
        roots.approve(root, "trial")

    found = roots.scan()

    assert found[f"{first.value}/trial"].state is SkillState.READY
    refused = found[f"{second.value}/trial"]
    assert refused.state is SkillState.MALFORMED
    assert "its name is taken" in (refused.reason or "")


@pytest.mark.acceptance("AM-10")
@pytest.mark.acceptance("X-33")
def test_a_function_name_is_taken_as_well_however_it_is_spelled(roots: Roots) -> None:
    """X-33."""
    write_skill(roots.roots.bundled, "send-message")
    write_skill(roots.roots.workspace, "other", function_name="send_message")
    roots.approve(SkillRoot.WORKSPACE, "other")

    found = roots.scan()

    assert found["bundled/send-message"].state is SkillState.READY
    assert found["workspace/other"].state is SkillState.MALFORMED


def test_an_older_version_stands_beside_the_newer(roots: Roots) -> None:
    """X-30: a folder for each major."""
    write_skill(roots.roots.bundled, "trial", version="2.0.0")
    write_skill(roots.roots.bundled, "trial@1", version="1.4.0")

    allowlist = SkillAllowlist()
    found = {one.key: one.state for one in roots.roots.scan(allowlist, NOW)}

    assert found == {"bundled/trial@2.0.0": SkillState.READY, "bundled/trial@1.4.0": SkillState.READY}


def test_a_person_may_look_at_a_folder_before_approving_it(roots: Roots) -> None:
    """O-3: digest and permissions are shown first."""
    write_skill(roots.roots.workspace, "trial")

    seen = roots.roots.inspect("trial", None, NOW)

    assert seen is not None
    assert (seen.root, seen.state) == (SkillRoot.WORKSPACE, SkillState.READY)
    assert seen.digest == read_folder(roots.roots.workspace / "trial").digest
    assert roots.roots.inspect("trial", SkillRoot.MANAGED, NOW) is None
    assert roots.roots.inspect("../trial", None, NOW) is None
