"""What the store knows of a skill beside its draft, for the sidecar that its install writes (DOC3 §1.1C)."""

from sqlalchemy import Connection, select

from contracts.abilities.control_surface import ControlSurface
from contracts.learning.aggregate import DraftBundle, LearnSessionAggregate
from contracts.learning.install import InstallSagaInput
from contracts.learning.observation import BrowserObservation
from contracts.learning.validation import ValidationStepResult
from domain.abilities.capability_sidecar import Surroundings
from stores.learning.learning_tables import OBSERVATIONS, VALIDATION_STEPS
from stores.platform.tables import observations, validation_runs, validation_steps
from stores.projects.bindings import bindings_of


def surroundings_of(
    connection: Connection,
    request: InstallSagaInput,
    session: LearnSessionAggregate | None,
    bundle: DraftBundle,
) -> Surroundings:
    """Pages of the lesson, as far as retention has left its observations, failed tests, buckets of its project.

    ``session`` is the one that waits for the install, none of an import.
    """
    shown_in_a_page = (
        ControlSurface.NATIVE_OPENCLAW_BROWSER in bundle.interpretation.preferred_control_surfaces
    )
    return Surroundings(
        seen=_pages_seen(connection, session.session.learn_session_id) if session and shown_in_a_page else (),
        failed=_failed_tests(connection, request.proposal_id),
        buckets=_buckets(connection, request.owner_user_id, session.session.project_id if session else None),
    )


def _pages_seen(connection: Connection, session_id: str) -> list[BrowserObservation]:
    table = observations
    in_a_page = (table.c.session_id == session_id, table.c.body.contains('"browser":{', autoescape=True))
    found = OBSERVATIONS.all(connection, *in_a_page, order_by=(table.c.seq,))
    return [one.browser for one in found if one.browser is not None]


def _failed_tests(connection: Connection, proposal_id: str) -> tuple[ValidationStepResult, ...]:
    runs = select(validation_runs.c.run_id).where(validation_runs.c.proposal_id == proposal_id)
    steps = validation_steps.c
    failed = (steps.run_id.in_(runs), steps.body.contains('"result":"failed"', autoescape=True))
    return VALIDATION_STEPS.all(connection, *failed, order_by=(steps.run_id, steps.test_case_id))


def _buckets(connection: Connection, owner: str, project_id: str | None) -> list[str]:
    if project_id is None:
        return []
    bound = (one for one in bindings_of(connection, owner) if one.project_id == project_id)
    return [bucket for one in bound for bucket in one.bucket_ids]
