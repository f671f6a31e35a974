"""From a page's report to an event: addresses cut to site and path, typed values masked, everything bounded."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

import uuid_utils

from contracts.base import clipped
from contracts.capabilities.control_surface import ControlSurface
from contracts.learning.browser_observation import (
    BrowserAction,
    BrowserObservation,
    EnteredValue,
    PageSummary,
)
from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent, RedactionMode
from domain.learning.browser_actions import action_label, target_of
from recorders.browser.typed_echoes import TypedEchoes

APP_FAMILY = "browser"
BUNDLE_ID = "org.chromium.Chromium"

_SUMMARY_LIMITS = {
    "headings": (12, 120),
    "landmarks": (12, 120),
    "fields": (30, 120),
    "messages": (6, 160),
    "alerts": (6, 160),
    "dialogs": (4, 120),
    "invalid_fields": (30, 120),
}


def site_and_path(url: str) -> tuple[str, str] | None:
    """The origin and the path of a web page's address; ``None`` for anything that is no web page.

    User name, password, query and fragment are left out: they carry credentials and values.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme == "file":
        return "file://", clipped(parts.path.rsplit("/", 1)[-1], 200)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    site = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
    return clipped(site, 200), clipped(unquote(parts.path) or "/", 200)


class PageEvents:
    """Makes the events of one recording."""

    def __init__(self, learn_session_id: str, mode: RedactionMode, echoes: TypedEchoes) -> None:
        self._session = learn_session_id
        self._mode = mode
        self._echoes = echoes

    def event(
        self, action: BrowserAction, url: str, title: str, report: Mapping[str, Any]
    ) -> ObservedActionEvent | None:
        """The event of one report; ``None`` where the page is no web page (settings, an empty tab)."""
        place = site_and_path(url)
        if place is None:
            return None
        value = report.get("value")
        summary = report.get("summary")
        observed = BrowserObservation(
            action=action,
            site=place[0],
            page_path=self._shown(place[1], 200) or "",
            page_title=self._shown(title, 200) or "",
            role=self._shown(report.get("role"), 80),
            accessible_name=self._shown(report.get("name"), 160),
            form_name=self._shown(report.get("form"), 160),
            value=EnteredValue(kind=clipped(str(value["kind"]), 80), length=int(value["length"]))
            if value
            else None,
            file_name=self._shown(report.get("file"), 160),
            outcome=self._summary(summary) if summary is not None else None,
        )
        is_snapshot = action is BrowserAction.SNAPSHOT
        kind = ObservationAdapterKind.BROWSER_SNAPSHOT if is_snapshot else ObservationAdapterKind.BROWSER_DOM
        return ObservedActionEvent(
            event_id=str(uuid_utils.uuid7()),
            learn_session_id=self._session,
            adapter_kind=kind,
            app_family=APP_FAMILY,
            bundle_id=BUNDLE_ID,
            window_title=observed.page_title or None,
            action_label=clipped(action_label(observed), 240),
            control_surface=ControlSurface.NATIVE_OPENCLAW_BROWSER,
            target_ref=clipped(target_of(observed), 240) or None,
            caused_state_change=not is_snapshot,
            redaction_mode=self._mode,
            browser=observed,
            created_at=datetime.now(UTC),
        )

    def _shown(self, text: Any, limit: int) -> str | None:
        # Masked before it is cut: half a value is no longer known by its digest.
        return clipped(self._echoes.mask(str(text)), limit) if text else None

    def _summary(self, found: Mapping[str, Any]) -> PageSummary:
        texts = {
            name: tuple(shown for text in found.get(name, [])[:most] if (shown := self._shown(text, limit)))
            for name, (most, limit) in _SUMMARY_LIMITS.items()
        }
        return PageSummary.model_validate(texts)
