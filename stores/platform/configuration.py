"""Configuration as it stands, changed by intents alone: one transaction, one line in the journal, one file."""

import json
import re
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection, select

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.platform.configuration import (
    Configuration,
    ConfigurationIntent,
    ConfigurationIntentResponse,
    ConfigurationTarget,
)
from domain.platform.configuration_intents import applied
from stores.platform.canonical import canonical_json, digest_of, document_bytes
from stores.platform.database import Database, advisory_lock, insert_or
from stores.platform.document_table import DocumentTable
from stores.platform.journal.journal import JournalDraft, JournalEntries, append
from stores.platform.projection.documents import put_document
from stores.platform.tables import configuration_intents, configurations

FOLDER = "system/skills/config"
STREAM = "system/skills/config/intents"

CONFIGURATIONS = DocumentTable(
    configurations, Configuration, lambda one: {"capability_id": one.capability_id or ""}
)

Change = Callable[[Connection], tuple[bool, Configuration]]
"""Carries an intent out within its transaction: whether anything changed, and the configuration after."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")


class Configurations:
    """The configuration of all users. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_for(self, owner: str, target: ConfigurationTarget) -> tuple[Configuration, ...]:
        """All that is configured of one kind, by capability."""
        of_kind = (configurations.c.owner == owner, configurations.c.target == target.value)
        with self._database.read() as connection:
            return CONFIGURATIONS.all(connection, *of_kind, order_by=(configurations.c.capability_id,))

    def carry_out(
        self, intent: ConfigurationIntent, owner: str, now: datetime, change: Change | None = None
    ) -> ConfigurationIntentResponse:
        """Carries an intent out once; the same one again is answered as the first time.

        ``change`` does it where the configuration is not kept here, as policy is not.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED`` when its id stands for another intent; whatever ``change`` refuses.
        """
        digest = digest_of(canonical_json(intent))
        with self._database.write() as connection:
            advisory_lock(connection, f"configuration {owner}")
            given = {"intent_id": intent.intent_id, "owner": owner, "digest": digest, "answer": ""}
            fresh = connection.execute(
                insert_or(connection, configuration_intents).on_conflict_do_nothing(), given
            ).rowcount
            if not fresh:
                return _answered(connection, intent.intent_id, owner, digest)
            changed, now_so = change(connection) if change else _laid_over(connection, intent, owner, now)
            answer = ConfigurationIntentResponse(
                intent_id=intent.intent_id, changed=changed, configuration=now_so
            )
            connection.execute(
                configuration_intents.update()
                .where(configuration_intents.c.intent_id == intent.intent_id)
                .values(answer=canonical_json(answer))
            )
            append(connection, [_entry(intent, owner, changed, now)])
        return answer


def _laid_over(
    connection: Connection, intent: ConfigurationIntent, owner: str, now: datetime
) -> tuple[bool, Configuration]:
    before = _current(connection, owner, intent.target, intent.capability_id)
    after = applied(before.fields, intent.payload)
    if after == before.fields:
        return False, before
    now_so = before.changed(fields=after, revision=before.revision + 1, changed_at=now)
    _keep(connection, now_so)
    return True, now_so


def _answered(connection: Connection, intent_id: str, owner: str, digest: str) -> ConfigurationIntentResponse:
    row = connection.execute(
        select(configuration_intents).where(configuration_intents.c.intent_id == intent_id)
    ).one()
    if (row.owner, row.digest) != (owner, digest):
        raise Refusal(
            ErrorCode.IDEMPOTENCY_KEY_REUSED,
            f"{intent_id} stands for another intent; give this one its own id.",
        )
    return ConfigurationIntentResponse.model_validate_json(row.answer)


def _current(
    connection: Connection, owner: str, target: ConfigurationTarget, capability_id: str | None
) -> Configuration:
    known = CONFIGURATIONS.find(connection, (owner, target.value, capability_id or ""))
    if known is not None:
        return known
    return Configuration(
        target=target, owner_user_id=owner, capability_id=capability_id, fields={}, revision=0
    )


def _keep(connection: Connection, configuration: Configuration) -> None:
    CONFIGURATIONS.put(connection, configuration)
    put_document(connection, "memory", _path(configuration), document_bytes(configuration))


def _path(configuration: Configuration) -> str:
    # Names of users and capabilities are no paths; the digest keeps two that look alike apart.
    owner = configuration.owner_user_id
    name = configuration.capability_id or "all"
    plain = "-".join(_UNSAFE.sub("_", part)[:60] for part in (owner, name))
    mark = digest_of(json.dumps([owner, name]))[:8]
    return f"{FOLDER}/{configuration.target.value}/{plain}-{mark}.json"


def _entry(intent: ConfigurationIntent, owner: str, changed: bool, now: datetime) -> JournalDraft:
    chain = f"configuration/{owner}/{intent.target.value}/{intent.capability_id or 'all'}"
    document = {**intent.model_dump(mode="json"), "changed": changed, "carried_out_at": rfc3339(now)}
    return JournalEntries(chain, owner, intent.correlation_id, now).draft(STREAM, document)
