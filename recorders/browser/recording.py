"""One browser recording: options, the recorder that spools events, the run until delivery, its summary."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from contracts.backoff import Backoff
from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent, RedactionMode
from domain.learning.interpretation.meaningful import is_meaningful
from recorders.browser.chromium import (
    CdpConnection,
    CdpError,
    CdpTransport,
    ChromiumProcess,
    WebSocketTransport,
)
from recorders.browser.page_events import PageEvents, TypedEchoes
from recorders.browser.tab_watcher import PAUSED, RECORDING, PageScript, TabWatcher
from recorders.delivery import DELIVERY_BACKOFF, Delivery, DeliveryReport, IngestTarget
from recorders.running import Heartbeat, Presence, Steering
from recorders.signals import SignalInbox, watched_signals
from recorders.spool import DEFAULT_MAX_BYTES, RecorderError, Spool
from recorders.spooling_recorder import RecordingState, SpoolingRecorder


class ActionRecorder(SpoolingRecorder):
    """Spools the meaningful events of one browser."""

    def __init__(self, spool: Spool, delivery: Delivery, say: Callable[[str], None]) -> None:
        super().__init__(spool, delivery, say, spool_place="the spool")
        self._is_stopped = False

    @property
    def state(self) -> RecordingState:
        """What happens to the next event. A recording that was stopped is over, and nothing went wrong with it."""
        return RecordingState.ENDED if self._is_stopped else super().state

    def stop(self) -> None:
        """Ends the recording for good, as somebody asked from outside."""
        if self.state is not RecordingState.ENDED:
            self._is_stopped = True
            self._say("recording has ended: it was stopped from outside")

    def keep(self, event: ObservedActionEvent) -> None:
        """Spools ``event`` when it counts and recording is on."""
        if self.state is RecordingState.RECORDING and is_meaningful(event) and self._append(event):
            self.recorded += 1


@dataclass(frozen=True)
class BrowserRecorderOptions:
    """One recording of one session in one browser.

    With ``cdp_url`` (``http://127.0.0.1:PORT``) the browser that listens there is watched and left running;
    without it one is started with a profile of its own, which is removed afterwards, and its downloads go to
    ``folder``. ``browser_arguments`` are handed to a started browser as they are. With a ``presence_folder`` the
    recorder can be found and steered from outside, see ``recorders.running``; ``with_snapshots`` also reports what
    pages show. ``flush_timeout_s`` bounds the wait for delivery at the end.
    """

    learn_session_id: str
    target: IngestTarget
    spool_folder: Path
    cdp_url: str | None = None
    start_url: str | None = None
    headless: bool = False
    folder: Path = field(default_factory=Path.cwd)
    browser_arguments: tuple[str, ...] = ()
    presence_folder: Path | None = None
    with_snapshots: bool = True
    redaction_mode: RedactionMode = RedactionMode.MASK_TEXT
    flush_timeout_s: float = 10.0
    max_spool_bytes: int = DEFAULT_MAX_BYTES
    backoff: Backoff = DELIVERY_BACKOFF


@dataclass(frozen=True)
class BrowserRecordingSummary:
    """How a recording ended: ``recorded`` counts actions and page summaries."""

    learn_session_id: str
    recorded: int
    delivery: DeliveryReport
    stopped_reason: str | None
    spool_folder: Path

    @property
    def complete(self) -> bool:
        """Whether everything recorded has reached the API."""
        return self.delivery.complete and self.stopped_reason is None

    def text(self) -> str:
        """One or two lines for the person who recorded."""
        counts = f"{self.recorded} events recorded, {self.delivery.text(self.spool_folder)}"
        reason = self.stopped_reason or self.delivery.reason
        return f"{counts} ({reason})" if reason else counts


_KINDS = (ObservationAdapterKind.BROWSER_DOM, ObservationAdapterKind.BROWSER_SNAPSHOT)
_TICK_S = 0.2
_START_TIMEOUT_S = 30.0


def record_browser(
    options: BrowserRecorderOptions,
    *,
    say: Callable[[str], None] | None = None,
    ready: Callable[[], None] | None = None,
) -> BrowserRecordingSummary:
    """Records until the browser is closed, the session takes nothing more, or SIGTERM, SIGHUP or SIGINT arrives.

    ``recorders.running`` pauses, resumes and stops it from outside. ``ready`` is called once every open tab is watched.

    Raises:
        RecorderError: there is no browser to watch, or it does not answer.
        SpoolError: the spool cannot be used.
    """
    with watched_signals() as signals:
        return asyncio.run(_Recording(options, say or _to_terminal, signals).run(ready))


class _Recording:
    """Everything one recording holds open, closed in the right order whatever happens."""

    def __init__(
        self, options: BrowserRecorderOptions, say: Callable[[str], None], signals: SignalInbox
    ) -> None:
        self._options = options
        self._say = say
        self._signals = signals
        self._stop = asyncio.Event()
        self._shown: RecordingState | None = None
        self._presence: Presence | None = None

    async def run(self, ready: Callable[[], None] | None) -> BrowserRecordingSummary:
        options = self._options
        async with AsyncExitStack() as stack:
            spool = Spool(options.spool_folder, options.learn_session_id, max_bytes=options.max_spool_bytes)
            stack.callback(spool.close)
            delivery = Delivery(spool, options.target, options.learn_session_id, backoff=options.backoff)
            delivery.start()
            stack.callback(delivery.close, 0)
            recorder = ActionRecorder(spool, delivery, self._say)
            self._watch_signals(stack, recorder)
            transport = await self._browser(stack)
            heartbeat = Heartbeat(options.target, _KINDS if options.with_snapshots else _KINDS[:1])
            heartbeat.start()
            stack.callback(heartbeat.close)
            self._make_known(stack, recorder)
            await self._record(transport, recorder, ready)
            report = await asyncio.to_thread(delivery.close, options.flush_timeout_s)
            recorder.watch_delivery()
            await asyncio.to_thread(heartbeat.close, recorder.error_code)
            return BrowserRecordingSummary(
                learn_session_id=options.learn_session_id,
                recorded=recorder.recorded,
                delivery=report,
                stopped_reason=recorder.end_reason,
                spool_folder=options.spool_folder,
            )

    def _make_known(self, stack: AsyncExitStack, recorder: ActionRecorder) -> None:
        options = self._options
        if options.presence_folder is not None:
            watches = options.cdp_url or "a browser of its own"
            session, state = options.learn_session_id, recorder.state.value
            self._presence = stack.enter_context(
                Presence(options.presence_folder, session, _KINDS[0], watches, state)
            )

    async def _browser(self, stack: AsyncExitStack) -> CdpTransport:
        options = self._options
        if options.cdp_url is not None:
            attached = await WebSocketTransport.open(options.cdp_url)
            stack.push_async_callback(attached.close)
            return attached
        process = ChromiumProcess.start(headless=options.headless, arguments=options.browser_arguments)
        stack.push_async_callback(process.end)
        stack.push_async_callback(process.transport.close)
        await process.transport.open()
        return process.transport

    async def _record(
        self, transport: CdpTransport, recorder: ActionRecorder, ready: Callable[[], None] | None
    ) -> None:
        echoes = TypedEchoes()
        script = PageScript(echoes)
        events = PageEvents(self._options.learn_session_id, self._options.redaction_mode, echoes)

        def keep(event: ObservedActionEvent) -> None:
            if self._options.with_snapshots or event.adapter_kind is ObservationAdapterKind.BROWSER_DOM:
                recorder.keep(event)

        watcher = TabWatcher(script, echoes, events, keep)
        connection = CdpConnection(transport, watcher.on_event)
        reading = asyncio.create_task(connection.run())
        try:
            await self._begin(connection, watcher)
            if ready is not None:
                ready()
            await self._until_over(reading, watcher, recorder)
            await watcher.end()
            if self._options.cdp_url is None:
                with suppress(CdpError):
                    await connection.call("Browser.close")
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _begin(self, connection: CdpConnection, watcher: TabWatcher) -> None:
        try:
            async with asyncio.timeout(_START_TIMEOUT_S):
                await connection.call("Browser.setDownloadBehavior", self._download_behavior())
                await watcher.begin(connection)
                await watcher.prepared()
                if self._options.start_url is not None:
                    await watcher.open(self._options.start_url)
        except (CdpError, TimeoutError) as error:
            raise RecorderError(
                f"the browser did not start or does not answer ({error}){self._hint()}"
            ) from error
        self._say(
            f"recording this browser for session {self._options.learn_session_id}: what is done, by role and name, "
            "and what pages then show; never what is typed. Close the browser or press Ctrl-C to end."
        )

    def _hint(self) -> str:
        options = self._options
        if options.cdp_url is not None:
            return ""
        if not options.headless and not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
            return ": without a display it needs --headless"
        return ": as root it needs --browser-arg=--no-sandbox" if os.geteuid() == 0 else ""

    def _download_behavior(self) -> dict[str, object]:
        if self._options.cdp_url is not None:
            return {"behavior": "default", "eventsEnabled": True}
        folder = str(self._options.folder.absolute())
        return {"behavior": "allow", "downloadPath": folder, "eventsEnabled": True}

    async def _until_over(
        self, reading: "asyncio.Task[None]", watcher: TabWatcher, recorder: ActionRecorder
    ) -> None:
        ends = [asyncio.create_task(self._stop.wait()), asyncio.create_task(watcher.all_closed.wait())]
        try:
            while recorder.state is not RecordingState.ENDED:
                done, _ = await asyncio.wait(
                    [reading, *ends], timeout=_TICK_S, return_when=asyncio.FIRST_COMPLETED
                )
                if done:
                    return
                recorder.watch_delivery()
                self._show_state(watcher, recorder)
        finally:
            for task in ends:
                task.cancel()
            await asyncio.gather(*ends, return_exceptions=True)

    def _show_state(self, watcher: TabWatcher, recorder: ActionRecorder) -> None:
        if recorder.state is not self._shown:
            self._shown = recorder.state
            watcher.show(RECORDING if recorder.state is RecordingState.RECORDING else PAUSED)
        if self._presence is not None:
            self._presence.tell(recorder.state.value)

    def _watch_signals(self, stack: AsyncExitStack, recorder: ActionRecorder) -> None:
        loop = asyncio.get_running_loop()

        def obey() -> None:
            for number in self._signals.take():
                if number == Steering.PAUSE.signal:
                    recorder.pause()
                elif number == Steering.RESUME.signal:
                    recorder.resume()
                elif number == Steering.STOP.signal:
                    recorder.stop()
                elif number in (signal.SIGTERM, signal.SIGHUP):
                    self._stop.set()

        loop.add_reader(self._signals.fileno(), obey)
        stack.callback(loop.remove_reader, self._signals.fileno())
        with suppress(ValueError, RuntimeError):
            # Only a main thread can; elsewhere whoever owns it decides.
            loop.add_signal_handler(signal.SIGINT, self._stop.set)
            stack.callback(loop.remove_signal_handler, signal.SIGINT)


def _to_terminal(text: str) -> None:
    print(f"[apprentice] {text}", file=sys.stderr, flush=True)  # noqa: T201
