"""Attaches to every tab and frame of a browser, injects the page listener, and turns its reports into events.

Each target gets the listener before its first document runs, so that neither a navigation nor a new tab is
missed. Reports of one target arrive in the order in which the person acted.
"""

import asyncio
import json
import secrets
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from contracts.learning.observation import BrowserAction, ObservedActionEvent
from recorders.browser.chromium import CdpConnection, CdpError, Params
from recorders.browser.page_events import PageEvents, TypedEchoes

WORLD = "apprentice-recorder"
"""The isolated world in which the listener lives: pages neither see nor reach it."""

RECORDING, PAUSED = "● Recording", "Recording paused"


class PageScript:
    """The listener's source for one recording, and the name of the binding it reports by."""

    def __init__(self, echoes: TypedEchoes) -> None:
        self.binding = f"apprentice_{secrets.token_hex(8)}"
        listener = files("recorders.browser").joinpath("page_listener.js").read_text(encoding="utf-8")
        self._source = f"({listener})({json.dumps(self.binding)}, {json.dumps(echoes.key)})"

    @property
    def on_new_document(self) -> Params:
        """Parameters of ``Page.addScriptToEvaluateOnNewDocument``; runs in present documents as well."""
        return {"source": self._source, "worldName": WORLD, "runImmediately": True}


LEAVE = "globalThis.apprenticeRecorder?.leave()"
"""The expression that ends the listener of a page and takes its badge away."""


def show_badge(text: str) -> str:
    """The expression that makes the badge say ``text``."""
    return f"globalThis.apprenticeRecorder?.show({json.dumps(text)})"


_LEAVE_TIMEOUT_S = 2.0
_ACTIONS = {
    "loaded": BrowserAction.NAVIGATE,
    "moved": BrowserAction.NAVIGATE,
    **{a.value: a for a in BrowserAction if a not in (BrowserAction.NAVIGATE, BrowserAction.DOWNLOAD)},
}
_ATTACH: Params = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
_ATTACH_TABS: Params = _ATTACH | {"filter": [{"type": "page"}, {"exclude": True}]}
_ATTACH_FRAMES: Params = _ATTACH | {"filter": [{"type": "iframe"}, {"exclude": True}]}


@dataclass
class _Target:
    """One attached tab, or a frame of another site in it; ``tab`` is the session of the tab."""

    tab: str
    title: str = ""
    url: str = ""


