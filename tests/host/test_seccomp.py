import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from host import seccomp

SCRIPT = """
import ctypes, json, os, sys
from pathlib import Path
sys.path.append(sys.argv[1])
from host import seccomp
target = Path(sys.argv[2])
def tries():
    with target.open() as open_file:
        for name, action in (
            ("signal", lambda: os.kill(os.getpid(), 0)),
            ("mode", lambda: target.chmod(0o600)),
            ("times", lambda: os.utime(target, (1, 1))),
            ("times of an open file", lambda: os.utime(open_file.fileno(), (1, 1))),
            ("socket", lambda: __import__("socket").socket()),
            ("own limits", lambda: __import__("resource").prlimit(0, 7)),
            ("other limits", lambda: __import__("resource").prlimit(os.getppid(), 7)),
        ):
            try:
                action()
                yield name, True
            except PermissionError:
                yield name, False
program = seccomp.filter_program(
    os.uname().machine, shares_host=sys.argv[3] == "shared", forbid_signals=sys.argv[3] == "shared"
)
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
seccomp.install(program)
print(json.dumps(dict(tries())))
"""
KNOWS_MACHINE = seccomp.filter_program(os.uname().machine, shares_host=True, forbid_signals=True) is not None


def allowed_calls(target: Path, kind: str) -> dict[str, bool]:
    project = Path(seccomp.__file__).parents[1]
    output = subprocess.check_output([sys.executable, "-c", SCRIPT, str(project), str(target), kind])
    return json.loads(output)


@pytest.mark.skipif(not KNOWS_MACHINE, reason="the filter knows no call numbers of this machine")
def test_a_command_on_the_host_itself_cannot_change_what_lies_outside_files(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert allowed_calls(tmp_path / "file", "shared") == {
        "signal": False,
        "mode": False,
        "times": False,
        "times of an open file": True,
        "socket": False,
        "own limits": True,
        "other limits": False,
    }


@pytest.mark.skipif(not KNOWS_MACHINE, reason="the filter knows no call numbers of this machine")
def test_a_command_in_namespaces_only_loses_sockets_and_administration(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    allowed = allowed_calls(tmp_path / "file", "namespaces")

    assert [name for name, is_allowed in allowed.items() if not is_allowed] == ["socket"]


def test_an_unknown_machine_has_no_filter() -> None:
    assert seccomp.filter_program("pdp11", shares_host=False, forbid_signals=False) is None


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_filter_fits_the_kernel_limit(machine: str) -> None:
    program = seccomp.filter_program(machine, shares_host=True, forbid_signals=True)

    assert program is not None
    assert len(program) % 8 == 0
    assert len(program) // 8 <= 4096
