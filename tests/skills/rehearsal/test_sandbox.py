import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from host.sandbox.launch_order import SHARED
from skills.rehearsal import sandbox as sandbox_module
from skills.rehearsal.sandbox import Sandbox, SandboxLimits, SandboxUnavailable, probe_host

SHORT = SandboxLimits(wall_seconds=1.0)
CANARY = "canary-text-nobody-may-read"


def sandbox(jail: Path, isolation: str, limits: SandboxLimits | None = None) -> Sandbox:
    return Sandbox(jail, limits, isolations=[isolation])


def test_a_command_runs_in_its_folder_and_its_files_stay(jail: Path, isolation: str) -> None:
    outcome = sandbox(jail, isolation).run("echo hello > greeting.txt && pwd", "sub/folder")

    assert outcome.succeeded
    assert outcome.output.strip() == f"{jail}/sub/folder"
    assert (jail / "sub/folder/greeting.txt").read_text() == "hello\n"
    assert not outcome.violations


def test_files_are_kept_from_one_command_to_the_next(jail: Path, isolation: str) -> None:
    box = sandbox(jail, isolation)
    box.run("echo one > list.txt")

    outcome = box.run("echo two >> list.txt && cat list.txt && rm list.txt")

    assert outcome.output == "one\ntwo\n"
    assert not (jail / "list.txt").exists()


@pytest.mark.skipif(which("ed") is None, reason="ed is not installed")
def test_an_editor_that_keeps_its_text_in_the_temporary_folder_edits_a_file(
    jail: Path, isolation: str
) -> None:
    (jail / "list.txt").write_text("one\ntwo\n")

    outcome = sandbox(jail, isolation).run("printf '1d\nw\nq\n' | ed -s list.txt")

    # Without namespaces the temporary folder is the host's, which is closed.
    has_its_own = isolation != SHARED
    assert outcome.succeeded is has_its_own, outcome.output
    assert (jail / "list.txt").read_text() == ("two\n" if has_its_own else "one\ntwo\n")


def test_the_temporary_folder_is_the_commands_own(jail: Path, isolation: str) -> None:
    name = f"apprentice-{os.getpid()}"
    box = sandbox(jail, isolation)

    outcome = box.run(f"ls -A /tmp && echo x > /tmp/{name}")

    assert outcome.succeeded is (isolation != SHARED)
    assert not Path("/tmp", name).exists()
    assert not box.run(f"cat /tmp/{name}").succeeded
    assert not box.run("head -c 80M /dev/zero > /tmp/large").succeeded


def test_the_exit_code_and_the_deadly_signal_are_reported(jail: Path, isolation: str) -> None:
    box = sandbox(jail, isolation)

    assert box.run("exit 3").exit_code == 3
    killed = box.run("kill -9 $$")
    assert (killed.exit_code, killed.signal) == (None, signal.SIGKILL)


def test_the_shell_of_the_demonstration_is_bash_with_its_substitutions(jail: Path, isolation: str) -> None:
    outcome = sandbox(jail, isolation).run("a=(x y); diff <(echo ${a[0]}) <(echo x) && cat <<< ${a[1]}")

    assert outcome.output == "y\n"


