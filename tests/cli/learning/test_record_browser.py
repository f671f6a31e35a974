"""``apprentice record browser``: a browser of its own, steered from outside, and gone without a trace."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import pytest
from playwright.sync_api import sync_playwright
from typer.testing import CliRunner

from cli.learning.record_commands import app
from cli.platform.output import ExitCode
from clients.apprentice.api import ApprenticeApi
from tests.fixtures.local_site import local_site
from tests.fixtures.recorded_browser import SANDBOX_OFF, needs_chromium

BADGE = re.compile(r"Recording paused|● Recording")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path: Chromium keeps a socket in it, whose path may have 108 characters."""
    with TemporaryDirectory(prefix="record-") as made:
        (Path(made) / "tmp").mkdir()
        yield Path(made)


def environment(person, folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "APPRENTICE_API_URL": person.state.api_url,
        "APPRENTICE_TOKEN": person.token,
        "APPRENTICE_DATA_DIR": str(folder / "data"),
        "TMPDIR": str(folder / "tmp"),
        "HOME": str(folder),
    }


@contextmanager
def recording(person, folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-P", "-m", "cli.main", "record", "browser", "--headless"]
    command += [f"--browser-arg={SANDBOX_OFF}", "--browser-arg=--remote-debugging-port=0", *arguments]
    process = subprocess.Popen(
        command, env=environment(person, folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def said(stream: IO[str] | None, text: str) -> str:
    """The first line with ``text``."""
    assert stream is not None
    heard: list[str] = []
    for line in stream:
        heard.append(line)
        if text in line:
            return line
    raise AssertionError(f"it never said {text!r} but {heard}")


def steered(person, folder: Path, how: str) -> None:
    result = CliRunner().invoke(app, [how], env=environment(person, folder))
    assert result.exit_code == 0, result.stderr


def labels(person, session_id: str, until: Callable[[list[str]], bool]) -> list[str]:
    """What the session holds, once ``until`` is true of it."""
    with ApprenticeApi(person.state.api_url, person.token) as api:
        while True:
            held = [one.action_label for one in api.learn.observations(session_id).observations]
            if until(held):
                return held


def badge(page) -> str:
    """What the badge in the page says; no script of the page can read it."""
    session = page.context.new_cdp_session(page)
    found = BADGE.findall(str(session.send("DOM.getDocument", {"depth": -1, "pierce": True})))
    session.detach()
    return found[-1] if found else ""


@pytest.mark.thorough
@pytest.mark.acceptance("R11.2-45")
def test_a_started_browser_is_watched_paused_resumed_and_stopped_from_outside(person, folder: Path) -> None:
    needs_chromium()
    session_id = person.gets("learn", "create")["session"]["learn_session_id"]
    with local_site() as site, recording(person, folder, "--url", f"{site}/tasks") as process:
        said(process.stderr, "recording this browser")
        labels(person, session_id, lambda held: "See the page “Tasks”" in held)
        (port_file,) = (folder / "tmp").glob("apprentice-browser-*/DevToolsActivePort")
        with sync_playwright() as playwright:
            browser = playwright.chromium.connect_over_cdp(
                f"http://127.0.0.1:{port_file.read_text().split()[0]}"
            )
            page = browser.contexts[0].pages[0]
            assert badge(page) == "● Recording"

            steered(person, folder, "pause")
            said(process.stderr, "recording is paused")
            page.goto(f"{site}/stock")
            while badge(page) != "Recording paused":
                pass
            steered(person, folder, "resume")
            said(process.stderr, "recording goes on")
            page.goto(f"{site}/order")
            held = labels(person, session_id, lambda held: "See the page “New order”" in held)
            steered(person, folder, "stop")
            said(process.stderr, "it was stopped from outside")
        output, _ = process.communicate()
    assert process.returncode == 0
    assert f"apprentice learn stop {session_id}" in output
    assert "Open the page “Tasks”" in held
    assert not any("Stock" in label for label in held)
    assert list((folder / "tmp").glob("apprentice-browser-*")) == []
    assert str(folder).encode() not in b"".join(command_lines())
    assert list((folder / "data/spool").iterdir()) == []


def command_lines() -> Iterator[bytes]:
    """Those of all processes but this one and its parents, which name the folder as well."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue
        if b"chrom" in line:
            yield line


def test_an_adapter_without_a_session_says_how_to_begin_one(person) -> None:
    result = CliRunner().invoke(
        app,
        ["browser"],
        env={"APPRENTICE_API_URL": person.state.api_url, "APPRENTICE_TOKEN": person.token},
    )
    assert result.exit_code == ExitCode.USAGE
    assert "apprentice learn create" in result.stderr


def test_a_browser_that_cannot_start_is_told_with_the_way_out(person, folder: Path) -> None:
    session_id = person.gets("learn", "create")["session"]["learn_session_id"]
    result = CliRunner().invoke(
        app,
        ["browser", "--session", session_id, "--headless"],
        env={**environment(person, folder), "CHROMIUM": "/bin/false"},
    )
    assert result.exit_code == ExitCode.USAGE
    assert "the browser did not start" in result.stderr
