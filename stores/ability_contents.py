"""What each installed version holds, kept so that a rollback can put it back (routes.md, one-call rollback)."""

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert, select

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilityVersion
from contracts.abilities.life import AbilityContent, ContentFile
from stores.canonical import canonical_json
from stores.tables import ability_contents, ability_versions


def keep_content(
    connection: Connection,
    version: int,
    entry: AbilityAvailabilityEntry,
    manifest: str,
    files: Iterable[ContentFile],
) -> None:
    """Keeps a version's content; what was kept of the same version before is replaced."""
    forget_content(connection, entry.ability_id, version)
    content = AbilityContent(
        ability_id=entry.ability_id, version=version, entry=entry, manifest=manifest, files=tuple(files)
    )
    connection.execute(
        insert(ability_contents).values(
            ability_id=entry.ability_id, version=version, body=canonical_json(content)
        )
    )


def forget_content(connection: Connection, ability_id: str, version: int) -> None:
    """Forgets a version that was not installed after all."""
    table = ability_contents
    connection.execute(delete(table).where(table.c.ability_id == ability_id, table.c.version == version))


def content_of(connection: Connection, ability_id: str, version: int) -> AbilityContent | None:
    """What the version holds, or ``None`` where nothing is kept of it."""
    table = ability_contents
    body = connection.scalar(
        select(table.c.body).where(table.c.ability_id == ability_id, table.c.version == version)
    )
    return AbilityContent.model_validate_json(body) if body is not None else None


def versions_of(connection: Connection, ability_id: str) -> tuple[AbilityVersion, ...]:
    """The installed versions, newest first."""
    table = ability_versions
    rows = connection.scalars(
        select(table.c.body).where(table.c.ability_id == ability_id).order_by(table.c.version.desc())
    )
    return tuple(AbilityVersion.model_validate_json(body) for body in rows)


def previous_of(versions: Iterable[AbilityVersion], current: int) -> AbilityVersion | None:
    """The newest version before the current one whose content differs; ``versions`` are newest first."""
    known = tuple(versions)
    present = next((one for one in known if one.version == current), None)
    return next(
        (
            one
            for one in known
            if one.version < current and (present is None or one.content_hash != present.content_hash)
        ),
        None,
    )
