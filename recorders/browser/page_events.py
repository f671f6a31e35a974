"""Turns a page's reports into redacted events: addresses cut to site and path, typed values masked, sizes bounded.

Where the page repeats what a person typed ("Welcome, Ada"), it is masked without knowing it: the page sends a keyed
digest of each typed value, never the value; the key is drawn anew for each recording and kept in memory only. A text
is searched for windows of the same length and digest that are whole words.
"""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

import uuid_utils

from contracts.abilities.control_surface import ControlSurface
from contracts.base import clipped
from contracts.learning.observation import (
    BrowserAction,
    BrowserObservation,
    EnteredValue,
    ObservationAdapterKind,
    ObservedActionEvent,
    PageSummary,
    RedactionMode,
)
from domain.learning.adapters import ADAPTERS
from domain.learning.interpretation.browser import action_label, target_of

ECHO = "…"
"""What stands where a page repeated a typed value."""

SHORTEST = 3
"""Shorter values are not looked for: they would be found in ordinary words."""

MOST_VALUES = 500
"""The newest typed values that are looked for."""

_MODULI = (67_108_859, 67_108_837)
"""Below 2**26, so that a browser's numbers hold every product exactly."""

Digest = tuple[int, int, int]
"""A value's length in UTF-16 units and its two polynomial digests."""


class TypedEchoes:
    """The typed values of one recording, as digests."""

    def __init__(self) -> None:
        self.key = tuple((secrets.randbelow(m - 1000) + 500, m) for m in _MODULI)
        self._values: dict[Digest, None] = {}

    def add(self, digest: Digest) -> None:
        """Remembers one typed value."""
        if digest[0] < SHORTEST:
            return
        self._values[digest] = None
        if len(self._values) > MOST_VALUES:
            del self._values[next(iter(self._values))]

    def mask(self, text: str) -> str:
        """``text`` with every typed value replaced, letter case aside."""
        shown = " ".join(text.split())
        lower = shown.lower()
        if len(lower) != len(shown):
            # Places differ in the two: what is cut out must be what was searched.
            shown = lower
        found = [span for length in {d[0] for d in self._values} for span in self._spans(lower, length)]
        for start, end in sorted(_merged(found), reverse=True):
            shown = f"{shown[:start]}{ECHO}{shown[end:]}"
        return shown if found else text

    def _spans(self, text: str, length: int) -> list[tuple[int, int]]:
        # In UTF-16 units, as the page counts; ``places`` leads back to characters.
        places = [at for at, c in enumerate(text) for _ in range(2 if ord(c) > 0xFFFF else 1)]
        places.append(len(text))
        encoded = text.encode("utf-16-le", "surrogatepass")
        units = [encoded[i] + (encoded[i + 1] << 8) + 1 for i in range(0, len(encoded), 2)]
        if length > len(units):
            return []
        rolled = [_windows(units, length, base, modulus) for base, modulus in self.key]
        spans = [
            (places[at], places[at + length])
            for at, (one, two) in enumerate(zip(*rolled, strict=True))
            if (length, one, two) in self._values
        ]
        return [(start, end) for start, end in spans if _is_whole(text, start, end)]


def _windows(units: list[int], length: int, base: int, modulus: int) -> list[int]:
    """The digest of every window of ``length`` units, each from the one before it."""
    top = pow(base, length - 1, modulus)
    value = 0
    for unit in units[:length]:
        value = (value * base + unit) % modulus
    digests = [value]
    for gone, new in zip(units, units[length:], strict=False):
        value = ((value - gone * top) * base + new) % modulus
        digests.append(value)
    return digests


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() and text[start].isalnum()) and not (
        text[end : end + 1].isalnum() and text[end - 1].isalnum()
    )


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


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
            app_family=ADAPTERS[kind].application,
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
