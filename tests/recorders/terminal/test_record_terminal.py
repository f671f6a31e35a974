import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PATIENCE_S = 20

RECORDER = """
import sys
from pathlib import Path
from recorders.delivery import IngestTarget
from recorders.terminal.recording import TerminalRecorderOptions, record_terminal
session, url, spool, folder = sys.argv[1:]
options = TerminalRecorderOptions(session, IngestTarget(url, "tok"), Path(spool), Path(folder), flush_timeout_s=5)
sys.exit(0 if record_terminal(options).complete else 1)
"""

BASHRC = """
PS1='mine> '
alias local=false printf=false
greet() { touch "greeted $1"; }
PROMPT_COMMAND='echo "[status $?]"'
HISTCONTROL=ignoredups
"""


class Person:
    """Somebody at a terminal in which the recorder runs."""

    def __init__(self, arguments: list[str], home: Path) -> None:
        self.screen = b""
        self._seen = 0
        self._master, self._slave = pty.openpty()
        self.settings = termios.tcgetattr(self._slave)
        environment = os.environ | {"HOME": str(home), "TMPDIR": str(home), "TERM": "xterm"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", RECORDER, *arguments],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            cwd=ROOT,
            env=environment,
            start_new_session=True,
        )

    def reads(self, text: str) -> None:
        """Waits until ``text`` appears after what was read before."""
        while text.encode() not in self.screen[self._seen :]:
            ready, _, _ = select.select([self._master], [], [], PATIENCE_S)
            assert ready, f"{text!r} did not appear; the screen shows {self.screen.decode()!r}"
            self.screen += os.read(self._master, 65536)
        self._seen = self.screen.index(text.encode(), self._seen) + len(text)

    def types(self, line: str) -> None:
        os.write(self._master, line.encode() + b"\n")

    def resizes(self, rows: int, columns: int) -> None:
        termios.tcsetwinsize(self._slave, (rows, columns))
        self.process.send_signal(signal.SIGWINCH)

    def settings_now(self) -> list[object]:
        return termios.tcgetattr(self._slave)

    def leave(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self._slave)


@pytest.fixture
def person(ingest_server, session_id: str, tmp_path: Path) -> Iterator[Callable[[], Person]]:
    home, folder = tmp_path / "home", tmp_path / "demo"
    home.mkdir()
    folder.mkdir()
    (home / ".bashrc").write_text(BASHRC, encoding="utf-8")
    (home / ".bash_history").write_text("echo from before\n", encoding="utf-8")
    people: list[Person] = []

    def sit_down() -> Person:
        arguments = [session_id, ingest_server.url, str(tmp_path / "spool"), str(folder)]
        people.append(Person(arguments, home))
        return people[-1]

    yield sit_down
    for someone in people:
        someone.leave()


def test_a_person_sees_that_recording_is_on_and_keeps_their_shell(
    ingest_server, person: Callable[[], Person], session_id: str, tmp_path: Path
) -> None:
    (tmp_path / "demo" / "input.csv").write_text("a,b\n", encoding="utf-8")
    someone = person()
    someone.reads(f"recording this terminal for session {session_id}")
    someone.reads("keeping the 1 file of this folder (4 bytes) as the lesson's starting point; --no-inputs")
    someone.reads("[rec] mine> ")
    someone.types("greet me; false")
    someone.reads("[status 1]")
    someone.reads("[rec] mine> ")
    someone.types("touch 'a b'")
    someone.reads("[rec] mine> ")
    someone.types("touch 'a b'")
    someone.reads("[rec] mine> ")
    someone.types("export TOKEN=hunter2")
    someone.reads("[rec] mine> ")
    someone.types("exit")
    someone.reads("4 commands recorded, 0 left out, 4 delivered")
    assert someone.process.wait(PATIENCE_S) == 0
    assert someone.settings_now() == someone.settings
    assert (tmp_path / "demo" / "greeted me").exists()
    assert ingest_server.labels() == [
        "greet me; false",
        "touch 'a b'",
        "touch 'a b'",
        "export TOKEN=[MASKED]",
    ]
    assert (tmp_path / "home" / ".bash_history").read_text(encoding="utf-8") == "echo from before\n"
    assert {path.name for path in (tmp_path / "home").iterdir()} == {".bashrc", ".bash_history"}


def test_recording_is_paused_and_resumed_from_inside_and_from_outside(
    ingest_server, person: Callable[[], Person]
) -> None:
    someone = person()
    someone.reads("[rec] mine> ")
    someone.types("apprentice-pause")
    someone.reads("recording is paused")
    someone.reads("[paused] mine> ")
    someone.types("touch unseen")
    someone.reads("[paused] mine> ")
    someone.process.send_signal(signal.SIGUSR2)
    someone.reads("recording goes on")
    someone.types("")
    someone.reads("[rec] mine> ")
    someone.types("touch seen")
    someone.reads("[rec] mine> ")
    someone.process.send_signal(signal.SIGUSR1)
    someone.reads("recording is paused")
    someone.types("touch unseen too")
    someone.reads("[paused] mine> ")
    someone.types("apprentice-resume")
    someone.reads("[rec] mine> ")
    someone.types("exit")
    someone.reads("1 commands recorded")
    assert someone.process.wait(PATIENCE_S) == 0
    assert ingest_server.labels() == ["touch seen"]


