"""Policy of skills: an owner's rules as one versioned document."""

from datetime import datetime

from sqlalchemy import Connection

from contracts.errors import ErrorCode, Refusal
from contracts.skills.policy import SkillPolicy, SkillPolicyRule
from stores.platform.database import Database, advisory_lock
from stores.platform.journal.journal import JournalEntries, append
from stores.skills.skill_tables import POLICIES

STREAM = "system/skills/policy"


def policy_of(connection: Connection, owner: str) -> SkillPolicy:
    """The owner's rules; none where nothing was written yet."""
    return POLICIES.find(connection, owner) or SkillPolicy()


class SkillPolicies:
    """The rules of all users. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, owner: str) -> SkillPolicy:
        """The owner's rules."""
        with self._database.read() as connection:
            return policy_of(connection, owner)

    def put(
        self,
        owner: str,
        rules: tuple[SkillPolicyRule, ...],
        expected_version: int | None,
        correlation_id: str,
        now: datetime,
    ) -> SkillPolicy:
        """Replaces the owner's rules; they bind at once.

        Raises:
            Refusal: ``CONFLICT`` where they have changed since ``expected_version``.
        """
        with self._database.write() as connection:
            advisory_lock(connection, f"skill-policy {owner}")
            before = policy_of(connection, owner)
            if expected_version is not None and expected_version != before.version:
                raise Refusal(
                    ErrorCode.CONFLICT,
                    "The rules have changed meanwhile; read them again.",
                    current_version=before.version,
                )
            after = SkillPolicy(rules=rules, version=before.version + 1)
            POLICIES.put(connection, after, owner=owner)
            entries = JournalEntries(f"skill-policy/{owner}", owner, correlation_id, now)
            append(connection, entries.add(STREAM, after).drafts)
            return after
