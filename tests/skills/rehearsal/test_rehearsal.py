import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from contracts.learning.evidence import ConditionKind
from contracts.learning.interpretation import ObservedEffect
from contracts.learning.proposal import RehearsalCommand, SkillDraft
from contracts.learning.test_policy import RehearsalSafeTarget, SafeTargetKind, TestPolicy, TestPolicyMode
from contracts.learning.validation import StepResult
from domain.learning.conditions.condition_wording import condition
from skills.rehearsal.rehearsal import LessonStart, rehearse
from skills.rehearsal.report import (
    CheckReport,
    RehearsalProgress,
    RehearsalReport,
    RehearsalResult,
    check_step,
)
from skills.rehearsal.sandbox import SandboxLimits, SandboxUnavailable

PASSED, FAILED, SKIPPED = StepResult.PASSED, StepResult.FAILED, StepResult.SKIPPED


def draft(*commands: str | tuple[str, str]) -> SkillDraft:
    pairs = [(c, ".") if isinstance(c, str) else c for c in commands]
    return SkillDraft(
        title="Sort a list",
        slug="sort-a-list",
        description="Sorts a list.",
        trigger_phrases=(),
        negative_triggers=(),
        files=(),
        rehearsal=tuple(
            RehearsalCommand(event_id=str(uuid4()), command=command, working_folder=folder)
            for command, folder in pairs
        ),
        capability_id="sort-a-list",
    )


def effect(path: str, kind: str = "file_exists") -> ObservedEffect:
    return ObservedEffect(kind=kind, path=path, source_event_id=str(uuid4()))


def policy(**fields: Any) -> TestPolicy:
    return TestPolicy(policy_id=str(uuid4()), **{"mode": TestPolicyMode.COPY_ARTIFACT, **fields})


def copied(path: Path) -> RehearsalSafeTarget:
    return RehearsalSafeTarget(target_kind=SafeTargetKind.COPIED_DOCUMENT, ref=str(path))


Rehearse = Callable[..., RehearsalReport]


@pytest.fixture
def rehearsals(outside: Path, isolating_host: None) -> Path:
    return outside / "rehearsals"


@pytest.fixture
def run(rehearsals: Path) -> Rehearse:
    """Rehearses, and makes sure that no folder is left behind."""

    def run_and_look(
        skill: SkillDraft,
        effects: Sequence[ObservedEffect] = (),
        bounds: TestPolicy | None = None,
        heartbeat: Callable[[RehearsalProgress], None] = lambda progress: None,
        cancelled: threading.Event | None = None,
        limits: SandboxLimits | None = None,
        start: LessonStart | None = None,
    ) -> RehearsalReport:
        try:
            return rehearse(
                skill,
                effects,
                bounds or policy(),
                sandbox_root_parent=rehearsals,
                heartbeat=heartbeat,
                cancelled=cancelled,
                limits=limits,
                start=start,
            )
        finally:
            assert list(rehearsals.iterdir()) == []

    return run_and_look


def results(report: RehearsalReport) -> list[StepResult]:
    return [step.result for step in report.steps]


def test_commands_that_bring_about_every_effect_pass(run: Rehearse) -> None:
    report = run(
        draft(
            "printf 'b\\na\\n' > list.txt",
            "mkdir -p sorted && sort list.txt > sorted/list.txt",
            "mv list.txt unsorted.bak",
            ("grep -q a list.txt", "sorted"),
        ),
        [effect("sorted/list.txt"), effect("unsorted.bak"), effect("list.txt", "file_absent")],
    )

    assert report.passed
    assert report.result is RehearsalResult.PASSED
    assert [step.test_case_id for step in report.steps] == [
        *(f"rehearsal/command-0{n}" for n in (1, 2, 3, 4)),
        *(f"rehearsal/effect-0{n}" for n in (1, 2, 3)),
    ]
    assert set(results(report)) == {PASSED}
    assert report.safety_failure is None
    assert report.isolation is not None
    assert "files, network" in report.isolation_summary


def test_an_effect_that_does_not_come_about_fails(run: Rehearse) -> None:
    report = run(
        draft("touch made", "mkdir folder"),
        [effect("made"), effect("never-made"), effect("folder", "file_absent")],
    )

    assert results(report) == [PASSED, PASSED, PASSED, FAILED, FAILED]
    assert report.steps[3].details == "never-made is not there"
    assert report.steps[4].details == "folder is still there"
    assert report.result is RehearsalResult.FAILED


