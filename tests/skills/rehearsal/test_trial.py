import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from contracts.learning.evidence import ConditionKind, ProofCondition
from contracts.learning.proposal import RehearsalCommand
from contracts.learning.trials import TrialCommandResult, TrialConditionResult
from domain.learning.proof.trial import PlacedScript, Trial
from host.folder_archive import ArchiveLimits, pack_folder, unpack_folder
from skills.rehearsal.trial import TRIAL_LIMITS, TrialReport, run_trial

LIMITS = ArchiveLimits(100, 1_000_000)


def _trial(
    *commands: str, conditions: Sequence[ProofCondition] = (), scripts: Sequence[PlacedScript] = ()
) -> Trial:
    made = (RehearsalCommand(event_id=str(uuid4()), command=one, working_folder=".") for one in commands)
    return Trial(tuple(made), tuple(conditions), tuple(scripts))


def _run(tmp_path: Path, trial: Trial, *, cancelled: bool = False) -> TrialReport:
    def place(folder: Path) -> None:
        (folder / "in.csv").write_text("b\na\n")

    stop = threading.Event()
    if cancelled:
        stop.set()
    return run_trial(
        trial,
        tmp_path / "jails",
        place=place,
        collect=lambda folder: pack_folder(folder, LIMITS),
        cancelled=stop,
        progress=lambda _: None,
        limits=replace(TRIAL_LIMITS, wall_seconds=60),
    )


def _unpacked(report: TrialReport, folder: Path) -> Path:
    folder.mkdir()
    assert report.result is not None
    unpack_folder(report.result, folder, LIMITS)
    return folder


def _condition(kind: ConditionKind, path: str, argument: str = "") -> ProofCondition:
    return ProofCondition(kind=kind, path=path, argument=argument, statement=f"{kind.value} {path}")


def test_what_the_commands_made_is_handed_out_and_the_folder_of_the_trial_is_gone(tmp_path: Path) -> None:
    report = _run(tmp_path, _trial("sort in.csv > out.csv", "x=1", "echo $x > x.txt; chmod 000 x.txt"))
    assert report.passed
    out = _unpacked(report, tmp_path / "out")
    assert (out / "out.csv").read_text() == "a\nb\n"
    assert (out / "x.txt").read_text() == "1\n"
    assert list((tmp_path / "jails").iterdir()) == []


def test_a_condition_that_nothing_tests_is_told_as_one_that_a_person_looks_at(tmp_path: Path) -> None:
    report = _run(tmp_path, replace(_trial("sort in.csv > out.csv"), untested=("The list looks right",)))
    assert report.passed
    assert [(one.statement, one.result, one.details) for one in report.conditions] == [
        ("The list looks right", TrialConditionResult.NOT_CHECKED, "not tested: a person looks")
    ]


def test_a_command_that_fails_ends_the_trial_with_its_output_and_hands_out_what_there_is(
    tmp_path: Path,
) -> None:
    trial = _trial(
        "touch first",
        "cat absent.csv",
        "touch never",
        conditions=[_condition(ConditionKind.EXISTS, "first")],
    )
    report = _run(tmp_path, trial)
    assert not report.passed
    assert [one.result for one in report.commands] == [
        TrialCommandResult.WORKED,
        TrialCommandResult.FAILED,
        TrialCommandResult.NOT_RUN,
    ]
    assert "absent.csv" in (report.commands[1].details or "")
    assert [one.result for one in report.conditions] == [TrialConditionResult.NOT_CHECKED]
    assert sorted(path.name for path in _unpacked(report, tmp_path / "out").iterdir()) == ["first", "in.csv"]


def test_a_result_that_was_there_already_counts_once_it_is_made_again(tmp_path: Path) -> None:
    made = [_condition(ConditionKind.NOT_EMPTY, "in.csv")]
    assert _run(tmp_path, _trial("printf 'b\\na\\n' > in.csv", conditions=made)).passed
    untouched = _run(tmp_path, _trial("sort in.csv > out.csv", conditions=made))
    assert [one.result for one in untouched.conditions] == [TrialConditionResult.FAILED]


@pytest.mark.parametrize(
    ("command", "results"),
    [
        ('for f in *.csv; do mv "$f" "new-$f"; done', [TrialConditionResult.HOLDS] * 3),
        (
            "true",
            [TrialConditionResult.FAILED, TrialConditionResult.NOT_APPLICABLE, TrialConditionResult.FAILED],
        ),
        (
            'for f in *.csv; do cp "$f" "new-$f"; done',
            [TrialConditionResult.HOLDS] * 2 + [TrialConditionResult.FAILED],
        ),
    ],
)
def test_conditions_on_files_by_pattern_are_checked_on_the_files_that_are_there(
    tmp_path: Path, command: str, results: list[TrialConditionResult]
) -> None:
    same = ProofCondition(kind=ConditionKind.SAME_CONTENT, path="new-*.csv", other="*.csv", statement="same")
    conditions = [
        same,
        _condition(ConditionKind.NOT_EMPTY, "new-*.csv"),
        _condition(ConditionKind.ABSENT, "i*.csv"),
    ]
    assert [
        one.result for one in _run(tmp_path, _trial(command, conditions=conditions)).conditions
    ] == results


def test_a_condition_holds_fails_or_does_not_apply(tmp_path: Path) -> None:
    trial = _trial(
        "sort in.csv > out.csv",
        conditions=[
            _condition(ConditionKind.SORTED, "out.csv", "by=space:0 as=text order=ascending header=0"),
            _condition(ConditionKind.HOLDS_TEXT, "out.csv", "zebra"),
            _condition(ConditionKind.ABSENT, "scan-17.png"),
        ],
    )
    report = _run(tmp_path, trial)
    assert [one.result for one in report.conditions] == [
        TrialConditionResult.HOLDS,
        TrialConditionResult.FAILED,
        TrialConditionResult.NOT_APPLICABLE,
    ]
    assert not report.passed


def test_a_condition_on_a_file_that_a_command_names_applies_although_it_is_not_there(tmp_path: Path) -> None:
    trial = _trial("test -e out.csv || true", conditions=[_condition(ConditionKind.EXISTS, "out.csv")])
    assert [one.result for one in _run(tmp_path, trial).conditions] == [TrialConditionResult.FAILED]


def test_a_script_of_the_bundle_is_there_unless_the_folder_has_its_own(tmp_path: Path) -> None:
    scripts = [PlacedScript("tools/up.sh", "#!/bin/sh\ntr a-z A-Z\n"), PlacedScript("in.csv", "other")]
    report = _run(tmp_path, _trial("./tools/up.sh < in.csv > up.csv", scripts=scripts))
    assert report.passed, report.commands
    assert (_unpacked(report, tmp_path / "out") / "up.csv").read_text() == "B\nA\n"


def test_nothing_outside_is_touched(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    report = _run(tmp_path, _trial(f"echo x > {outside}"))
    assert not report.passed
    assert not outside.exists()


def test_a_cancelled_trial_has_no_result(tmp_path: Path) -> None:
    report = _run(tmp_path, _trial("sleep 60"), cancelled=True)
    assert report.cancelled
    assert report.result is None


@pytest.mark.parametrize("secret", ["ghp_" + "a1B2" * 9])
def test_a_secret_in_the_output_is_masked(tmp_path: Path, secret: str) -> None:
    report = _run(tmp_path, _trial(f"cat in.csv; printf 'token %s%s' {secret[:4]} {secret[4:]}; false"))
    assert secret not in (report.commands[0].details or "")
