"""The lifecycle of learning sessions as the specification tells it, in plain Python, for comparison.

Written from the transition table (DOC3 §0C.1A), the error table (§0C.16B) and the decisions on learning;
it shares nothing with the code it judges.
"""

from dataclasses import dataclass, field

LADDER = ("lint", "trigger", "dry_run", "dependency_check", "rehearsal")

LEADS_TO = {
    "idle": ("armed", "cancelled"),
    "armed": ("capturing", "cancelled"),
    "capturing": ("paused", "stopped", "cancelled"),
    "paused": ("capturing", "stopped", "cancelled"),
    "stopped": ("reviewing", "cancelled"),
    "reviewing": ("awaiting_questions", "drafting_proposal", "cancelled"),
    "awaiting_questions": ("reviewing", "drafting_proposal", "cancelled"),
    "drafting_proposal": ("testing_proposal", "ready_for_review", "cancelled"),
    "testing_proposal": ("ready_for_review", "drafting_proposal", "cancelled", "quarantined"),
    "ready_for_review": ("installing_private", "approved", "rejected", "drafting_proposal"),
    "installing_private": ("installed_private", "quarantined"),
    "installed_private": ("approved", "quarantined"),
    "approved": ("quarantined",),
    "rejected": (),
    "cancelled": (),
    "quarantined": ("drafting_proposal", "cancelled"),
}

AT_REST = ("rejected", "cancelled", "approved", "installed_private")
OBSERVING = ("armed", "capturing")
BEFORE_CAPTURE_ENDS = ("idle", "armed", "capturing", "paused")
BEFORE_THE_DRAFT = (*BEFORE_CAPTURE_ENDS, "stopped", "reviewing", "awaiting_questions")

ILLEGAL = (400, "INVALID_LEARN_STATE_TRANSITION")