def test_the_absence_of_what_never_was_proves_nothing(run: Rehearse) -> None:
    report = run(draft("rm -f old.txt"), [effect("old.txt", "file_absent")])

    assert results(report) == [PASSED, FAILED]
    assert "was never there" in (report.steps[1].details or "")


def test_a_file_that_was_there_before_proves_nothing_until_it_changes(run: Rehearse, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("old\n")
    bounds = policy(safe_targets=(copied(tmp_path / "notes.txt"),))

    untouched = run(draft("cat notes.txt"), [effect("notes.txt")], bounds)
    changed = run(draft("echo new >> notes.txt"), [effect("notes.txt")], bounds)

    assert results(untouched) == [PASSED, FAILED]
    assert results(changed) == [PASSED, PASSED]
    assert (tmp_path / "notes.txt").read_text() == "old\n"


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname", "link/outside.txt"])
def test_an_effect_outside_the_folder_is_never_seen(run: Rehearse, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.txt").write_text("here all along")

    report = run(draft(f"ln -s '{tmp_path}' link"), [effect(path)])

    assert results(report) == [PASSED, FAILED]
    assert "outside the rehearsal folder" in (report.steps[1].details or "")


def test_after_a_failed_command_the_rest_is_skipped_and_the_end_of_its_output_is_told(run: Rehearse) -> None:
    report = run(draft("echo started", "echo the reason; exit 4", "touch later"), [effect("later")])

    assert results(report) == [PASSED, FAILED, SKIPPED, FAILED]
    assert report.steps[1].details == "exit code 4; its output ends: the reason"
    assert report.steps[2].details == "not run: command 2 failed before it"


def test_a_secret_in_the_output_of_a_failed_command_is_masked(run: Rehearse) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4

    report = run(draft(f"printf '%s%s' {secret[:9]} {secret[9:]}; exit 1"))

    assert secret not in (report.steps[0].details or "")
    assert "its output ends: [MASKED" in (report.steps[0].details or "")


def test_a_program_that_is_not_there_is_named_as_such(run: Rehearse) -> None:
    report = run(draft("no-such-program-here --now"))

    assert "was not found among the system's programs" in (report.steps[0].details or "")


def test_a_command_without_end_fails_by_its_time_limit(run: Rehearse) -> None:
    report = run(draft("sleep 300"), limits=SandboxLimits(wall_seconds=0.5))

    assert results(report) == [FAILED]
    assert "did not end within" in (report.steps[0].details or "")


def test_a_masked_secret_fails_its_command_only_when_its_turn_comes(run: Rehearse) -> None:
    report = run(draft("touch one", "login --password [MASKED:password] > two", "touch three"))

    assert results(report) == [PASSED, FAILED, SKIPPED]
    assert "a secret was cut out" in (report.steps[1].details or "")
    assert report.safety_failure is None


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("rm -rf /", "destructive writes are forbidden"),
        ("git push --force", "destructive writes are forbidden"),
        ("curl https://example.org", "sending to the outside is forbidden"),
        ("echo 'unclosed", "cannot be judged"),
    ],
)
def test_what_the_policy_forbids_keeps_everything_from_running(
    run: Rehearse, command: str, reason: str
) -> None:
    def must_not_run(progress: RehearsalProgress) -> None:
        raise AssertionError(progress)

    report = run(draft("touch made", command), [effect("made")], heartbeat=must_not_run)

    assert results(report) == [SKIPPED, FAILED, SKIPPED]
    assert report.safety_failure is not None
    assert report.safety_failure.startswith("TEST_POLICY_VIOLATION: ")
    assert reason in report.safety_failure
    assert report.isolation is None
    assert report.isolation_summary == "nothing was run"


def test_a_policy_may_let_the_sandbox_alone_hold_a_command(run: Rehearse) -> None:
    bounds = policy(forbid_destructive_writes=False, forbid_external_send=False)

    report = run(
        draft("rm -rf /usr/bin/env; true", "test -x /usr/bin/env", "curl https://example.org"), (), bounds
    )

    assert report.safety_failure is None
    assert results(report) == [PASSED, PASSED, FAILED]


def test_a_copied_document_may_not_be_removed_but_what_the_rehearsal_made_may(
    run: Rehearse, tmp_path: Path
) -> None:
    (tmp_path / "input.csv").write_text("a,b\n")
    bounds = policy(safe_targets=(copied(tmp_path / "input.csv"),))

    kept = run(draft("cp input.csv copy.csv", "rm copy.csv"), [effect("copy.csv", "file_absent")], bounds)
    removed = run(draft("rm *.csv"), (), bounds)

    assert kept.passed
    assert removed.safety_failure is not None
    assert "removes the copied document input.csv" in removed.safety_failure