def test_nothing_of_the_environment_is_inherited(
    jail: Path, isolation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", CANARY)

    lines = sandbox(jail, isolation).run("env").output.splitlines()

    names = {line.partition("=")[0] for line in lines}
    assert names == {"PATH", "HOME", "TMPDIR", "LANG", "PWD", "SHLVL", "_"}
    assert f"HOME={jail}" in lines
    assert f"TMPDIR={jail}/.tmp" in lines


def test_standard_input_is_empty_and_no_open_file_is_handed_on(
    jail: Path, outside: Path, isolation: str
) -> None:
    (outside / "secret").write_text(CANARY)
    descriptor = os.open(outside / "secret", os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        outcome = sandbox(jail, isolation).run(f"cat; for n in 3 4 5 6 7 8 9 {descriptor}; do cat <&$n; done")
    finally:
        os.close(descriptor)

    assert CANARY not in outcome.output
    assert not outcome.succeeded


@pytest.mark.parametrize(
    "command",
    [
        "cat {canary}",
        "ln -s {canary} link; cat link",
        "cd {folder} && cat canary",
        "cat ../canary",
        "ls {folder}",
    ],
)
def test_other_folders_cannot_be_read(jail: Path, outside: Path, isolation: str, command: str) -> None:
    (outside / "canary").write_text(CANARY)
    (outside / "canary").chmod(0o644)

    outcome = sandbox(jail, isolation).run(command.format(canary=outside / "canary", folder=outside))

    assert not outcome.succeeded
    assert CANARY not in outcome.output


@pytest.mark.parametrize(
    "command",
    [
        "echo x > {canary}",
        "echo x >> {canary}",
        "truncate -s 0 {canary}",
        "rm -f {canary}",
        "mv {canary} here",
        "ln {canary} here",
        "chmod 000 {canary}",
        "touch -d 2001-01-01 {canary}",
        "ln -s {canary} link; echo x > link",
        "echo x > {folder}/new",
        "mkdir {folder}/new",
    ],
)
def test_nothing_outside_can_be_changed(jail: Path, outside: Path, isolation: str, command: str) -> None:
    canary = outside / "canary"
    canary.write_text(CANARY)
    outside.chmod(0o777)
    canary.chmod(0o666)
    before = (canary.stat().st_mode, canary.stat().st_mtime_ns, canary.stat().st_nlink)

    outcome = sandbox(jail, isolation).run(command.format(canary=canary, folder=outside))

    assert {entry.name for entry in outside.iterdir()} == {"jail", "canary"}
    assert canary.read_text() == CANARY
    assert (canary.stat().st_mode, canary.stat().st_mtime_ns, canary.stat().st_nlink) == before
    assert not outcome.succeeded or command.startswith("rm -f")


@pytest.mark.acceptance("R11.2-37", "9.19-4")
@pytest.mark.parametrize("name", ["config.json", "settings.yaml", "account.ini"])
def test_a_wrapper_cannot_write_the_configuration_it_can_name(
    jail: Path, outside: Path, isolation: str, name: str
) -> None:
    outside.chmod(0o777)
    canonical = outside / name
    canonical.write_text("{}")
    canonical.chmod(0o666)
    (jail / "wrapper.sh").write_text(f"printf changed > {canonical} && echo done\n")

    outcome = sandbox(jail, isolation).run("sh wrapper.sh")

    assert not outcome.succeeded
    assert canonical.read_text() == "{}"


def test_a_working_folder_that_is_a_link_leads_nowhere(jail: Path, outside: Path, isolation: str) -> None:
    (outside / "elsewhere").mkdir(mode=0o777)
    (outside / "elsewhere").chmod(0o777)
    (jail / "link").symlink_to(outside / "elsewhere")

    outcome = sandbox(jail, isolation).run("touch made", "link/sub")

    assert not outcome.succeeded
    assert list((outside / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("folder", ["..", "a/../..", "/", "/etc"])
def test_a_working_folder_outside_the_jail_is_refused(jail: Path, folder: str) -> None:
    with pytest.raises(ValueError, match="leads out of the jail"):
        Sandbox(jail).run("true", folder)


def test_no_connection_reaches_a_listener(jail: Path, isolation: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        script = f'import socket; socket.create_connection(("127.0.0.1", {port}))'
        box = sandbox(jail, isolation)

        by_shell = box.run(f"echo hello > /dev/tcp/127.0.0.1/{port}")
        by_program = box.run(
            f"python3 -c '{script}'"
            f" || perl -MIO::Socket -e 'IO::Socket::INET->new(\"127.0.0.1:{port}\") or die'"
        )

        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert not by_shell.succeeded
    assert not by_program.succeeded


def test_no_local_socket_outside_is_reached(jail: Path, outside: Path, isolation: str) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(outside / "daemon.sock"))
        (outside / "daemon.sock").chmod(0o777)
        listener.listen()
        script = f'import socket; socket.socket(socket.AF_UNIX).connect("{outside}/daemon.sock")'

        outcome = sandbox(jail, isolation).run(f"python3 -c '{script}'")

        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert not outcome.succeeded


@pytest.mark.parametrize(
    "command", ["unshare -r true", "unshare -n true", "mount -t tmpfs none .", "chroot . true"]
)
def test_a_command_cannot_build_namespaces_of_its_own(jail: Path, isolation: str, command: str) -> None:
    assert not sandbox(jail, isolation).run(command).succeeded


@pytest.mark.parametrize("place", ["fd", "root/", "cwd/"])
def test_a_command_cannot_look_into_the_process_above_it(jail: Path, isolation: str, place: str) -> None:
    outcome = sandbox(jail, isolation).run(f"ls /proc/1/{place}; cat /proc/1/environ /proc/1/mem")

    assert not outcome.succeeded
    assert "pipe" not in outcome.output
    assert "No such file" not in outcome.output


def test_what_is_called_while_a_command_runs_can_end_it(jail: Path, isolation: str, pulse: Any) -> None:
    def refuse() -> None:
        raise ConnectionError("no longer wanted")

    with pytest.raises(ConnectionError):
        sandbox(jail, isolation).run("exec 9>pulse; trap '' TERM; sleep 300", while_running=refuse)

    assert pulse.received() == ""


def test_a_command_cannot_signal_the_worker(jail: Path, isolation: str) -> None:
    outcome = sandbox(jail, isolation).run(f"kill -0 {os.getpid()}")

    assert not outcome.succeeded


def test_a_command_that_ignores_signals_is_stopped_in_time(jail: Path, isolation: str, pulse: Any) -> None:
    outcome = sandbox(jail, isolation, SHORT).run(
        "trap '' TERM INT HUP; exec 9>pulse; while :; do sleep 60; done"
    )

    assert outcome.timed_out
    assert (outcome.exit_code, outcome.signal) == (None, None)
    assert pulse.received() == ""


def test_a_daemon_that_forked_twice_ends_with_its_command(jail: Path, isolation: str, pulse: Any) -> None:
    outcome = sandbox(jail, isolation).run(
        "exec 9>pulse; mkfifo ready;"
        " (setsid bash -c 'trap \"\" TERM HUP; echo up >&9; echo > ready; sleep 300' &) &"
        " read < ready || true"
    )

    assert outcome.succeeded
    assert pulse.received() == "up\n"


def test_a_fork_bomb_stays_small_and_ends(jail: Path, isolation: str, pulse: Any) -> None:
    limits = SandboxLimits(wall_seconds=1.5, processes=40)

    outcome = sandbox(jail, isolation, limits).run(
        "exec 9>pulse; bomb() { bomb | bomb & }; bomb 2>/dev/null; while :; do sleep 1; done"
    )

    assert outcome.timed_out
    assert pulse.received() == ""


def test_processes_beyond_the_limit_are_refused(jail: Path, isolation: str) -> None:
    outcome = sandbox(jail, isolation, SandboxLimits(wall_seconds=20, processes=20)).run(
        "python3 -c 'import os, signal\nfor _ in range(100): os.fork() or signal.pause()'"
    )

    assert not outcome.timed_out
    assert "Resource temporarily unavailable" in outcome.output


def test_a_huge_file_stops_at_its_limit(jail: Path, isolation: str) -> None:
    limits = SandboxLimits(file_bytes=1_000_000)

    outcome = sandbox(jail, isolation, limits).run("head -c 100G /dev/zero > huge")

    assert outcome.violations == ("a file grew beyond its limit",)
    assert (jail / "huge").stat().st_size == 1_000_000


def test_many_files_stop_at_the_limit_of_the_jail(jail: Path, isolation: str) -> None:
    limits = SandboxLimits(wall_seconds=30, jail_bytes=4_000_000, file_bytes=1_000_000)

    outcome = sandbox(jail, isolation, limits).run(
        "n=0; while :; do head -c 500000 /dev/zero > file$n; n=$(((n+1)%64)); done"
    )

    assert outcome.violations == ("the rehearsal folder grew beyond its limit",)
    assert not outcome.timed_out


@pytest.mark.skipif(which("fallocate") is None, reason="fallocate is not installed")
def test_no_call_takes_much_disk_at_once(jail: Path, isolation: str) -> None:
    outcome = sandbox(jail, isolation).run("fallocate -l 100M huge")

    assert outcome.exit_code != 0
    assert sum(file.stat().st_blocks for file in jail.rglob("huge")) == 0


def test_files_that_are_deleted_and_still_open_count(jail: Path, isolation: str) -> None:
    limits = SandboxLimits(wall_seconds=60, jail_bytes=8_000_000)
    hoard = (
        "import os, time\nkept = []\nfor n in range(32):\n kept.append(open(str(n), 'wb')); os.unlink(str(n))"
    )
    hoard += "\n kept[-1].write(b'x' * 2_000_000); kept[-1].flush()\ntime.sleep(60)"

    outcome = sandbox(jail, isolation, limits).run(f'python3 -c "{hoard}"')

    assert outcome.violations == ("the rehearsal folder grew beyond its limit",)


def test_memory_is_limited(jail: Path, isolation: str) -> None:
    limits = SandboxLimits(memory_bytes=200_000_000)

    outcome = sandbox(jail, isolation, limits).run(
        "head -c 400000000 /dev/zero | tail -c 300000000 > /dev/null"
    )

    assert not outcome.succeeded


@pytest.mark.thorough
def test_endless_processor_use_is_a_violation(jail: Path, isolation: str) -> None:
    limits = SandboxLimits(wall_seconds=30, cpu_seconds=1)

    outcome = sandbox(jail, isolation, limits).run("while :; do :; done")

    assert outcome.violations == ("the limit of processor time was used up",)


def test_endless_output_is_drained_and_cut(jail: Path, isolation: str) -> None:
    limits = SandboxLimits(wall_seconds=1.0, output_bytes=2_000)

    outcome = sandbox(jail, isolation, limits).run("echo first; yes")

    assert outcome.timed_out
    assert outcome.truncated
    assert outcome.output.startswith("first\ny\n")
    assert len(outcome.output) < 2_100


def test_a_running_command_is_cancelled_with_all_it_started(jail: Path, isolation: str, pulse: Any) -> None:
    cancelled = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        running = executor.submit(
            sandbox(jail, isolation).run,
            "exec 9>pulse; trap '' TERM; echo up >&9; sleep 300 & wait",
            cancelled=cancelled,
        )
        assert pulse.wait_for_line() == "up"
        cancelled.set()
        outcome = running.result()

    assert outcome.cancelled
    assert not outcome.timed_out
    pulse.wait_for_silence()


def test_the_command_ends_when_its_worker_is_killed(jail: Path, isolation: str, pulse: Any) -> None:
    project = Path(sandbox_module.__file__).parents[2]
    script = (
        "import sys; from pathlib import Path; sys.path.append(sys.argv[1])\n"
        "from skills.rehearsal.sandbox import Sandbox\n"
        "Sandbox(Path(sys.argv[2]), isolations=[sys.argv[3]])"
        ".run('exec 9>pulse; trap \"\" TERM HUP; echo up >&9; sleep 300 & wait')"
    )
    worker = subprocess.Popen([sys.executable, "-c", script, str(project), str(jail), isolation])
    with worker:
        assert pulse.wait_for_line() == "up"
        worker.kill()

    pulse.wait_for_silence()


def test_without_any_way_to_isolate_nothing_runs(jail: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="cannot be isolated"):
        Sandbox(jail, isolations=()).run("touch made")

    assert list(jail.iterdir()) == []


def test_a_launcher_that_cannot_start_is_no_reason_to_run_without(
    jail: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(jail / "no-python"))

    with pytest.raises(SandboxUnavailable, match="could not be started"):
        Sandbox(jail).run("touch made")


def test_a_launcher_that_fails_is_no_reason_to_run_without(
    jail: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = jail / "broken-python"
    broken.write_text("#!/bin/sh\necho the interpreter is broken\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(broken))

    with pytest.raises(SandboxUnavailable, match="interpreter is broken"):
        Sandbox(jail).run("touch made")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs commands as somebody else")
def test_a_jail_that_the_commands_user_cannot_reach_is_refused(jail: Path, outside: Path) -> None:
    outside.chmod(0o700)

    with pytest.raises(SandboxUnavailable, match="cannot reach"):
        Sandbox(jail, isolations=[SHARED]).run("touch made")


def test_the_probe_tells_what_a_command_would_be_held_by(jail: Path) -> None:
    assert probe_host() == Sandbox(jail).run(":").isolation
