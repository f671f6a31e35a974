"""What settings are refused for: values that contradict each other or would be unsafe to run with.

Each check answers with a sentence that names the setting and the fix, or with nothing.
"""

import os
import stat
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