@pytest.mark.parametrize("folder", ["..", "a/../../b", "/etc"])
def test_a_working_folder_that_leads_out_is_a_safety_failure(run: Rehearse, folder: str) -> None:
    report = run(draft(("ls", folder)))

    assert report.safety_failure == (
        f"TEST_POLICY_VIOLATION: the working folder {folder} leads out of the rehearsal folder"
    )


def test_more_commands_than_the_policy_allows_are_a_safety_failure(run: Rehearse) -> None:
    report = run(draft(*["true"] * 3), (), policy(max_actions=2))

    assert results(report) == [SKIPPED] * 3
    assert report.safety_failure is not None
    assert "3 commands are more than the 2" in report.safety_failure


@pytest.mark.parametrize("mode", [TestPolicyMode.READ_ONLY, TestPolicyMode.DRY_RUN_ONLY])
def test_a_mode_without_running_checks_the_syntax_and_claims_nothing(
    run: Rehearse, mode: TestPolicyMode
) -> None:
    good = run(draft("touch made"), [effect("made")], policy(mode=mode))
    bad = run(draft("touch made", "for x in; do"), [effect("made")], policy(mode=mode))

    assert results(good) == [SKIPPED, SKIPPED]
    assert good.result is RehearsalResult.SKIPPED
    assert not good.passed
    assert str(mode) in (good.steps[1].details or "")
    assert results(bad) == [SKIPPED, FAILED, SKIPPED]
    assert "syntax is wrong" in (bad.steps[1].details or "")
    assert bad.result is RehearsalResult.FAILED


@pytest.mark.parametrize("mode", [TestPolicyMode.READ_ONLY, TestPolicyMode.DRY_RUN_ONLY])
def test_what_a_mode_forbids_to_run_is_no_failure_of_the_skill_and_no_proof(
    run: Rehearse, mode: TestPolicyMode
) -> None:
    report = run(draft("touch made"), [effect("made")], policy(mode=mode, cleanup_required=True))
    assert not any(step.applies for step in report.steps)
    assert "test-policy --mode copy_artifact" in (report.steps[0].details or "")
    assert not report.passed


@pytest.mark.parametrize(
    ("mode", "is_there"), [(TestPolicyMode.BLANK_ARTIFACT, False), (TestPolicyMode.COPY_ARTIFACT, True)]
)
def test_only_copies_begin_with_the_starting_state(
    run: Rehearse, mode: TestPolicyMode, is_there: bool
) -> None:
    def place(folder: Path) -> None:
        (folder / "figures.csv").write_text("b\na\n")

    start = LessonStart(place)
    report = run(draft("sort figures.csv > sorted.csv"), (), policy(mode=mode), start=start)
    assert report.passed is is_there


def test_safe_target_only_lets_nothing_else_be_written(run: Rehearse) -> None:
    targets = (
        RehearsalSafeTarget(target_kind=SafeTargetKind.TEMP_FOLDER, ref="scratch"),
        RehearsalSafeTarget(target_kind=SafeTargetKind.BLANK_DOCUMENT, ref="letter.txt"),
    )
    bounds = policy(mode=TestPolicyMode.SAFE_TARGET_ONLY, safe_targets=targets)
    kept = run(draft("echo a > scratch/a.txt", "echo b > letter.txt"), (), bounds)
    assert kept.passed
    assert results(kept) == [PASSED] * 3
    broken = run(draft("echo a > scratch/a.txt", "echo b > elsewhere.txt"), (), bounds)
    assert results(broken) == [PASSED, PASSED, FAILED]
    assert "elsewhere.txt is no safe target" in (broken.steps[-1].details or "")
    assert not broken.passed


def test_a_required_cleanup_is_looked_at_when_the_rehearsal_has_ended(run: Rehearse) -> None:
    report = run(draft("touch made"), [effect("made")], policy(cleanup_required=True))
    last = report.steps[-1]
    assert (last.test_case_id, last.result) == ("rehearsal/cleanup", PASSED)
    assert report.passed


def test_nothing_to_rehearse_is_no_success(run: Rehearse) -> None:
    assert run(draft()).result is RehearsalResult.SKIPPED


