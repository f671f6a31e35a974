"""Putting a proposed change onto what is there, part by part: what a hand has written is never replaced.

``old`` → ``new`` is the change that is proposed, ``installed`` what we wrote, ``present`` what is there now.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from contracts.base import clipped
from contracts.learning.improvement import BaseConflict
from domain.learning.markdown_parts import parts_of, texts_of


@dataclass(frozen=True)
class Versions:
    """The four texts of one file."""

    installed: str
    present: str
    old: str
    new: str

    def all(self) -> tuple[str, str, str, str]:
        """The four in the order of the fields."""
        return self.installed, self.present, self.old, self.new


@dataclass(frozen=True)
class Merged:
    """The merged text, and the parts where the hand's text stayed against a proposed change."""

    text: str
    conflicts: tuple[BaseConflict, ...] = ()


def merge_markdown(path: str, texts: Versions) -> Merged:
    """Merges a SKILL.md by its parts; the order is that of the present text."""
    installed, old, new = texts_of(texts.installed), texts_of(texts.old), texts_of(texts.new)
    present = texts_of(texts.present)
    order = [part.name for part in parts_of(texts.present)]
    merged = dict(present)
    conflicts: list[BaseConflict] = []
    for name in _changed(old, new):
        here, proposed = present.get(name), new.get(name)
        if here == proposed:
            continue
        if here != installed.get(name):
            conflicts.append(_conflict(path, name, here, proposed))
        elif proposed is None:
            merged.pop(name)
        else:
            if name not in merged:
                order.insert(_place(name, [part.name for part in parts_of(texts.new)], order), name)
            merged[name] = proposed
    return Merged("".join(_spaced(merged, order)), tuple(conflicts))


def merge_json_object(path: str, texts: Versions) -> Merged:
    """Merges a file that holds one JSON object by its keys; any other one as a whole."""
    parsed = [_object(text) for text in (texts.installed, texts.present, texts.old, texts.new)]
    if any(value is None for value in parsed):
        return merge_whole(path, texts)
    installed, present, old, new = (cast("dict[str, Any]", value) for value in parsed)
    merged = dict(present)
    conflicts: list[BaseConflict] = []
    for name in _changed(old, new):
        here, proposed = present.get(name), new.get(name)
        if here == proposed:
            continue
        if here != installed.get(name):
            conflicts.append(_conflict(path, name, _shown(here), _shown(proposed)))
        elif name in new:
            merged[name] = proposed
        else:
            merged.pop(name, None)
    if merged == present:
        return Merged(texts.present, tuple(conflicts))
    return Merged(json.dumps(merged, indent=2, ensure_ascii=False, sort_keys=True) + "\n", tuple(conflicts))


def merge_whole(path: str, texts: Versions) -> Merged:
    """Takes the new text where the hand has left the file alone."""
    if texts.old == texts.new or texts.present == texts.new:
        return Merged(texts.present)
    if texts.present == texts.installed:
        return Merged(texts.new)
    return Merged(texts.present, (_conflict(path, path, texts.present, texts.new),))


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [name for name in dict.fromkeys((*new, *old)) if old.get(name) != new.get(name)]


def _place(name: str, wanted: Sequence[str], order: Sequence[str]) -> int:
    """Behind the nearest part that stands before it in the new text."""
    for before in reversed(wanted[: wanted.index(name)]):
        if before in order:
            return order.index(before) + 1
    return len(order)


def _spaced(merged: Mapping[str, str], order: Sequence[str]) -> list[str]:
    """The parts, a section never glued to the one before it."""
    kept = [name for name in order if name in merged]
    texts = [merged[name] for name in kept]
    for position in range(len(texts) - 1):
        if kept[position + 1].startswith("section ") and not texts[position].endswith("\n\n"):
            texts[position] = texts[position].rstrip("\n") + "\n\n"
    if texts and kept[-1].startswith("section "):
        texts[-1] = texts[-1].rstrip("\n") + "\n"
    return texts


def _conflict(path: str, part: str, yours: str | None, proposed: str | None) -> BaseConflict:
    return BaseConflict(
        path=clipped(path, 240),
        part=clipped(part, 160),
        yours=clipped(yours or "(removed)", 400),
        proposed=clipped(proposed or "(removed)", 400),
    )


def _object(text: str) -> dict[str, Any] | None:
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _shown(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)
