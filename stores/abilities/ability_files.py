"""An ability's files, made to follow how it stands: canonical always, in the workspace only in service."""

from collections.abc import Mapping

from sqlalchemy import Connection

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.abilities.lifecycle import AbilityContent
from contracts.base import UtcTime
from domain.abilities.availability import in_service
from domain.learning.redaction.redaction import redact
from stores.abilities.ability_rows import put_capability
from stores.platform.blobs import get_blob
from stores.platform.projection.documents import list_documents, put_document, read_document, remove_document

CANONICAL = "system/learning/installed"
SET_ASIDE = "system/abilities/set_aside"
"""Folder of hand edits to our workspace files that had to be removed at once."""


def follow_standing(connection: Connection, entry: AbilityAvailabilityEntry) -> None:
    """Puts the skill into the agent's workspace when it is in service, and takes it out when it is not."""
    slug = entry.skill_slug
    if slug is None:
        return
    home = f"{CANONICAL}/{slug}"
    wanted: dict[str, bytes] = {}
    if in_service(entry):
        for path in list_documents(connection, "memory", home):
            content = read_document(connection, "memory", path)
            if content is not None:
                wanted[f"skills/{slug}/{path.removeprefix(home + '/')}"] = content
        manifest = _manifest(connection, entry)
        if manifest is not None:
            wanted[f"skills/{slug}/capabilities/{entry.primary_capability_id}.json"] = manifest
    for path in list_documents(connection, "workspace", f"skills/{slug}"):
        if path not in wanted:
            remove_document(connection, "workspace", path)
    for path, content in wanted.items():
        put_document(connection, "workspace", path, content)


def restore_content(
    connection: Connection, present: AbilityAvailabilityEntry, older: AbilityContent, now: UtcTime
) -> None:
    """Makes an older version's canonical files and its capability the current ones."""
    wanted = {file.path: file.digest for file in older.files if file.root == "memory"}
    for path in _owned_paths(connection, present, older):
        if path not in wanted:
            remove_document(connection, "memory", path)
    for path, digest in wanted.items():
        put_document(connection, "memory", path, get_blob(connection, digest))
    _restore_capability(connection, present, older, now)


def set_aside(connection: Connection, ability_id: str, edited: Mapping[str, bytes]) -> None:
    """Keeps hand-made changes to workspace files where no agent reads them, their secrets masked."""
    for path, content in edited.items():
        try:
            kept = redact(content.decode()).text.encode()
        except UnicodeDecodeError:
            kept = content
        put_document(connection, "memory", f"{SET_ASIDE}/{ability_id}/{path}", kept)


def _manifest(connection: Connection, entry: AbilityAvailabilityEntry) -> bytes | None:
    path = f"system/capabilities/manifests/{entry.primary_capability_id}.json"
    return read_document(connection, "memory", path)


def _owned_paths(
    connection: Connection, present: AbilityAvailabilityEntry, older: AbilityContent
) -> tuple[str, ...]:
    installed = list_documents(connection, "memory", f"{CANONICAL}/{present.skill_slug}")
    if present.primary_capability_id == older.entry.primary_capability_id:
        return installed
    beside = (
        f"system/capabilities/{kind}/{present.primary_capability_id}.json"
        for kind in ("manifests", "metadata")
    )
    return (*installed, *beside)


def _restore_capability(
    connection: Connection, present: AbilityAvailabilityEntry, older: AbilityContent, now: UtcTime
) -> None:
    restored = older.entry.primary_capability_id
    assert restored is not None, "what was installed has a capability"
    put_capability(
        connection,
        restored,
        present.ability_id,
        older.manifest,
        now,
        replaces=present.primary_capability_id or restored,
        same_content=False,
    )
