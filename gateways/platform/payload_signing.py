"""Payload codec that signs: a Temporal payload counts only where it was sent to, and only from this installation.

Temporal's server lets in whoever reaches its port, and its UI forwards what a browser sends. A command to a workflow
is therefore believed by its signature: HMAC-SHA256 under a key that only API and worker can read, over namespace,
workflow id, kind (workflow or activity), encoding and content. The content itself is left as it is, so that the
Temporal UI shows it. A payload without a valid signature is replaced by one that no converter reads: an update is
rejected and a signal dropped before their handler, and a workflow or activity that was started with it never runs.

Where the setting ``payload_encryption`` is on, the content is encrypted (AES-256-GCM) before it is signed. What was
written in clear stays readable, so it may be switched on and off while workflows run.
"""

import hmac
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import structlog
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from google.protobuf.message import DecodeError
from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import PydanticPayloadConverter, pydantic_data_converter
from temporalio.converter import (
    ActivitySerializationContext,
    CompositePayloadConverter,
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
    WorkflowSerializationContext,
)

from contracts.workflow_ids import SCHEDULES
from stores.platform.secrets.key_places import KeyFile
from stores.platform.secrets.keys import KeyRing, SecretKeys
from workflows.platform.child_summary import ChildSummary

log = structlog.get_logger(__name__)

FOLDER = "payload-keys"
"""The folder of the signing keys in the data directory: a ring like that of the secret store, by itself."""

SIGNATURE = "apprentice-signature"
"""The metadata field of the signature: id of the key, a colon, the HMAC."""

REFUSED = b"refused: not signed for this workflow by this installation"
"""The encoding of a payload that was refused, as the error of the converter names it."""

ENCRYPTED = b"binary/encrypted"
"""The encoding of an encrypted payload, under the name that the Temporal UI knows for it."""

KEY_ID = "apprentice-key"
"""The metadata field that names the key of an encrypted payload."""

SUMMARY_OF = "apprentice-summary-of"
"""The metadata field of a child's summary: the child's id. Such a payload counts there, though its parent sent it."""

RING_KEPT_SECONDS = 10.0
"""How long a process signs and encrypts with the key that it has read, after another became current."""