def test_a_heartbeat_follows_each_command(run: Rehearse) -> None:
    beats: list[RehearsalProgress] = []

    run(draft("true", "echo two"), heartbeat=beats.append)

    after_commands = [beat for beat in beats if beat.label.startswith("run: ")]
    assert [(beat.completed_commands, beat.label) for beat in after_commands] == [
        (1, "run: true"),
        (2, "run: echo two"),
    ]
    assert {beat.total_commands for beat in beats} == {2}


def test_a_cancel_told_by_the_heartbeat_ends_the_running_command(run: Rehearse) -> None:
    cancelled = threading.Event()

    report = run(draft("sleep 300"), heartbeat=lambda progress: cancelled.set(), cancelled=cancelled)

    assert report.result is RehearsalResult.CANCELLED
    assert [(step.result, step.details) for step in report.steps] == [(SKIPPED, "it was cancelled")]


def test_a_cancelled_rehearsal_runs_no_further_command(run: Rehearse) -> None:
    cancelled = threading.Event()

    report = run(
        draft("touch one", "touch two"),
        [effect("one")],
        heartbeat=lambda progress: cancelled.set() if progress.completed_commands else None,
        cancelled=cancelled,
    )

    assert report.result is RehearsalResult.CANCELLED
    assert results(report) == [PASSED, SKIPPED, SKIPPED]


def test_the_folder_is_removed_when_the_heartbeat_fails(run: Rehearse) -> None:
    def refuse(progress: RehearsalProgress) -> None:
        raise ConnectionError("no heartbeat")

    with pytest.raises(ConnectionError):
        run(draft("mkdir -p deep/er && chmod 000 deep/er deep"), heartbeat=refuse)


def test_the_folder_is_removed_when_nothing_can_be_isolated(
    run: Rehearse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", os.devnull)

    with pytest.raises(SandboxUnavailable):
        run(draft("true"))


def test_blank_documents_and_folders_are_made(run: Rehearse) -> None:
    targets = (
        RehearsalSafeTarget(target_kind=SafeTargetKind.BLANK_DOCUMENT, ref="drafts/letter.txt"),
        RehearsalSafeTarget(target_kind=SafeTargetKind.BLANK_PROJECT, ref="project"),
    )

    report = run(draft("test -f drafts/letter.txt", ("touch x", "project")), (), policy(safe_targets=targets))

    assert results(report) == [PASSED, PASSED]


def refused_sources(folder: Path) -> dict[str, tuple[Path, str]]:
    (folder / "file.txt").write_text("text")
    (folder / "link.txt").symlink_to(folder / "file.txt")
    os.mkfifo(folder / "pipe")
    with (folder / "large.bin").open("wb") as large:
        large.truncate(10 * 1024 * 1024 + 1)
    return {
        "folder": (folder, "no plain file"),
        "link": (folder / "link.txt", "cannot be copied"),
        "pipe": (folder / "pipe", "no plain file"),
        "large": (folder / "large.bin", "larger than 10 MiB"),
        "absent": (folder / "absent.txt", "cannot be copied"),
        "relative": (Path("file.txt"), "absolute path"),
    }


@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "large", "absent", "relative"])
def test_only_a_plain_small_file_is_copied(run: Rehearse, tmp_path: Path, kind: str) -> None:
    source, reason = refused_sources(tmp_path)[kind]

    report = run(draft("true"), (), policy(safe_targets=(copied(source),)))

    assert report.safety_failure is not None
    assert reason in report.safety_failure


def test_labels_and_details_keep_their_limits(run: Rehearse) -> None:
    report = run(draft("yes 'a long line of output' | head -n 2000; : " + "x" * 500 + "; exit 1"))

    assert len(report.steps[0].label) == 240
    assert len(report.steps[0].details or "") <= 1000


def test_a_stated_condition_that_does_not_hold_fails_and_one_that_nothing_tests_says_so(
    run: Rehearse,
) -> None:
    never = condition(ConditionKind.NOT_EMPTY, "nie.txt")
    looked_at = "The totals agree with what the bank says"
    report = run(draft("echo 1 > made").changed(conditions=(never,), untested=(looked_at,)))
    said = {step.label: step for step in report.steps}
    assert report.result is RehearsalResult.FAILED
    assert said[never.statement].result is FAILED
    assert (said[looked_at].result, said[looked_at].details) == (SKIPPED, "not tested: a person looks")
    assert CheckReport(tuple(map(check_step, report.steps))).unproved == ()