def test_a_refused_session_is_announced_and_nothing_more_is_recorded(
    ingest_server, person: Callable[[], Person]
) -> None:
    ingest_server.always = ingest_server.refusing(409, code="CAPTURE_ALREADY_STOPPED", retryable=False)
    someone = person()
    someone.reads("[rec] mine> ")
    someone.types("touch a")
    someone.reads("recording has ended: CAPTURE_ALREADY_STOPPED")
    someone.types("touch b")
    someone.reads("[not recording] mine> ")
    someone.types("exit")
    someone.reads("1 commands recorded")
    someone.reads("1 wait in ")
    assert someone.process.wait(PATIENCE_S) == 1
    assert someone.settings_now() == someone.settings
    assert not any(b"touch b" in body for body in ingest_server.bodies)


def test_while_the_session_is_paused_nothing_is_recorded(ingest_server, person: Callable[[], Person]) -> None:
    paused = {
        "code": "INVALID_LEARN_STATE_TRANSITION",
        "extra": {"current_state": "paused"},
        "retryable": False,
    }
    ingest_server.always = ingest_server.refusing(400, **paused)
    someone = person()
    someone.reads("[rec] mine> ")
    someone.types("touch a")
    someone.reads("the session is paused")
    someone.types("")
    someone.reads("[held] mine> ")
    someone.types("touch b")
    someone.reads("[held] mine> ")
    ingest_server.always = None
    someone.reads("delivery goes on")
    someone.types("")
    someone.reads("[rec] mine> ")
    someone.types("touch c")
    someone.reads("[rec] mine> ")
    someone.types("exit")
    someone.reads("2 commands recorded, 0 left out, 2 delivered")
    assert ingest_server.labels() == ["touch a", "touch c"]


def test_the_window_size_reaches_the_shell(person: Callable[[], Person]) -> None:
    someone = person()
    someone.reads("[rec] mine> ")
    someone.resizes(33, 77)
    # What is typed right after may be there first.
    someone.types('until [ "$(stty size)" = "33 77" ]; do sleep 0.02; done; echo it is "$(stty size)"')
    someone.reads("it is 33 77")
    someone.types("exit")
    assert someone.process.wait(PATIENCE_S) == 0


def test_a_request_to_end_delivers_and_restores_the_terminal(
    ingest_server, person: Callable[[], Person]
) -> None:
    someone = person()
    someone.reads("[rec] mine> ")
    someone.types("touch a")
    someone.reads("[rec] mine> ")
    someone.process.send_signal(signal.SIGTERM)
    someone.reads("1 commands recorded, 0 left out, 1 delivered")
    assert someone.process.wait(PATIENCE_S) == 0
    assert someone.settings_now() == someone.settings


def test_without_a_terminal_recording_does_not_start(ingest_server, session_id: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            RECORDER,
            session_id,
            ingest_server.url,
            str(tmp_path / "spool"),
            str(tmp_path),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode != 0
    assert "RecorderError: the terminal recorder needs a terminal" in ended.stderr


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3 is not installed")
def test_what_is_typed_at_a_prompt_is_kept_but_nothing_of_a_program_that_asked_for_a_password(
    ingest_server, person: Callable[[], Person], tmp_path: Path
) -> None:
    (tmp_path / "demo" / "login.py").write_text(
        "import getpass\nprint('hello ' + getpass.getpass('password: ')[:1])\n", encoding="utf-8"
    )
    someone = person()
    someone.reads(
        "lines typed at the prompts of sqlite3, python3, ed and the like (not with --no-typed-lines)"
    )
    someone.reads("[rec] mine> ")
    someone.types("sqlite3 a.db")
    someone.reads("sqlite> ")
    someone.types("create table t (x\x7fy);")
    someone.reads("sqlite> ")
    someone.types(".quit")
    someone.reads("[rec] mine> ")
    someone.types("python3 -q")
    someone.reads(">>> ")
    someone.types("import login")
    someone.reads("password: ")
    someone.types("hunter2")
    someone.reads("hello h")
    someone.reads(">>> ")
    someone.types("exit()")
    someone.reads("[rec] mine> ")
    someone.types("exit")
    someone.reads("2 commands recorded")
    assert someone.process.wait(PATIENCE_S) == 0
    assert [event["terminal"]["command"] for event in ingest_server.accepted.values()] == [
        "sqlite3 a.db <<'END_OF_TYPED_LINES'\ncreate table t (y);\n.quit\nEND_OF_TYPED_LINES",
        "python3 -q",
    ]
    assert not any(b"hunter2" in body for body in ingest_server.bodies)


def test_a_further_folder_of_the_lesson_is_said_at_once(
    ingest_server, person: Callable[[], Person], tmp_path: Path
) -> None:
    site = tmp_path / "home" / "site"
    site.mkdir()
    (site / "page.html").write_text("<p>", encoding="utf-8")
    someone = person()
    someone.reads("[rec] mine> ")
    someone.types("touch a")
    someone.reads("[rec] mine> ")
    someone.types("cp a ~/site")
    someone.reads(f"{site} is a folder of the lesson too: keeping the 1 file of this folder")
    someone.types("mkdir ~/new; cp a ~/new")
    someone.reads(f"{tmp_path / 'home' / 'new'} is a folder of the lesson too: it was made in the lesson")
    someone.types("cd /")
    someone.reads("[rec] mine> ")
    someone.types("echo x > /dev/null")
    someone.reads(f"this is outside the lesson's folders {tmp_path / 'demo'}, {site} and")
    someone.types("exit")
    someone.reads("delivered")
