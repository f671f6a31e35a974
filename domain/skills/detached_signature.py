"""Detached JSON web signatures (RFC 7515 appendix F) over the canonical form of a value (RFC 8785). O-5."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import rfc8785


def signing_input(value: Mapping[str, Any], key_id: str) -> tuple[str, bytes]:
    """The header of a signature by EdDSA, encoded, and the bytes that are signed."""
    header = _encoded(json.dumps({"alg": "EdDSA", "kid": key_id}, separators=(",", ":")).encode())
    return header, f"{header}.{_encoded(rfc8785.dumps(dict(value)))}".encode()


def detached(header: str, signature: bytes) -> str:
    """The signature as it travels: ``header..signature``."""
    return f"{header}..{_encoded(signature)}"


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