class TabWatcher:
    """Watches one browser through one connection; ``keep`` takes the events, in order."""

    def __init__(
        self,
        script: PageScript,
        echoes: TypedEchoes,
        events: PageEvents,
        keep: Callable[[ObservedActionEvent], None],
    ) -> None:
        self._script = script
        self._echoes = echoes
        self._events = events
        self._keep = keep
        self._targets: dict[str, _Target] = {}
        self._worlds: dict[tuple[str, int], None] = {}
        self._frames: dict[str, str] = {}
        self._downloads: dict[str, tuple[str, str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._connection: CdpConnection | None = None
        self._badge: str | None = None
        self.all_closed = asyncio.Event()

    async def begin(self, connection: CdpConnection) -> None:
        """Attaches to what is open and to whatever opens later.

        Raises:
            CdpError: the browser refused.
        """
        self._connection = connection
        await connection.call("Target.setAutoAttach", _ATTACH_TABS)

    async def prepared(self) -> None:
        """Returns once every tab that is open now is watched."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def open(self, url: str) -> None:
        """Shows ``url`` in the first tab."""
        connection = self._connection
        tab = next((name for name, target in self._targets.items() if target.tab == name), None)
        if connection is None:
            return
        if tab is None:
            await connection.call("Target.createTarget", {"url": url})
        else:
            await connection.call("Page.navigate", {"url": url}, tab)

    def show(self, badge: str) -> None:
        """Makes every tab say ``badge``, the ones to come included."""
        self._badge = badge
        for session, context in list(self._worlds):
            self._spawn(self._evaluate(session, context, show_badge(badge)))

    def on_event(self, method: str, params: Params, session: str) -> None:
        """Takes one event of the protocol."""
        match method:
            case "Target.attachedToTarget":
                self._attached(params, session)
            case "Target.detachedFromTarget":
                self._detached(params["sessionId"])
            case "Runtime.executionContextCreated":
                self._context_created(params["context"], session)
            case "Runtime.executionContextDestroyed":
                self._worlds.pop((session, params["executionContextId"]), None)
            case "Runtime.executionContextsCleared":
                self._worlds = {key: None for key in self._worlds if key[0] != session}
            case "Runtime.bindingCalled" if params["name"] == self._script.binding:
                self._reported(params["payload"], session)
            case "Browser.downloadWillBegin":
                self._downloads[params["guid"]] = (params["frameId"], params.get("suggestedFilename", ""))
            case "Browser.downloadProgress" if params["state"] != "inProgress":
                self._downloaded(params)
            case _:
                pass

    async def end(self) -> None:
        """Takes the listeners and badges out of pages that stay open, and ends what is under way."""
        leaving = [self._evaluate(session, context, LEAVE) for session, context in self._worlds]
        with suppress(TimeoutError):
            async with asyncio.timeout(_LEAVE_TIMEOUT_S):
                await asyncio.gather(*leaving)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _attached(self, params: Params, parent: str) -> None:
        session, info = params["sessionId"], params["targetInfo"]
        is_tab = info["type"] == "page"
        tab = session if is_tab else self._tab_of(parent)
        self._targets[session] = _Target(tab, info.get("title", ""), info.get("url", ""))
        self._spawn(self._prepare(session))

    async def _prepare(self, session: str) -> None:
        # Sent together: a target that waits for its debugger answers some of them only once it may go on.
        commands: tuple[tuple[str, Params], ...] = (
            ("Runtime.addBinding", {"name": self._script.binding, "executionContextName": WORLD}),
            ("Page.enable", {}),
            ("Runtime.enable", {}),
            ("Page.addScriptToEvaluateOnNewDocument", self._script.on_new_document),
            ("Target.setAutoAttach", _ATTACH_FRAMES),
            ("Runtime.runIfWaitingForDebugger", {}),
        )
        await asyncio.gather(*(self._call(session, method, params) for method, params in commands))

    async def _call(self, session: str, method: str, params: Params) -> None:
        # A tab may be closed while it is being prepared.
        assert self._connection is not None
        with suppress(CdpError):
            await self._connection.call(method, params, session)

    def _detached(self, session: str) -> None:
        gone = self._targets.pop(session, None)
        self._worlds = {key: None for key in self._worlds if key[0] != session}
        if gone is not None and not any(target.tab == name for name, target in self._targets.items()):
            self.all_closed.set()

    def _context_created(self, context: Params, session: str) -> None:
        frame = context.get("auxData", {}).get("frameId")
        if frame:
            self._frames[frame] = session
        if context.get("name") == WORLD:
            self._worlds[(session, context["id"])] = None

    def _reported(self, payload: str, session: str) -> None:
        report: dict[str, Any] = json.loads(payload)
        if report.get("typed"):
            length, one, two = report["typed"]
            self._echoes.add((length, one, two))
        target, action = self._targets.get(session), _ACTIONS.get(report.get("kind", ""))
        if target is None or action is None:
            return
        tab = self._targets.get(target.tab, target)
        if report["top"]:
            tab.title, tab.url = report["title"], report["url"]
            if action is BrowserAction.NAVIGATE and self._badge:
                self.show(self._badge)
        elif action is BrowserAction.NAVIGATE:
            # Frames load by themselves; what the person sees of it is in the summary that follows an action.
            return
        title = report["title"] if report["top"] else (tab.title or report["title"])
        self._emit(action, report["url"], title, report)

    def _downloaded(self, params: Params) -> None:
        begun = self._downloads.pop(params["guid"], None)
        if begun is None or params["state"] != "completed":
            return
        frame, name = begun
        session = self._frames.get(frame, "")
        tab = self._targets.get(self._tab_of(session)) or next(iter(self._targets.values()), None)
        if tab is not None:
            self._emit(BrowserAction.DOWNLOAD, tab.url, tab.title, {"file": name or "download"})

    def _emit(self, action: BrowserAction, url: str, title: str, report: dict[str, Any]) -> None:
        event = self._events.event(action, url, title, report)
        if event is not None:
            self._keep(event)

    def _tab_of(self, session: str) -> str:
        target = self._targets.get(session)
        return target.tab if target else session

    async def _evaluate(self, session: str, context: int, expression: str) -> None:
        await self._call(session, "Runtime.evaluate", {"contextId": context, "expression": expression})

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
