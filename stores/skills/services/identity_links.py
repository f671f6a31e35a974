"""Identity links in ``openclaw.json``: ``session.identityLinks[name]``, a list of peers, each of one name (OC-15).

One writer at a time changes that one value; every other byte of the file stays, and a file that is no plain JSON is
left untouched.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

from domain.platform.json_editing import NotEditable, with_value
from host.atomic_file import only_writer, replace_file

MAX_BYTES = 4_194_304
"""The longest file that is changed: 4 MiB."""

_WHERE = ("session", "identityLinks")

Links = dict[str, list[str]]


class ConfigUnreadable(Exception):
    """The file cannot be read or written, or is no plain JSON; it is as it was."""


class IdentityConflict(Exception):
    """A peer belongs to another name."""


class IdentityLinks:
    """The links of one file. Safe to share between threads and processes."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def links(self) -> Links:
        """Every name with its peers.

        Raises:
            ConfigUnreadable
        """
        return _links_of(self._text())

    def link(self, name: str, peers: Iterable[str]) -> None:
        """Adds peers to a name.

        Raises:
            IdentityConflict: one belongs to another name.
            ConfigUnreadable
        """
        wanted = list(peers)

        def change(links: Links) -> Links:
            taken = {_same(peer): owner for owner, peers in links.items() for peer in peers}
            for peer in wanted:
                if taken.get(_same(peer), name) != name:
                    raise IdentityConflict("a number or channel belongs to another name already")
            kept = list(links.get(name, []))
            known = {_same(one) for one in kept}
            for peer in wanted:
                if _same(peer) not in known:
                    kept.append(peer)
                    known.add(_same(peer))
            return {**links, name: kept}

        self._change(change)

    def unlink(self, name: str) -> bool:
        """Forgets a name; whether there was one.

        Raises:
            ConfigUnreadable
        """
        there = False

        def change(links: Links) -> Links:
            nonlocal there
            there = name in links
            return {known: peers for known, peers in links.items() if known != name}

        self._change(change)
        return there

    def _change(self, change: Callable[[Links], Links]) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with only_writer(self._path):
                text = self._text()
                before = _links_of(text)
                after = change(before)
                if after != before:
                    replace_file(self._path, with_value(text, _WHERE, after).encode())
        except NotEditable as error:
            raise ConfigUnreadable(f"{self._path.name}: {error}") from None
        except OSError as error:
            raise ConfigUnreadable(f"{self._path.name} cannot be written ({error.strerror})") from None

    def _text(self) -> str:
        try:
            if self._path.stat().st_size > MAX_BYTES:
                raise ConfigUnreadable(f"{self._path.name} is longer than 4 MiB")
            return self._path.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return "{}\n"
        except UnicodeDecodeError:
            raise ConfigUnreadable(f"{self._path.name} is no UTF-8 text") from None
        except OSError as error:
            raise ConfigUnreadable(f"{self._path.name} cannot be read ({error.strerror})") from None


def _links_of(text: str) -> Links:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigUnreadable("openclaw.json is no plain JSON; comments are not allowed") from None
    found: Any = whole
    for name in _WHERE:
        if not isinstance(found, dict):
            raise ConfigUnreadable("openclaw.json: session.identityLinks stands in what is no object")
        found = cast("dict[str, Any]", found).get(name, {})
    if not isinstance(found, dict):
        raise ConfigUnreadable("openclaw.json: session.identityLinks is no object")
    links: Links = {}
    for name, peers in cast("dict[str, Any]", found).items():
        if not isinstance(peers, list) or not all(isinstance(one, str) for one in cast("list[Any]", peers)):
            raise ConfigUnreadable("openclaw.json: session.identityLinks holds what is no list of texts")
        links[name] = cast("list[str]", peers)
    return links


def _same(peer: str) -> str:
    """What two spellings of one peer have in common."""
    return peer.removeprefix("+").casefold()
