"""A lesson is repeated with files that are said to be there already; where it cannot be, the evidence says why."""

import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, select
from temporalio.testing import ActivityEnvironment
from uuid_utils import uuid7

from activities.learning.lesson_replay import LessonReplay
from contracts.learning.aggregate import DraftRequest, LearnSessionAggregate
from contracts.learning.evidence import LessonEvidence
from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    TerminalObservation,
)
from contracts.learning.questions import LearningAnswer, LearningQuestion, QuestionField
from contracts.learning.session import ObservationMode
from contracts.learning.starting_state import MAX_STATES, StartingState
from domain.learning.comparison.given_inputs import input_note
from skills.rehearsal.evidence import EvidenceBounds
from stores.learning.base_skills import BaseSkills
from stores.learning.lesson_evidence import LessonEvidenceStore
from stores.learning.observations import ObservationLog
from stores.learning.proposals import AllowedActions, ProposalReads
from stores.learning.starting_states import StartingStates
from stores.platform import tables
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.projection.document_projection import WorkspaceEdits
from tests.fixtures.databases import migrated
from tests.fixtures.past import NOW, add_session
from tests.fixtures.starting import TAKEN, state_of

pytestmark = pytest.mark.thorough

WRITE = "printf 'b\\na\\n' > {}"


class Shown:
    """A lesson as it was recorded, its replay, and what an answer about one file of it comes to."""

    def __init__(self, database: Database, folder: Path, files: Mapping[str, bytes | None]) -> None:
        self._database = database
        self.states, self._evidence = StartingStates(database), LessonEvidenceStore(database)
        self.session_id = add_session(database, None, observation_mode=ObservationMode.OUTSIDE_AGENT)
        self.states.keep(state_of(self.session_id, files))
        proposals = ProposalReads(
            database, AllowedActions(database, BaseSkills(database, WorkspaceEdits(database, folder)))
        )
        folder.chmod(0o755)
        log = ObservationLog(database)
        bounds = EvidenceBounds()
        self._replay = LessonReplay(log, self.states, self._evidence, proposals, folder / "jails", bounds)
        self.ids: dict[str, str] = {}

    def show(self, *commands: tuple[str, str]) -> LessonEvidence:
        """Records the commands with the file that each made, and replays them."""
        for number, (command, made) in enumerate(commands):
            event = _event(self.session_id, number, command, made)
            self.ids[command] = event.event_id
            with self._database.write() as connection:
                connection.execute(
                    insert(tables.observations).values(
                        session_id=self.session_id,
                        event_id=event.event_id,
                        retain=False,
                        body=canonical_json(event),
                    )
                )
        ActivityEnvironment().run(self._replay.replay_lesson, self._session().session)
        return self.evidence

    def say_there(self, path: str, command: str, *, is_cancelled: bool = False) -> str:
        """Answers that the file which the command made is there already; what the draft says of that."""
        proposal_id = str(uuid7())
        question = LearningQuestion(
            question_id=str(uuid7()),
            proposal_id=proposal_id,
            field=QuestionField.INPUT,
            prompt="Is it there already?",
            about=path,
            evidence_event_ids=(self.ids[command],),
            created_at=NOW,
        )
        answer = LearningAnswer(
            question_id=question.question_id, proposal_id=proposal_id, answer="It is there", created_at=NOW
        )
        request = DraftRequest(
            session=self._session().session,
            proposal_id=proposal_id,
            interpretation_id=str(uuid7()),
            revision=1,
            questions=(question,),
            pending_answers=(answer,),
            replay_answered=True,
            now=NOW,
        )
        environment = ActivityEnvironment()
        if is_cancelled:
            environment.cancel()
        environment.run(self._replay.replay_answered, request)
        return input_note([(question, answer)], self.evidence)

    @property
    def evidence(self) -> LessonEvidence:
        found = self._evidence.of_session(self.session_id)
        assert found is not None
        return found

    def all_states(self) -> Sequence[StartingState]:
        return self.states.of_session(self.session_id)

    def _session(self) -> LearnSessionAggregate:
        table = tables.learn_sessions
        with self._database.read() as connection:
            body = connection.scalar(select(table.c.aggregate).where(table.c.session_id == self.session_id))
        return LearnSessionAggregate.model_validate_json(body or "")


