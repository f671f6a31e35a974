"""Building demonstrations for tests: what was typed, marked and answered, without a recorder."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.observation import ObservedActionEvent, WorkflowBoundary
from contracts.learning.proposal import SkillDraft
from contracts.learning.questions import LearningAnswer, LearningQuestion
from contracts.learning.session import LearnSession
from domain.learning.drafting.drafting import draft_skill
from domain.learning.interpretation.interpretation import InterpretationInput, interpret
from domain.learning.interpretation.steps import DemonstratedStep, captured_steps

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Learned:
    """Everything the rules made of one demonstration."""

    interpretation: SemanticWorkflowInterpretation
    steps: tuple[DemonstratedStep, ...]
    draft: SkillDraft

    def file(self, path: str) -> str:
        return next(f.content for f in self.draft.files if f.path == path)

    def json(self, path: str) -> Any:
        return json.loads(self.file(path))


class Teaching:
    """Makes events, marks and sessions. ``at`` is seconds since the start, and the event's identity."""

    now = START

    def id(self, number: int) -> str:
        return str(UUID(int=number))

    def event_id(self, at: int) -> str:
        return self.id(1000 + at)

    def session(self, **changes: object) -> LearnSession:
        values: dict[str, object] = {
            "learn_session_id": self.id(1),
            "owner_user_id": "ada",
            "entry_mode": "demonstrating_skill",
            "state": "drafting_proposal",
            "created_at": START,
            "updated_at": START,
        }
        return LearnSession.model_validate(values | changes)

    def command(
        self, at: int, command: str, *produced: str, exit_class: str = "ok", folder: str = "."
    ) -> ObservedActionEvent:
        """``produced`` names files with their change: ``+new``, ``~changed``, ``-gone``, ``0empty``."""
        changes = {"+": "created", "~": "modified", "-": "deleted", "0": "created"}
        files = [
            {"path": p[1:], "change": changes[p[0]], "size_bytes": 0 if p[0] in "-0" else 7} for p in produced
        ]
        return self.event(
            at,
            adapter_kind="terminal_command",
            action_label="Ran a command",
            caused_state_change=bool(files),
            terminal={
                "command": command,
                "exit_class": exit_class,
                "working_folder": folder,
                "produced_files": files,
            },
        )

    def event(self, at: int, **changes: object) -> ObservedActionEvent:
        values: dict[str, object] = {
            "event_id": self.event_id(at),
            "learn_session_id": self.id(1),
            "adapter_kind": "accessibility_ui",
            "action_label": "Did something",
            "caused_state_change": True,
            "created_at": START + timedelta(seconds=at),
        }
        return ObservedActionEvent.model_validate(values | changes)

    def mark(
        self, kind: str, at: float, label: str | None = None, to_event: int | None = None
    ) -> WorkflowBoundary:
        return WorkflowBoundary.model_validate(
            {
                "boundary_id": self.id(50_000 + int(at * 10)),
                "learn_session_id": self.id(1),
                "kind": kind,
                "source": "user_click",
                "label": label,
                "source_event_id": None if to_event is None else self.event_id(to_event),
                "created_at": START + timedelta(seconds=at),
            }
        )

    def answer(
        self, field: str, text: str, suggestion: str | None = None
    ) -> tuple[LearningQuestion, LearningAnswer]:
        question = LearningQuestion.model_validate(
            {
                "question_id": self.id(9),
                "proposal_id": self.id(3),
                "field": field,
                "prompt": "?",
                "suggestion": suggestion,
                "created_at": START,
            }
        )
        answer = LearningAnswer(
            question_id=question.question_id, proposal_id=question.proposal_id, answer=text, created_at=START
        )
        return question, answer

    def source(
        self,
        events: Sequence[ObservedActionEvent],
        boundaries: Sequence[WorkflowBoundary] = (),
        session: LearnSession | None = None,
        **changes: Any,
    ) -> InterpretationInput:
        values: dict[str, Any] = {"interpretation_id": self.id(2), "proposal_id": self.id(3), "now": START}
        return InterpretationInput(
            session=session or self.session(), events=events, boundaries=boundaries, **(values | changes)
        )

    def learn(
        self,
        events: Sequence[ObservedActionEvent],
        boundaries: Sequence[WorkflowBoundary] = (),
        session: LearnSession | None = None,
        edits: Mapping[str, object] | None = None,
        **changes: Any,
    ) -> Learned:
        given = dict(edits or {})
        source = self.source(events, boundaries, session, edits=given, **changes)
        interpretation = interpret(source)
        steps = captured_steps(events, boundaries)
        draft = draft_skill(interpretation, steps, source.session, edits=given)
        return Learned(interpretation, steps, draft)

    def reports(self) -> list[ObservedActionEvent]:
        """A realistic demonstration, with slips and looking around: sort, archive and checksum reports."""
        return [
            self.command(1, "ls"),
            self.command(2, "mkdir -p reports"),
            self.command(3, "prntf 'north,120' > reports/sales.csv", exit_class="failed"),
            self.command(4, r"printf 'north,120\nsouth,80\n' > reports/sales.csv", "+reports/sales.csv"),
            self.command(5, "cat reports/sales.csv"),
            self.command(6, "sort -t, -k2 -rn reports/sales.csv > reports/top.txt", "+reports/top.txt"),
            self.command(7, "ls -la reports"),
            self.command(8, "tar czf reports.tgz reportz", "+reports.tgz", exit_class="failed"),
            self.command(9, "tar czf reports.tgz reports", "~reports.tgz"),
            self.command(10, "sha256sum reports.tgz > reports.sha256", "+reports.sha256"),
            self.command(11, "cat reports.sha256"),
        ]


@pytest.fixture(scope="session")
def teach() -> Teaching:
    return Teaching()
