"""One recording from the browser's start, or the attaching to it, to the last delivery."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress

from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent
from recorders.browser.action_recorder import ActionRecorder
from recorders.browser.cdp_connection import CdpConnection, CdpError
from recorders.browser.cdp_transport import CdpTransport, WebSocketTransport
from recorders.browser.chromium_process import ChromiumProcess
from recorders.browser.options import BrowserRecorderOptions, BrowserRecordingSummary
from recorders.browser.page_events import PageEvents
from recorders.browser.page_script import PAUSED, RECORDING, PageScript
from recorders.browser.tab_watcher import TabWatcher
from recorders.browser.typed_echoes import TypedEchoes
from recorders.delivery import Delivery
from recorders.errors import RecorderError
from recorders.heartbeat import Heartbeat
from recorders.running import Presence, Steering
from recorders.spool import Spool
from recorders.spooling_recorder import RecordingState
from recorders.terminal.signals import SignalInbox, watched_signals

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
