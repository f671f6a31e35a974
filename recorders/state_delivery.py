"""Delivers starting states in a background thread: each an archive beside the spool until the API has it.

An archive is a private file that its run locks, so that a later run can tell what a killed one left, and delivers it.
Its id makes a repeated request harmless. What the API refuses for good is removed: it is the content of files.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import SystemRandom
from urllib.parse import urlsplit

import httpx

from contracts.backoff import Backoff
from contracts.learning.starting_state import ARCHIVE_TYPE
from recorders.delivery import DELIVERY_BACKOFF, Answer, IngestTarget, Verdict, judge_refusal
from recorders.starting_state import (
    HOME_FOLDER,
    InputOptions,
    TakenState,
    may_be_kept,
    state_archive,
    take_starting_state,
)

SUFFIX = ".start.tar.gz"
"""What the name of an archive ends with: ``{session}.{state}.start.tar.gz``."""

MAX_WAITING_BYTES = 256 * 1024 * 1024
"""What all archives that wait may take together."""

_TIMEOUT_S = 90.0
_PIECE = 256 * 1024


@dataclass(frozen=True)
class StateReport:
    """How many starting states were delivered, how many of this session wait, and why one was not taken."""

    delivered: int = 0
    pending: int = 0
    reason: str | None = None


@dataclass(frozen=True)
class _Archive:
    """A file that waits, locked by this run."""

    path: Path
    descriptor: int

    @property
    def session_id(self) -> str:
        return self.path.name.split(".")[0]

    @property
    def state_id(self) -> str:
        return self.path.name.split(".")[1]

    def pieces(self) -> Iterator[bytes]:
        """The content, from its beginning."""
        place = 0
        while piece := os.pread(self.descriptor, _PIECE, place):
            place += len(piece)
            yield piece

    def let_go(self, *, remove: bool) -> None:
        """Gives the file free, and deletes it."""
        if remove:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
        os.close(self.descriptor)


class StateDelivery:
    """The delivering thread of starting states: ``start`` it, ``add`` archives, ``close`` it."""

    def __init__(
        self,
        folder: Path,
        target: IngestTarget,
        learn_session_id: str,
        *,
        backoff: Backoff = DELIVERY_BACKOFF,
    ) -> None:
        """``folder`` is the spool's: made already, and private to the user."""
        self._folder = folder
        self._target = target
        self._session = learn_session_id
        self._backoff = backoff
        self._condition = threading.Condition()
        self._waiting: list[_Archive] = []
        self._passed_over: list[_Archive] = []
        self._report = StateReport()
        self._busy = False
        self._hurry = False
        self._closing = False
        self._failures = 0
        self._thread = threading.Thread(target=self._run, name="starting-state-delivery", daemon=True)

    def start(self) -> None:
        """Begins with what earlier runs left behind."""
        self._waiting = _claimed(self._folder)
        self._thread.start()

    def add(self, state_id: str, archive: bytes) -> str | None:
        """Keeps an archive durably until it is delivered; why it cannot be, or nothing."""
        used = sum(path.stat().st_size for path in self._folder.glob(f"*{SUFFIX}"))
        if used + len(archive) > MAX_WAITING_BYTES:
            return f"{used} bytes of starting points wait in {self._folder} already"
        try:
            written = _written(self._folder / f"{self._session}.{state_id}{SUFFIX}", archive)
        except OSError as error:
            return f"the folder {self._folder} cannot be written ({error.strerror})"
        with self._condition:
            self._waiting.insert(0, written)
            self._condition.notify_all()
        return None

    def close(self, timeout: float, *, keep_own: bool = True) -> StateReport:
        """Waits up to ``timeout`` seconds until all is delivered, and ends the thread; what waits stays.

        Unless ``keep_own``, what waits of this run's session was never to be kept, and goes.
        """
        with self._condition:
            self._hurry = True
            self._condition.notify_all()
            if self._thread.is_alive():
                self._condition.wait_for(lambda: not self._waiting and not self._busy, timeout)
            self._closing = True
            self._condition.notify_all()
        if self._thread.is_alive():
            self._thread.join(1.0)
        with self._condition:
            left = [*self._waiting, *self._passed_over]
            # One that is still being sent is read by its number, which nothing else may get meanwhile.
            sending = self._waiting[:1] if self._busy and self._thread.is_alive() else []
            for archive in left:
                forgotten = not keep_own and archive.session_id == self._session
                if archive not in sending:
                    archive.let_go(remove=forgotten)
                elif forgotten:
                    archive.path.unlink(missing_ok=True)
            self._waiting, self._passed_over = [], []
            own = sum(archive.session_id == self._session for archive in left)
            return StateReport(self._report.delivered, own, self._report.reason)

    def _run(self) -> None:
        # A loopback address is never reached through a proxy.
        is_local = urlsplit(self._target.api_url).hostname in ("127.0.0.1", "localhost", "::1")
        with httpx.Client(
            base_url=self._target.api_url.rstrip("/"),
            headers={"Authorization": f"Bearer {self._target.token}", "Content-Type": ARCHIVE_TYPE},
            timeout=_TIMEOUT_S,
            trust_env=not is_local,
        ) as http:
            while (archive := self._next()) is not None:
                answer = _put(http, archive)
                self._settle(archive, answer)

    def _next(self) -> _Archive | None:
        with self._condition:
            self._busy = False
            self._condition.notify_all()
            self._condition.wait_for(lambda: self._waiting or self._closing)
            if self._closing:
                return None
            self._busy = True
            return self._waiting[0]

    def _settle(self, archive: _Archive, answer: Answer) -> None:
        is_own = archive.session_id == self._session
        with self._condition:
            if archive not in self._waiting:
                # Given free meanwhile: a later run sends it again.
                return
            match answer.verdict:
                case Verdict.CONFIRMED:
                    self._failures = 0
                    self._report = StateReport(self._report.delivered + 1, 0, self._report.reason)
                    self._done_with(archive)
                case Verdict.RETRY:
                    self._wait(answer)
                case Verdict.SESSION_PAUSED if is_own:
                    self._wait(answer)
                case Verdict.SESSION_REFUSED:
                    if is_own:
                        self._report = StateReport(self._report.delivered, 0, answer.reason)
                    self._done_with(archive)
                case Verdict.SESSION_PAUSED | Verdict.TOKEN_REFUSED:
                    if is_own:
                        self._report = StateReport(self._report.delivered, 0, answer.reason)
                    self._waiting.remove(archive)
                    self._passed_over.append(archive)

    def _done_with(self, archive: _Archive) -> None:
        self._waiting.remove(archive)
        archive.let_go(remove=True)

    def _wait(self, answer: Answer) -> None:
        self._failures += 1
        # An archive may be large: it is never sent again at once, whatever the service asks for.
        seconds = self._backoff.delay(self._failures, SystemRandom().random())
        seconds = max(seconds, answer.retry_after_s or 0.0)
        self._condition.wait_for(lambda: self._closing or self._hurry, seconds)
        self._hurry = False


