"""How portable a proposal is here, and requests of adapters for it: one transaction each, no workflow decides."""

from datetime import UTC, datetime

from sqlalchemy import Connection
from uuid_utils import uuid7

from contracts.base import clipped
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.views.portability import AdapterRequest, ProposalPortability
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import learn_session_id, skill_import_workflow_id
from domain.imports.draft_portability import draft_portability
from stores.imports.installed_names import InstalledNames
from stores.learning.drafts import load_draft
from stores.platform.answers import answered_within
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.journal.journal import JournalEntries, JournalFilter, append, read_entries

ADAPTER_REQUESTS = "system/capabilities/adapter_requests"
MOST_SHOWN = 20


class DraftPortability:
    """Grades of proposals and the requests of adapters that belong to them."""

    def __init__(self, database: Database, names: InstalledNames) -> None:
        self._database = database
        self._names = names

    def of(self, proposal: SkillBundleProposal) -> ProposalPortability:
        """The grade of the present draft against what its owner has here now."""
        installed = self._names.of(proposal.owner_user_id)
        with self._database.read() as connection:
            grade, findings = draft_portability(load_draft(connection, proposal.proposal_id), installed)
            requests = _requests(connection, proposal)
        return ProposalPortability(portability_grade=grade, findings=findings, adapter_requests=requests)

    def request_adapter(
        self, proposal: SkillBundleProposal, wanted: str, key: CommitKey | None, correlation_id: str
    ) -> ProposalPortability:
        """Puts a request for an adapter on record, and hands it over in ``capabilities/adapter_requests.jsonl``.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        present = self.of(proposal)
        now = datetime.now(UTC)
        request = AdapterRequest(
            adapter_request_id=str(uuid7()),
            proposal_id=proposal.proposal_id,
            wanted=wanted,
            portability_grade=present.portability_grade,
            missing=tuple(clipped(one.message, 240) for one in present.findings),
            created_at=now,
        )
        entries = JournalEntries(
            _chain(proposal),
            proposal.owner_user_id,
            correlation_id,
            now,
            proposal.learn_session_id,
            proposal.proposal_id,
        )
        entries.add(ADAPTER_REQUESTS, request)
        requests = (request, *present.adapter_requests)[:MOST_SHOWN]

        with self._database.write() as connection:

            def act() -> str:
                append(connection, entries.drafts)
                return canonical_json(present.changed(adapter_requests=requests))

            body = answered_within(connection, key, act) if key is not None else act()
        return ProposalPortability.model_validate_json(body)


def _chain(proposal: SkillBundleProposal) -> str:
    if proposal.learn_session_id is not None:
        return learn_session_id(proposal.learn_session_id)
    return skill_import_workflow_id(proposal.source_trace_ids[0])


def _requests(connection: Connection, proposal: SkillBundleProposal) -> tuple[AdapterRequest, ...]:
    wanted = JournalFilter(streams=(ADAPTER_REQUESTS,), proposal_id=proposal.proposal_id)
    found = read_entries(connection, wanted, limit=MOST_SHOWN, newest_first=True)
    return tuple(AdapterRequest.model_validate(one.document) for one in found)
