"""Refuses settings that contradict each other or are unsafe, the drafting model's address and key among them.

Each check returns a sentence that names the setting and the fix, or nothing.
"""

import os
import re
import stat
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlsplit, urlunsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class CheckedSettings(Protocol):
    """The part of the settings that these checks look at."""

    @property
    def data_dir(self) -> Path: ...
    @property
    def memory_root(self) -> Path: ...
    @property
    def workspace(self) -> Path: ...
    @property
    def database_url(self) -> str: ...
    @property
    def database_password_file(self) -> Path | None: ...
    @property
    def api_host(self) -> str: ...
    @property
    def api_port(self) -> int: ...
    @property
    def temporal_port(self) -> int: ...
    @property
    def temporal_ui_port(self) -> int: ...
    @property
    def allow_insecure_bind(self) -> bool: ...


def find_contradiction(settings: CheckedSettings) -> str | None:
    """Two settings that cannot both hold, or a database this service does not speak to."""
    ports = {
        "api_port": settings.api_port,
        "temporal_port": settings.temporal_port,
        "temporal_ui_port": settings.temporal_ui_port,
    }
    seen: dict[int, str] = {}
    for name, port in ports.items():
        if port and port in seen:
            return f"{seen[port]} and {name} are both {port}: give each its own port, or 0 for a free one"
        seen[port] = name
    if _overlap(settings.memory_root, settings.workspace):
        return (
            f"memory_root {settings.memory_root} and workspace {settings.workspace} lie inside one another: "
            "each has its own writer, so choose two separate folders"
        )
    scheme = urlsplit(settings.database_url).scheme
    if scheme not in {"sqlite", "postgresql+psycopg"}:
        return (
            f"database_url begins with {scheme or 'no scheme'!r}: "
            "write sqlite:///path or postgresql+psycopg://user@host/name"
        )
    if settings.database_password_file and not settings.database_password_file.is_file():
        return f"database_password_file names {settings.database_password_file}, which is no file"
    return None


def find_unsafe(settings: CheckedSettings) -> str | None:
    """A setting that would let others read, write or reach what they must not."""
    if not is_loopback(settings.api_host) and not settings.allow_insecure_bind:
        return (
            f"api_host is {settings.api_host}, which other machines can reach without encryption: "
            "use 127.0.0.1, or put a TLS proxy in front and set allow_insecure_bind = true"
        )
    if settings.data_dir.exists():
        mode = stat.S_IMODE(settings.data_dir.stat().st_mode)
        if os.name == "posix" and mode & 0o022:
            return (
                f"data_dir {settings.data_dir} can be written by others (mode {mode:04o}): "
                f"run chmod go-w on it, since it holds access tokens and installed skills"
            )
    return None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def with_password(url: str, password_file: Path) -> str:
    """``url`` with the password that the file holds (its last line break is not part of it)."""
    parts = urlsplit(url)
    user = parts.username or ""
    host = parts.netloc.rpartition("@")[2]
    password = quote(password_file.read_text(encoding="utf-8").rstrip("\r\n"), safe="")
    return urlunsplit(parts._replace(netloc=f"{quote(user, safe='')}:{password}@{host}"))


def checked_origin(value: str | None) -> str | None:
    """An http(s) address without the slash at its end.

    Raises:
        ValueError: it is no such address.
    """
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("write an address such as https://apprentice.example, without ? or #")
    return value.rstrip("/")


def checked_time_zone(value: str) -> str:
    """``value`` if it names a time zone of the IANA list.

    Raises:
        ValueError: it does not.
    """
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{value!r} is no time zone: write an IANA name like Europe/Berlin") from None
    return value


def _overlap(first: Path, second: Path) -> bool:
    one, other = first.resolve(), second.resolve()
    return one.is_relative_to(other) or other.is_relative_to(one)


LONGEST_MODEL_TIMEOUT = timedelta(seconds=60)
"""The longest ``model_timeout``: a person waits for a draft."""

LONGEST_FIND_TIMEOUT = timedelta(seconds=20)
"""The longest ``find_model_timeout``: a lookup waits for it."""

_KEY_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,199}|file:[^\x00-\x1f]{1,400}")


class ModelSettings(Protocol):
    """The part of the settings that these checks look at."""

    @property
    def model_base_url(self) -> str | None: ...
    @property
    def model_name(self) -> str | None: ...
    @property
    def model_api_key_ref(self) -> str | None: ...
    @property
    def model_timeout(self) -> timedelta: ...
    @property
    def find_by_model(self) -> bool: ...
    @property
    def find_model_timeout(self) -> timedelta: ...


def checked_model_address(value: str | None) -> str | None:
    """The address without the slash at its end.

    Raises:
        ValueError: it is no http(s) address, holds a password, is not encrypted beyond this machine, or is one of
            the link-local addresses under which clouds hand out credentials.
    """
    address = checked_origin(value)
    if address is None:
        return None
    parts = urlsplit(address)
    if parts.username is not None or parts.password is not None:
        raise ValueError("write the address without user and password: the key goes to model_api_key_ref")
    host = parts.hostname or ""
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError(
            "what was demonstrated would travel unencrypted: write https://, or a loopback address"
        )
    if _is_no_service(host):
        raise ValueError("no model answers at a link-local, multicast or unspecified address")
    return address


def checked_key_reference(value: str | None) -> str | None:
    """``value`` if it says where a key is.

    Raises:
        ValueError: it does not. The text does not repeat it, since it may be the key.
    """
    if value is not None and not _KEY_REFERENCE.fullmatch(value):
        raise ValueError("write env:NAME or file:PATH, where the key is, and never the key itself")
    return value


def find_half_model(settings: ModelSettings) -> str | None:
    """A model without an address, or the reverse; or a time that nobody would wait."""
    if (settings.model_base_url is None) != (settings.model_name is None):
        return "model_base_url and model_name: set both of them, or neither"
    if settings.model_api_key_ref is not None and settings.model_base_url is None:
        return "model_api_key_ref: names the key of a model, but model_base_url is not set"
    if not timedelta(seconds=1) <= settings.model_timeout <= LONGEST_MODEL_TIMEOUT:
        longest = int(LONGEST_MODEL_TIMEOUT.total_seconds())
        return f"model_timeout: must be from 1s to {longest}s, since somebody waits for the draft"
    if settings.find_by_model and settings.model_base_url is None:
        return "find_by_model: needs a language model; set model_base_url and model_name, or leave it off"
    if not timedelta(milliseconds=100) <= settings.find_model_timeout <= LONGEST_FIND_TIMEOUT:
        longest = int(LONGEST_FIND_TIMEOUT.total_seconds())
        return f"find_model_timeout: must be from 100ms to {longest}s, since a lookup waits for it"
    return None


def _is_no_service(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_link_local or mapped.is_multicast or mapped.is_unspecified
