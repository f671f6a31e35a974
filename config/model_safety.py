"""What the settings of the drafting model are refused for: an address that leaks, a key in the wrong place."""

import re
from datetime import timedelta
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import urlsplit

from config.safety import checked_origin, is_loopback

LONGEST_MODEL_TIMEOUT = timedelta(seconds=60)
"""Somebody waits for a draft: a model that takes longer is none for drafting."""

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
    return None


def _is_no_service(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_link_local or mapped.is_multicast or mapped.is_unspecified