_NONCE_BYTES = 12
_ENCODING = "encoding"
_SCHEDULED = re.compile(rf"({'|'.join(SCHEDULES)})-\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@dataclass(frozen=True)
class PayloadKeys:
    """The keys as a process uses them: the ring is read anew now and then, a key that is not known is looked up."""

    ring: Callable[[], KeyRing]
    find: Callable[[str], bytes | None]

    @classmethod
    def of(cls, keys: SecretKeys, clock: Callable[[], float] = time.monotonic) -> "PayloadKeys":
        """The keys of a ring, which makes its first one when it is first read."""
        read: list[tuple[float, KeyRing]] = []

        def ring() -> KeyRing:
            if not read or clock() - read[0][0] > RING_KEPT_SECONDS:
                read[:] = [(clock(), keys.ring())]
            return read[0][1]

        return cls(ring, keys.find)


class SignedPayloads(PayloadCodec, WithSerializationContext):
    """Signs what is sent, encrypted if wanted, and refuses what was not signed for the place where it is read."""

    def __init__(self, keys: PayloadKeys, place: tuple[str, ...] = (), *, encrypt: bool = False) -> None:
        """``place`` is namespace, kind and workflow id; the SDK sets it through ``with_context``."""
        self._keys = keys
        self._place = place
        self._encrypt = encrypt

    def with_context(self, context: SerializationContext) -> "SignedPayloads":
        """The codec of one workflow, or of the activities of one."""
        match context:
            case WorkflowSerializationContext():
                place = (context.namespace, "workflow", context.workflow_id)
            case ActivitySerializationContext():
                place = (context.namespace, "activity", context.workflow_id or "")
            case _:
                place = ()
        return SignedPayloads(self._keys, place, encrypt=self._encrypt)

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """The payloads with their signatures.

        Raises:
            SecretKeysUnavailable: the keys cannot be read.
        """
        ring = self._keys.ring()
        return [self._signed(payload, ring.current, ring.keys[ring.current]) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """The payloads as they were before ``encode``; a refused one has the encoding ``REFUSED`` and no content.

        Raises:
            SecretKeysUnavailable: the keys cannot be read.
        """
        return [self._verified(payload) for payload in payloads]

    def _signed(self, payload: Payload, key_id: str, key: bytes) -> Payload:
        signed = Payload()
        signed.CopyFrom(encrypted(payload, key_id, key) if self._encrypt else payload)
        child = payload.metadata.get(SUMMARY_OF)
        if child is not None:
            signed.metadata[SUMMARY_OF] = child
        # What a scheduled run leaves (its last result) is read by the next one, whose id has another time.
        place = [*self._places()][-1] if child is None else self._summary_place(child)
        signed.metadata[SIGNATURE] = key_id.encode() + b":" + _mac(key, place, signed)
        return signed

    def _verified(self, payload: Payload) -> Payload:
        key_id, _, mac = payload.metadata.get(SIGNATURE, b"").partition(b":")
        key = self._keys.find(key_id.decode("ascii", "replace")) if mac else None
        child = payload.metadata.get(SUMMARY_OF)
        places = self._places() if child is None else [self._summary_place(child)]
        elsewhere = child is not None and self._place[1:] != ("workflow", child.decode("utf-8", "replace"))
        if (
            key is None
            or elsewhere
            or not any(hmac.compare_digest(mac, _mac(key, at, payload)) for at in places)
        ):
            log.warning("a payload was refused: it was not signed for this workflow", place=self._place)
            return Payload(metadata={_ENCODING: REFUSED})
        return clear(payload, self._keys.find) or Payload(metadata={_ENCODING: REFUSED})

    def _summary_place(self, child: bytes) -> tuple[str, ...]:
        return (*self._place[:1], "summary", child.decode("utf-8", "replace"))

    def _places(self) -> Iterable[tuple[str, ...]]:
        yield self._place
        # A schedule signs for its own name; the server adds the time to the id of each workflow.
        if self._place and (found := _SCHEDULED.fullmatch(self._place[-1])):
            yield (*self._place[:-1], found[1])


def _mac(key: bytes, place: tuple[str, ...], payload: Payload) -> bytes:
    """The HMAC in hexadecimal; each part has its length before it, so that none runs into the next."""
    metadata = [(name.encode(), value) for name, value in payload.metadata.items() if name != SIGNATURE]
    parts = [*(one.encode() for one in place), *(part for pair in sorted(metadata) for part in pair)]
    text = b"".join(b"%d:%s" % (len(part), part) for part in (*parts, payload.data))
    return hmac.new(key, text, sha256).hexdigest().encode()


def encrypted(payload: Payload, key_id: str, key: bytes) -> Payload:
    """The payload with content and metadata encrypted. Where it belongs is in the signature that is put on it."""
    nonce = os.urandom(_NONCE_BYTES)
    sealed = AESGCM(_encryption_key(key)).encrypt(nonce, payload.SerializeToString(), key_id.encode())
    return Payload(metadata={_ENCODING: ENCRYPTED, KEY_ID: key_id.encode()}, data=nonce + sealed)


def clear(payload: Payload, find: Callable[[str], bytes | None]) -> Payload | None:
    """The payload in clear and without its signature, which is not looked at; None where no key opens it."""
    if payload.metadata.get(_ENCODING) != ENCRYPTED:
        plain = Payload()
        plain.CopyFrom(payload)
        for ours in (SIGNATURE, SUMMARY_OF):
            plain.metadata.pop(ours, None)
        return plain
    key_id = payload.metadata.get(KEY_ID, b"")
    key = find(key_id.decode("ascii", "replace"))
    if key is None:
        return None
    nonce, sealed = payload.data[:_NONCE_BYTES], payload.data[_NONCE_BYTES:]
    try:
        return Payload.FromString(AESGCM(_encryption_key(key)).decrypt(nonce, sealed, key_id))
    except (InvalidTag, ValueError, DecodeError):
        return None


def _encryption_key(key: bytes) -> bytes:
    """Another key than the one that signs, derived from it."""
    return hmac.new(key, b"apprentice: encryption of Temporal payloads", sha256).digest()


_CONVERTERS = tuple(PydanticPayloadConverter().converters.values())
"""Pydantic's converters, one set for the process: each keeps the readers of the types that it has met."""


class SummaryConverter(CompositePayloadConverter):
    """Pydantic's converter, which tells the codec whose a child's summary is.

    Temporal makes one for each workflow; all share the same converters, so that a type's reader is built once.
    """

    def __init__(self) -> None:
        super().__init__(*_CONVERTERS)

    def to_payloads(self, values: Sequence[Any]) -> list[Payload]:
        """The payloads of the values."""
        payloads = super().to_payloads(values)
        for value, payload in zip(values, payloads, strict=True):
            if isinstance(value, ChildSummary):
                payload.metadata[SUMMARY_OF] = value.workflow_id.encode()
        return payloads


def payload_keys(data_dir: Path) -> SecretKeys:
    """The key ring of Temporal payloads of the installation in ``data_dir``."""
    folder = data_dir / FOLDER
    return SecretKeys(folder, [KeyFile(folder)])


def rotate_payload_keys(data_dir: Path) -> KeyRing:
    """Makes a new key, which signs and encrypts from now on; the old ones still verify and open.

    None is dropped: histories that one of them signed are read as long as Temporal keeps them.

    Raises:
        SecretKeysUnavailable: the keys cannot be read or written.
    """
    keys = payload_keys(data_dir)
    with keys.changing():
        kept = keys.kept_ring()
        return keys.save(kept.with_new_key() if kept is not None else KeyRing.new())


def signing_data_converter(data_dir: Path, *, encrypt: bool = False) -> DataConverter:
    """The data converter of API and worker, with the keys of the installation in ``data_dir``.

    The first key is made when the first payload is signed. Every machine of a cluster needs the same keys.
    ``encrypt`` hides contents, summaries and the texts of failures from whoever reads Temporal's database or UI.
    """
    codec = SignedPayloads(PayloadKeys.of(payload_keys(data_dir)), encrypt=encrypt)
    converter = replace(
        pydantic_data_converter, payload_converter_class=SummaryConverter, payload_codec=codec
    )
    if not encrypt:
        return converter
    return replace(converter, failure_converter_class=DefaultFailureConverterWithEncodedAttributes)


def is_signed(payload: object) -> bool:
    """Whether a raw payload bears a signature, valid or not."""
    return isinstance(payload, Payload) and SIGNATURE in payload.metadata