class Refused(Exception):
    """The command is not taken: with this status and code."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"{status} {code}")
        self.answer = (status, code)


@dataclass
class ModelSession:
    """One session."""

    session_id: str
    goal: str
    watches: bool
    state: str = "armed"
    shown: str | None = None
    """What was demonstrated: ``good``, ``failing``, ``unsafe`` or ``slow``; nothing yet is ``None``."""
    events: list[str] = field(default_factory=list)
    marks: int = 0
    proposal_id: str | None = None
    content_hash: str | None = None
    spoiled: bool = False
    passed: set[str] = field(default_factory=set)
    questions: list[str] = field(default_factory=list)

    @property
    def at_rest(self) -> bool:
        """Whether it leaves its owner's slot free."""
        return self.state in AT_REST

    @property
    def proven(self) -> bool:
        """Whether the present content has climbed the whole ladder."""
        return self.passed == set(LADDER)

    def need(self, *states: str) -> None:
        """Refuses unless the session is in one of the states."""
        if self.state not in states:
            raise Refused(*ILLEGAL)

    def go(self, *path: str) -> None:
        """Follows a path through the table."""
        for state in path:
            if state not in LEADS_TO[self.state]:
                raise Refused(*ILLEGAL)
            self.state = state

    # ---- capture ----

    def start(self) -> None:
        """Capture begins."""
        self.need("armed")
        self.go("capturing")
        self.marks += 1

    def pause(self) -> None:
        """Capture pauses."""
        self.need("capturing")
        self.go("paused")
        self.marks += 1

    def resume(self) -> None:
        """Capture goes on."""
        self.need("paused")
        self.go("capturing")
        self.marks += 1

    def stop(self) -> None:
        """Capture ends; a mode without observation may end it at once."""
        if self.state not in BEFORE_CAPTURE_ENDS:
            raise Refused(409, "CAPTURE_ALREADY_STOPPED")
        if self.state == "armed" and not self.watches:
            self.go("capturing")
        self.go("stopped")
        self.marks += 1

    def mark(self) -> None:
        """A goal or a step is marked."""
        self.need("capturing", "paused")
        self.marks += 1

    def trim(self) -> None:
        """The capture is cut at an event of its own."""
        if not self.events:
            raise Refused(400, "BOUNDARY_INVALID")
        self.need("capturing", "paused", "stopped", "reviewing")
        self.marks += 1

    def observe(self, shown: str, events: list[str]) -> None:
        """Events come in; the first that matters begins the capture."""
        self.need(*OBSERVING)
        if not self.watches:
            raise Refused(403, "FORBIDDEN")
        self.shown = self.shown or shown
        self.events += events
        if self.state == "armed":
            self.start()

    # ---- proposal ----

    def may_generate(self) -> None:
        """Refuses where nothing can be drafted."""
        self.need("stopped", "reviewing")
        if not self.events:
            raise Refused(400, "INSUFFICIENT_TRACES")

    def generated(self, proposal_id: str, content_hash: str, questions: list[str]) -> None:
        """A draft was made; where something was asked, its questions are open."""
        self.proposal_id, self.content_hash, self.questions = proposal_id, content_hash, questions
        self.go("reviewing", "awaiting_questions" if questions else "drafting_proposal")

    def may_answer(self, question_id: str) -> None:
        """Refuses answers where nothing is asked, or not that."""
        self.need("awaiting_questions")
        if question_id not in self.questions:
            raise Refused(404, "QUESTION_NOT_FOUND")

    def answered(self, question_id: str, content_hash: str) -> None:
        """An answer was kept; the last one leads to the draft."""
        self.questions.remove(question_id)
        if not self.questions:
            self.go("drafting_proposal")
        self._content(content_hash)

    def may_revise(self) -> None:
        """Refuses where there is nothing to revise."""
        if self.state == "testing_proposal":
            raise Refused(409, "VALIDATION_IN_PROGRESS")
        self.need("drafting_proposal", "ready_for_review", "quarantined")

    def revised(self, content_hash: str, *, spoiled: bool) -> None:
        """The draft was made again; its proofs stand only if it came out the same."""
        self._content(content_hash)
        self.spoiled = spoiled
        if self.state != "drafting_proposal":
            self.go("drafting_proposal")

    def validate(self, selected: tuple[str, ...]) -> None:
        """A run begins."""
        if self.state == "testing_proposal":
            raise Refused(409, "VALIDATION_IN_PROGRESS")
        self.need("drafting_proposal", "ready_for_review")
        if self.spoiled and selected != ("lint",):
            raise Refused(400, "CHECKPOINT_LINT_FAILED")
        if self.state == "ready_for_review":
            self.go("drafting_proposal")
        self.go("testing_proposal")

    def never_ends(self, selected: tuple[str, ...]) -> bool:
        """Whether a run of these checks lasts longer than anybody will wait."""
        return self.shown == "slow" and "rehearsal" in (selected or LADDER)

    def run_ended(self, selected: tuple[str, ...]) -> None:
        """The run's result decides."""
        checks = set(selected or LADDER)
        if "rehearsal" in checks and self.shown == "unsafe":
            self.go("quarantined")
            return
        failed = {"lint"} & checks if self.spoiled else set[str]()
        if self.shown == "failing":
            failed |= {"rehearsal"} & checks
        self.passed = (self.passed - checks) | (checks - failed)
        self.go("ready_for_review" if not failed and self.proven else "drafting_proposal")

    def install_privately(self) -> None:
        """Into the owner's own lane."""
        self._need_proof("ready_for_review")
        self.go("installing_private", "installed_private")

    def approve(self) -> None:
        """Into the workspace's lane."""
        self._need_proof("ready_for_review", "installed_private")
        self.go("approved")

    def reject(self) -> None:
        """Turned down, for good."""
        self.need("ready_for_review")
        self.go("rejected")

    def cancel(self) -> None:
        """Given up, wherever the table leads to cancelled."""
        self.go("cancelled")

    def delete(self) -> None:
        """What was seen is forgotten, at rest or before there is a draft."""
        if self.state in BEFORE_THE_DRAFT:
            self.cancel()
        elif not self.at_rest:
            raise Refused(*ILLEGAL)
        self.events.clear()

    def _need_proof(self, *states: str) -> None:
        if self.state == "testing_proposal":
            raise Refused(409, "VALIDATION_IN_PROGRESS")
        if self.state == "drafting_proposal":
            raise Refused(
                *((400, "CHECKPOINT_LINT_FAILED") if self.spoiled else (409, "VALIDATION_REQUIRED"))
            )
        self.need(*states)

    def _content(self, content_hash: str) -> None:
        if content_hash != self.content_hash:
            self.passed.clear()
        self.content_hash = content_hash


@dataclass
class ModelUser:
    """One person's sessions, oldest first, and what is installed for them."""

    sessions: list[ModelSession] = field(default_factory=list)
    lanes: dict[str, str] = field(default_factory=dict)
    """The lane of every installed ability, by its id."""

    @property
    def active(self) -> ModelSession | None:
        """The session that holds the slot."""
        return next((session for session in self.sessions if not session.at_rest), None)

    def may_create(self) -> None:
        """Refuses a second active session."""
        if self.active is not None:
            raise Refused(409, "LEARN_SESSION_ALREADY_ACTIVE")
