"""A session of commands in one shell of the sandbox: state that lasts, failures that count, hostile commands."""

import threading
import time
from pathlib import Path
from uuid import uuid4

import pytest

from contracts.learning.observation import LessonFolder
from contracts.learning.proposal import RehearsalCommand
from skills.rehearsal.sandbox import Sandbox, SandboxLimits
from skills.rehearsal.shell_session import SessionOutcome, Surroundings, prepare_jail, run_session

pytestmark = pytest.mark.thorough

LIMITS = SandboxLimits(wall_seconds=20.0, processes=40)


def command(text: str, folder: str = ".", *, may_fail: bool = False) -> RehearsalCommand:
    return RehearsalCommand(event_id=str(uuid4()), command=text, working_folder=folder, may_fail=may_fail)


def session(tmp_path: Path, *texts: str | RehearsalCommand, limits: SandboxLimits = LIMITS) -> SessionOutcome:
    tmp_path.chmod(0o755)
    prepare_jail(tmp_path)
    commands = [command(one) if isinstance(one, str) else one for one in texts]
    return run_session(Sandbox(tmp_path, limits), commands)


def statuses(tmp_path: Path, *texts: str | RehearsalCommand) -> list[int | None]:
    return [result.status for result in session(tmp_path, *texts).results]


def test_variables_functions_aliases_and_options_last_from_command_to_command(tmp_path: Path) -> None:
    assert (
        statuses(
            tmp_path,
            "name=value",
            "double() { echo $1$1; }",
            "alias say=echo",
            "shopt -s globstar",
            '[ "$(double $name)" = valuevalue ]',
            "say yes > answer.txt",
            "shopt -q globstar",
        )
        == [0] * 7
    )


def test_folders_of_the_lesson_stand_in_the_home_where_its_commands_name_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    work = prepare_jail(tmp_path)
    for name in ("photos", "w/site"):
        (work / name).mkdir(parents=True)
    folders = (
        LessonFolder(name="photos", places=("~/photos", "/home/u/photos")),
        LessonFolder(name="w/site", places=("~/w/site", "~/current")),
        LessonFolder(name="backup", places=("~/backup",), made=True),
        LessonFolder(name="photos", places=("~/../../etc",)),
    )
    commands = [
        command('SITE=~/current; echo x > "$SITE/a"', "photos"),
        command('cp "$HOME/w/site/a" ../w/site/b && cd ~/w/site && mv b ~/photos/c', "photos"),
        command("mkdir ~/backup", "photos"),
    ]
    outcome = run_session(Sandbox(tmp_path, LIMITS), commands, Surroundings(folders=folders))
    assert [result.status for result in outcome.results] == [0, 0, 0]
    assert (work / "w/site/a").read_text() == (work / "photos/c").read_text() == "x\n"
    assert "w/site/a" in outcome.written


def test_each_command_has_the_files_that_it_used(tmp_path: Path) -> None:
    outcome = session(tmp_path, "mkdir out", "echo one > out/a.txt", "cat out/a.txt", "rm out/a.txt")
    made, written, read, removed = (result.use for result in outcome.results)
    assert made.written == {"out"}
    assert written.written == {"out/a.txt"}
    assert (read.read, read.written) == ({"out/a.txt"}, set())
    assert removed.removed == {"out/a.txt"}
    assert not outcome.trace_is_partial


def test_what_each_command_printed_is_its_own(tmp_path: Path) -> None:
    outcome = session(tmp_path, "echo one", ":", "echo two")
    assert [result.output for result in outcome.results] == ["one\n", "", "two\n"]


def test_a_failure_within_a_pipeline_counts_and_ends_the_session(tmp_path: Path) -> None:
    assert statuses(tmp_path, "cat absent | sort > out.txt", "echo next") == [1, None]


def test_the_answer_of_a_program_that_answers_by_its_status_is_no_failure_within_a_pipeline(
    tmp_path: Path,
) -> None:
    assert statuses(tmp_path, "grep x /dev/null | wc -l", "diff /dev/null /etc/passwd | head -n 1") == [0, 0]


def test_an_answer_is_no_failure_of_a_command_that_may_fail_either(tmp_path: Path) -> None:
    assert statuses(tmp_path, command("diff /dev/null /etc/passwd | head -n 1", may_fail=True)) == [0]


def test_a_reader_that_stops_early_is_no_failure(tmp_path: Path) -> None:
    assert statuses(tmp_path, "yes | head -n 2") == [0]


def test_a_command_that_failed_when_it_was_shown_may_fail(tmp_path: Path) -> None:
    assert statuses(tmp_path, command("false", may_fail=True), "echo next") == [1, 0]


def test_a_command_runs_in_its_folder(tmp_path: Path) -> None:
    assert (
        statuses(
            tmp_path, command("echo x > file", "sub/deep"), "cat sub/deep/file", "cd /", "cat sub/deep/file"
        )
        == [0] * 4
    )