def _packed(*names: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    return packed.getvalue()


def _event(session_id: str, number: int, command: str, made: str) -> ObservedActionEvent:
    produced = (ProducedFile(path=made, change="created", size_bytes=4),) if made else ()
    return ObservedActionEvent(
        event_id=str(uuid7()),
        learn_session_id=session_id,
        adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
        app_family="terminal",
        action_label=command[:80],
        caused_state_change=bool(made),
        terminal=TerminalObservation(
            command=command, exit_class=ExitClass.OK, working_folder=".", produced_files=produced
        ),
        created_at=TAKEN + timedelta(seconds=number + 1),
    )


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A migrated SQLite database."""
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    migrated(url)
    opened = Database(url)
    yield opened
    opened.close()


@pytest.mark.parametrize("making", ["", "tar xf pack.tar", "git init -q work", "mkdir work"])
def test_a_file_that_is_said_to_be_there_is_an_input_whatever_made_its_folder(
    database: Database, tmp_path: Path, making: str
) -> None:
    path = "work/in.txt" if making else "in.txt"
    lesson = Shown(database, tmp_path, {"pack.tar": _packed("work/readme.md")})
    write, work = WRITE.format(path), f"sort {path} > sorted.txt"
    lesson.show(*([(making, "work/readme.md")] if making else []), (write, path), (work, "sorted.txt"))
    assert lesson.say_there(path, write) == ""
    assert path in lesson.evidence.inputs
    assert lesson.ids[work] in lesson.evidence.kept
    assert lesson.ids[write] in {one.event_id for one in lesson.evidence.left_out}
    again = lesson.evidence
    assert lesson.say_there(path, write) == ""
    assert (lesson.evidence, len(lesson.all_states())) == (again, 2)


WORK = "sort work/in.txt > sorted.txt"
WRITTEN = WRITE.format("work/in.txt")


@pytest.mark.parametrize(
    ("first", "write", "why"),
    [
        ("cp -r template work", WRITTEN, "(“cp -r template work” does something else then)"),
        (
            "mkdir work && cp template/a.txt work/a.txt",
            WRITTEN,
            "(“mkdir work && cp template/a.txt work/a.…” does something else then)",
        ),
        (
            "cp template/a.txt a.txt; mkdir work",
            WRITTEN,
            "(“cp template/a.txt a.txt; mkdir work” fails here (exit status 1)",
        ),
        ("mkdir work; IN=work/in.txt", "echo b > $IN", "(what wrote it does not write it by itself)"),
    ],
)
def test_where_the_work_cannot_begin_with_the_file_the_draft_says_why(
    database: Database, tmp_path: Path, first: str, write: str, why: str
) -> None:
    lesson = Shown(database, tmp_path, {"template": None, "template/a.txt": b"a\n"})
    before = lesson.show((first, "work/a.txt"), (write, "work/in.txt"), (WORK, "sorted.txt"))
    note = lesson.say_there("work/in.txt", write)
    assert note.startswith(f"work/in.txt could not be taken as there already {why}")
    assert lesson.evidence.changed(inputs_note="") == before
    assert len(lesson.all_states()) == 1, "no further state stays behind"


def test_where_no_further_state_may_be_kept_the_draft_says_so(database: Database, tmp_path: Path) -> None:
    lesson = Shown(database, tmp_path, {})
    write = WRITE.format("in.txt")
    before = lesson.show((write, "in.txt"), ("sort in.txt > sorted.txt", "sorted.txt"))
    for _ in range(MAX_STATES - 1):
        lesson.states.keep(state_of(lesson.session_id, {}, taken_at=TAKEN + timedelta(hours=1)))
    assert "has 20 starting states already" in lesson.say_there("in.txt", write)
    assert lesson.evidence.changed(inputs_note="") == before


def test_where_the_starting_state_has_gone_the_draft_says_so(database: Database, tmp_path: Path) -> None:
    lesson = Shown(database, tmp_path, {})
    write = WRITE.format("in.txt")
    lesson.show((write, "in.txt"), ("sort in.txt > sorted.txt", "sorted.txt"))
    lesson.states.remove(lesson.session_id, lesson.all_states()[0].state_id)
    assert "the starting state of the lesson is no longer kept" in lesson.say_there("in.txt", write)


def test_where_the_replay_is_cut_short_the_draft_says_so(database: Database, tmp_path: Path) -> None:
    lesson = Shown(database, tmp_path, {})
    write = WRITE.format("in.txt")
    before = lesson.show((write, "in.txt"), ("sort in.txt > sorted.txt", "sorted.txt"))
    assert "(its replay did not end)" in lesson.say_there("in.txt", write, is_cancelled=True)
    assert (lesson.evidence, len(lesson.all_states())) == (before, 1)
