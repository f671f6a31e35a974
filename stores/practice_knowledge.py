"""What a person's agent knows already: the commands of installed abilities and of earlier captures."""

from collections.abc import Iterator

from sqlalchemy import select

from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import BoundaryKind, ExitClass
from contracts.learning.practice import IdeaSource
from contracts.learning.session import LearnSessionState as S
from domain.learning.practice_commands import KnownCommand
from stores.blobs import BlobNotFoundError
from stores.database import Database
from stores.draft_store import load_bundle
from stores.observations import ObservationLog
from stores.tables import learn_sessions as table

_SESSIONS = 50
_MOST = 200
_INSTALLED = frozenset({S.INSTALLED_PRIVATE, S.APPROVED})


class PracticeKnowledge:
    """Read-only. Captures were redacted before they were kept."""

    def __init__(self, database: Database, log: ObservationLog) -> None:
        self._database = database
        self._log = log

    def of(self, owner: str) -> tuple[KnownCommand, ...]:
        """Commands that ``owner`` taught, those of installed abilities first; each once, at most 200."""
        query = (
            select(table.c.aggregate)
            .where(table.c.owner == owner)
            .order_by(table.c.session_id.desc())
            .limit(_SESSIONS)
        )
        with self._database.read() as connection:
            bodies = connection.scalars(query).all()
        sessions = [LearnSessionAggregate.model_validate_json(body) for body in bodies]
        sessions.sort(key=lambda found: found.session.state not in _INSTALLED)
        known: dict[str, KnownCommand] = {}
        for session in sessions:
            for taught in self._taught_in(session):
                known.setdefault(taught.command, taught)
            if len(known) >= _MOST:
                break
        return tuple(known.values())[:_MOST]

    def _taught_in(self, aggregate: LearnSessionAggregate) -> Iterator[KnownCommand]:
        session = aggregate.session
        events = self._log.all_of(session.learn_session_id)
        made = {
            e.event_id: tuple(f.path for f in e.terminal.produced_files if f.change != "deleted")
            for e in events
            if e.terminal is not None
        }
        if session.state in _INSTALLED and session.proposal_id is not None:
            yield from self._of_ability(session.proposal_id, made)
            return
        about = self._goal_of(session.learn_session_id)
        for event in events:
            terminal = event.terminal
            if terminal and terminal.exit_class is ExitClass.OK and terminal.working_folder in ("", "."):
                yield KnownCommand(terminal.command, made[event.event_id], about, IdeaSource.TRACE)

    def _of_ability(self, proposal_id: str, made: dict[str, tuple[str, ...]]) -> Iterator[KnownCommand]:
        try:
            with self._database.read() as connection:
                _, bundle = load_bundle(connection, proposal_id)
        except BlobNotFoundError:
            return
        about = f"{bundle.draft.title}. {bundle.interpretation.goal_summary}"
        for taught in bundle.draft.rehearsal:
            if taught.working_folder in ("", "."):
                yield KnownCommand(
                    taught.command, made.get(taught.event_id, ()), about[:240], IdeaSource.ABILITY
                )

    def _goal_of(self, session_id: str) -> str:
        marks = self._log.boundaries_of(session_id)
        goals = [mark.label for mark in marks if mark.kind is BoundaryKind.MARK_GOAL and mark.label]
        return goals[-1][:240] if goals else ""
