"""A Chromium of the recorder's own: a fresh profile, pipes for control, and nothing left when it ends."""

import asyncio
import fcntl
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path

from recorders.browser.cdp_transport import PipeTransport
from recorders.errors import RecorderError

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = (
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--password-store=basic",
)
_FIRST_FREE_DESCRIPTOR = 10
_END_TIMEOUT_S = 5.0
_POLL_S = 0.05


def find_chromium() -> str:
    """The browser's path: ``$CHROMIUM``, or the first known name on the search path.

    Raises:
        RecorderError: there is none.
    """
    named = os.environ.get("CHROMIUM")
    found = named or next((path for path in map(shutil.which, _NAMES) if path), None)
    if found is None:
        raise RecorderError("no Chromium is on the search path: install it, or name it in CHROMIUM")
    return found


class ChromiumProcess:
    """A browser process with its profile. Start it, use ``transport``, and ``end`` it."""

    def __init__(self, process: int, profile: Path, transport: PipeTransport) -> None:
        self.transport = transport
        self.profile = profile
        self._process = process

    @classmethod
    def start(cls, *, headless: bool, arguments: tuple[str, ...]) -> "ChromiumProcess":
        """Starts the browser with an empty page.

        Raises:
            RecorderError: there is no browser, or it cannot be run.
        """
        path = find_chromium()
        profile = Path(tempfile.mkdtemp(prefix="apprentice-browser-"))
        command = [path, f"--user-data-dir={profile}", *_ARGUMENTS, *(["--headless"] if headless else [])]
        command += [*arguments, "about:blank"]
        to_browser, our_writing = os.pipe()
        our_reading, from_browser = os.pipe()
        # The browser reads descriptor 3 and writes descriptor 4: what goes there must not be one of them itself.
        theirs = [
            fcntl.fcntl(d, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE_DESCRIPTOR) for d in (to_browser, from_browser)
        ]
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, theirs[0], 3),
            (os.POSIX_SPAWN_DUP2, theirs[1], 4),
        ]
        try:
            process = os.posix_spawn(path, command, os.environ, file_actions=actions, setpgroup=0)
        except OSError as error:
            os.close(our_reading)
            os.close(our_writing)
            shutil.rmtree(profile, ignore_errors=True)
            raise RecorderError(f"{path} cannot be run: {error.strerror}") from error
        finally:
            for descriptor in (to_browser, from_browser, *theirs):
                os.close(descriptor)
        return cls(process, profile, PipeTransport(our_reading, our_writing))

    async def end(self) -> None:
        """Waits for the browser to end, makes it end if it does not, and removes the profile."""
        if not await self._ends_within(_END_TIMEOUT_S):
            self._signal(signal.SIGKILL)
            await self._ends_within(_END_TIMEOUT_S)
        # Helpers of the browser can outlive it and would write into the profile.
        self._signal(signal.SIGKILL)
        await asyncio.sleep(0)
        for _ in range(20):
            shutil.rmtree(self.profile, ignore_errors=True)
            if not self.profile.exists():
                return
            await asyncio.sleep(_POLL_S)

    async def _ends_within(self, seconds: float) -> bool:
        for _ in range(int(seconds / _POLL_S)):
            try:
                ended, _ = os.waitpid(self._process, os.WNOHANG)
            except ChildProcessError:
                return True
            if ended:
                return True
            await asyncio.sleep(_POLL_S)
        return False

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process, number)