def starting_text(report: StateReport, folder: Path) -> str:
    """What a summary says of the starting state, where something is to be said."""
    if report.pending:
        return f"; the starting point waits in {folder} for the next recording"
    return f"; the starting point was not taken ({report.reason})" if report.reason else ""


class RecordedStart:
    """The starting state of one recording: taken when it is made, delivered in the background."""

    def __init__(
        self,
        folder: Path,
        learn_session_id: str,
        options: InputOptions | None,
        spool_folder: Path,
        target: IngestTarget,
    ) -> None:
        """Without ``options`` nothing is taken, and what earlier runs left is still delivered."""
        self._delivery_of = partial(StateDelivery, spool_folder, target, learn_session_id)
        self._delivery: StateDelivery | None = None
        self._report = StateReport()
        self._session = learn_session_id
        private = (*options.private_folders, spool_folder) if options is not None else ()
        self._options = None if options is None else replace(options, private_folders=private)
        self.take(folder)

    def take(self, folder: Path) -> None:
        """Takes the state of ``folder``, in the place of one that was taken before."""
        self.taken: TakenState | None = None
        self.text: str | None = None
        if self._options is not None and not may_be_kept(folder):
            self.text = HOME_FOLDER
        elif self._options is not None and folder.is_dir():
            self.taken = take_starting_state(folder, self._session, self._options)
            self.text = self.taken.text()

    @property
    def options(self) -> InputOptions | None:
        """What may be kept of a folder; nothing without them."""
        return self._options

    def extend(self, taken: TakenState) -> None:
        """Delivers a state with a further folder, in the place of the one that was taken before."""
        self.taken = taken
        self.keep()

    def deliver(self, backoff: Backoff = DELIVERY_BACKOFF) -> None:
        """Begins delivery, of what was taken first."""
        self._delivery = self._delivery_of(backoff=backoff)
        self._delivery.start()
        self.keep()

    def keep(self) -> None:
        """Hands over to delivery what was taken; what cannot be kept for it is said in ``text``."""
        if self.taken is not None and self._delivery is not None:
            clean = self.taken.clean
            problem = self._delivery.add(clean.state.state_id, state_archive(clean))
            self.text = self.text if problem is None else f"the starting point is not kept: {problem}"

    def close(self, timeout: float) -> StateReport:
        """Ends delivery; a second call says the same."""
        if self._delivery is not None:
            self._report = self._delivery.close(timeout)
            self._delivery = None
        return self._report

    def forget(self) -> None:
        """Ends delivery and removes what was not delivered: it was never to be kept."""
        if self._delivery is not None:
            self._delivery.close(0, keep_own=False)
            self._delivery = None


def _put(http: httpx.Client, archive: _Archive) -> Answer:
    path = f"/api/learn/sessions/{archive.session_id}/starting-states/{archive.state_id}"
    try:
        response = http.put(path, content=archive.pieces())
    except (httpx.HTTPError, OSError) as error:
        return Answer(Verdict.RETRY, reason=f"the API does not answer ({type(error).__name__})")
    if response.is_success:
        return Answer(Verdict.CONFIRMED)
    answer = judge_refusal(response)
    # What the service does not want, or this token may not send, waits for nothing.
    return Answer(Verdict.SESSION_REFUSED, reason=answer.reason) if response.status_code == 403 else answer


def _written(path: Path, content: bytes) -> _Archive:
    fresh = path.with_suffix(".new")
    descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        written = 0
        while written < len(content):
            written += os.write(descriptor, content[written:])
        os.fsync(descriptor)
        # It is only there once it is whole and locked.
        fresh.rename(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        os.close(descriptor)
        raise
    return _Archive(path, descriptor)


def _claimed(folder: Path) -> list[_Archive]:
    """What earlier runs left, oldest first; half-written files of theirs are removed."""
    found: list[_Archive] = []
    for path in sorted(folder.glob("*.start.tar.*")):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            continue
        archive = _Archive(path, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            archive.let_go(remove=False)
            continue
        whole = path.name.endswith(SUFFIX) and os.fstat(descriptor).st_nlink > 0
        if whole and path.name.count(".") == SUFFIX.count(".") + 1:
            found.append(archive)
        else:
            archive.let_go(remove=True)
    return found
