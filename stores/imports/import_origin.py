"""What an install saga asks of an import instead of a learning session: is it awaited, proved, and let in."""

from sqlalchemy import Connection

from contracts.abilities.availability import InstallLane, UnprovedAcceptance, UnprovedStep
from contracts.errors import ErrorCode, Refusal
from contracts.imports.import_record import SkillImportState
from contracts.imports.import_work import SkillImport
from contracts.learning.install import InstallSagaInput
from contracts.learning.validation import DraftProof, proof_of
from domain.imports.unproved import unproved_of
from stores.abilities.ability_rows import entry_of, life_of
from stores.imports.import_tables import IMPORTS
from stores.learning.drafts import load_bundle
from stores.learning.learning_tables import VALIDATION_RUNS
from stores.platform import tables


def awaited_import(connection: Connection, request: InstallSagaInput) -> SkillImport | None:
    """The import that waits for this saga, its row held until the transaction ends; None where none does."""
    if request.import_id is None:
        return None
    present = IMPORTS.find(connection, request.import_id, lock=True)
    waits = present is not None and present.state is SkillImportState.INSTALL_QUEUED
    return present if waits and present is not None and present.saga_id == request.saga_id else None


def proof_of_import(
    connection: Connection, request: InstallSagaInput
) -> tuple[DraftProof, tuple[UnprovedStep, ...], UnprovedAcceptance | None]:
    """What validation runs of this very content prove, what nothing proves, and who accepted that."""
    runs = tables.validation_runs.c
    found = VALIDATION_RUNS.all(
        connection,
        runs.proposal_id == request.proposal_id,
        runs.content_hash == request.content_hash,
        order_by=(runs.run_id,),
    )
    present = awaited_import(connection, request)
    _, bundle = load_bundle(connection, request.proposal_id)
    accepted = present.accepted if present is not None else None
    return proof_of(found), unproved_of(bundle.draft.unrehearsed), accepted


def refuse_quarantined(connection: Connection, ability_id: str) -> None:
    """Refuses to install an import over an ability that is quarantined: that would lift it without a reason.

    Asked when the install is ordered, and again by its saga, which holds the ability's row: from then on the ability
    takes no command until the saga has ended.

    Raises:
        Refusal: ``CONFLICT``.
    """
    entry = entry_of(connection, ability_id)
    if entry is None or entry.install_lane is not InstallLane.QUARANTINED:
        return
    quarantine = life_of(connection, entry.ability_id).quarantine
    why = f": {quarantine.reason.rstrip('.')}" if quarantine is not None else ""
    raise Refusal(
        ErrorCode.CONFLICT,
        f"It would replace {entry.ability_id}, which is quarantined{why}. Lift that first, with a reason "
        f"(apprentice abilities unquarantine {entry.ability_id} --reason WHY), then install.",
        retryable=False,
        ability_id=entry.ability_id,
    )