def test_a_folder_that_is_not_there_fails_where_folders_are_not_made(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    prepare_jail(tmp_path)
    commands = [command("echo x", "absent"), command("echo y")]
    outcome = run_session(Sandbox(tmp_path, LIMITS), commands, makes_folders=False)
    assert [result.status for result in outcome.results] == [None, None]
    assert outcome.failed_at(commands) == 0


def test_home_locale_and_time_zone_are_those_given(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    prepare_jail(tmp_path)
    outcome = run_session(
        Sandbox(tmp_path, LIMITS),
        [command('echo "$LC_ALL $TZ $GREETING"; [ "$HOME" != "$PWD" ]; git config user.name')],
        Surroundings("C", "Europe/Vienna", {"GREETING": "hello"}),
    )
    assert outcome.results[0].output == "C Europe/Vienna hello\nRehearsal\n"


@pytest.mark.parametrize(
    "text",
    ["if", "echo $(", "for x in", "echo 'open", "cat <<END\ntext", "echo \\", "done", "((", "{ echo a;"],
)
def test_a_command_that_bash_refuses_fails(tmp_path: Path, text: str) -> None:
    first, second, _ = statuses(tmp_path, "true", text, "true")
    assert first == 0
    assert second != 0


ENDS_OR_FAILS = (
    "exit",
    "exit 0",
    "kill $$",
    "kill -9 $$",
    "kill -STOP $$",
    "exec true",
    "exec 1>&- 2>&-; exec cat",
    "set -e; false",
    "set -n",
    "trap 'exit 0' DEBUG; true",
    "echo 0 > ../.driver/marks/0001; exit 0",
    "for f in 0000 0001 0002; do echo 0 > ../.driver/marks/$f; done; exit 0",
    "rm -rf ../.driver; exit 0",
    "__apprentice_stages=(0); exit 0",
    "return 0",
    ":(){ :|:& };:; exit 0",
)
"""What a command can do to the shell that runs it: it may fail, and nothing after it may count as carried out."""


@pytest.mark.parametrize("text", ENDS_OR_FAILS)
def test_a_command_that_ends_the_shell_has_not_succeeded(tmp_path: Path, text: str) -> None:
    limits = SandboxLimits(wall_seconds=2.0, processes=40)
    outcome = session(tmp_path, "true", text, "touch never", limits=limits)
    assert outcome.results[0].status == (None if "rm -rf" in text else 0)
    assert outcome.results[2].status is None
    assert not (tmp_path / "work/never").exists()


HARMLESS = (
    "unset -f __apprentice_end __apprentice_mark __apprentice_begin || true",
    "alias eval=true builtin=true read=true printf=true __apprentice_end=true",
    "eval() { :; }; printf() { :; }; cd() { :; }; read() { :; }",
    "set -u; set -f; set -C; set -x; set -o pipefail",
    "set -e",
    "trap 'echo trapped' EXIT ERR DEBUG RETURN",
    "IFS=x",
    "PATH=",
    "umask 777",
    "cd /",
    "cat",
    "sleep 100 &",
    "shopt -s nullglob failglob",
    "exec 2>&1",
    "echo 0 > ../.driver/marks/0002",
)
"""What a command can leave in the shell without keeping the next ones from being judged rightly."""


@pytest.mark.parametrize("text", HARMLESS)
def test_what_a_command_leaves_in_the_shell_fools_no_later_verdict(tmp_path: Path, text: str) -> None:
    first, good, bad = statuses(tmp_path, text, "echo done > file", "/bin/cat absent")
    assert (first, good) == (0, 0)
    assert bad not in (0, None) or text == "set -e"
    assert (tmp_path / "work/file").exists()


def test_a_function_named_builtin_makes_later_commands_fail_rather_than_succeed(tmp_path: Path) -> None:
    assert statuses(tmp_path, "builtin() { :; }", "false")[1] != 0


def test_reading_from_standard_input_meets_its_end(tmp_path: Path) -> None:
    assert statuses(tmp_path, "read answer || echo nothing", "cat | wc -c", "python3 -c 'input()'")[:2] == [
        0,
        0,
    ]


def test_endless_output_ends_with_the_time_and_is_kept_in_part(tmp_path: Path) -> None:
    outcome = session(tmp_path, "yes", limits=SandboxLimits(wall_seconds=2.0))
    assert outcome.outcome.timed_out
    assert outcome.results[0].status is None
    assert len(outcome.outcome.output) < 100_000


def test_it_ends_within_two_seconds_of_being_cancelled(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    prepare_jail(tmp_path)
    cancelled = threading.Event()
    ended_at: list[float] = []

    def progress(_count: int) -> None:
        if not cancelled.is_set():
            cancelled.set()
            ended_at.append(time.monotonic())

    commands = [command("sleep 60 & while :; do :; done")]
    outcome = run_session(Sandbox(tmp_path, LIMITS), commands, cancelled=cancelled, progress=progress)
    assert outcome.outcome.cancelled
    assert outcome.results[0].status is None
    assert ended_at


def test_progress_counts_the_commands_that_have_ended(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    prepare_jail(tmp_path)
    seen: list[int] = []
    commands = [command("true"), command("sleep 2.5"), command("true")]
    run_session(Sandbox(tmp_path, LIMITS), commands, progress=seen.append)
    assert 1 in seen
