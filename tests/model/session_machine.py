"""Sessions driven at random: any command in any state, with the model saying what must come of it."""

from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

from contracts.abilities.lookup import ROUTE_FROM_SCORE
from tests.model.choices import changed, leads_on, may_change
from tests.model.driver import KINDS, NOBODY, Driver, Sent, goal_number, shown, shown_after
from tests.model.reference import ModelSession, ModelUser
from tests.model.teller import Teller, repeats

SELECTIONS = ((), ("lint",), ("lint", "trigger"), ("trigger", "dry_run", "dependency_check", "rehearsal"))
GOOD_CHECKPOINT = "The file a.txt exists and is not empty"
SPOILED_CHECKPOINT = "div-8472"

ENDINGS = ("cancel", "delete", "reject")
"""Commands that end a session: given less often, or no session would come far."""

Command = Callable[[ModelSession, Random], None]

goals = count(1)


class SessionMachine(Teller):
    """One user of the application, and the same user in the model."""

    def __init__(self, driver: Driver) -> None:
        super().__init__(driver)
        self.model = ModelUser()
        self.commands: dict[str, Command] = {
            "start": self.act(ModelSession.start),
            "pause": self.act(ModelSession.pause),
            "resume": self.act(ModelSession.resume),
            "stop": self.act(ModelSession.stop),
            "cancel": self.act(ModelSession.cancel),
            "mark-step": self.act(ModelSession.mark, lambda _: {"step_label": "Another step"}),
            "mark-goal": self.act(ModelSession.mark, lambda session: {"goal_description": session.goal}),
            "trim": self.act(ModelSession.trim, body_of_trim),
            "observe": self.observe,
            "generate-proposal": self.generate,
            "answer-questions": self.answer,
            "validate": self.validate,
            "install": self.install,
            "approve": self.approve,
            "reject": self.reject,
            "revise": self.revise,
            "delete": self.delete,
        }

    # ---- steps ----

    def step(self, rng: Random) -> None:
        """One step of any kind; what must hold after it."""
        steps = [self.advance, self.command, self.create, self.send_again, self.use_a_key_again]
        (chosen,) = rng.choices(steps, weights=[9, 7, 1, 1, 1]) if self.log else [self.create]
        chosen(rng)
        self.compare()

    def create(self, rng: Random) -> None:
        """A new session, allowed or not."""
        self.create_one(watches=rng.random() < 0.9)

    def command(self, rng: Random) -> None:
        """Any command to any session."""
        weights = [1 if name in ENDINGS else 3 for name in self.commands]
        (name,) = rng.choices(list(self.commands), weights)
        session = rng.choice([self.model.sessions[-1], rng.choice(self.model.sessions)])
        self.commands[name](session, rng)

    def advance(self, rng: Random) -> None:
        """A command that leads on, so that the far states are reached too."""
        resting = [session for session in self.model.sessions if session.state == "installed_private"]
        session = self.model.active or (rng.choice(resting) if resting and rng.random() < 0.5 else None)
        if session is None:
            self.create_one(watches=True)
        else:
            self.commands[rng.choice(leads_on(session))](session, rng)

    def send_again(self, rng: Random) -> None:
        """A request that was answered before is answered the same, whatever has happened since."""
        sent, answer = rng.choice(self.log)
        again = self.driver.send(sent)
        assert again.is_success, again.text
        assert again.json() == answer, (sent, again.text, answer)

    def use_a_key_again(self, rng: Random) -> None:
        """A key stands for one request."""
        posted = [sent for sent, _ in self.log if may_change(sent)]
        sent = rng.choice(posted)
        other = self.driver.send(Sent("POST", sent.path, changed(sent), sent.key))
        code = other.json().get("error", {}).get("code")
        assert (other.status_code, code) == (422, "IDEMPOTENCY_KEY_REUSED"), (sent, other.text)

    # ---- what must hold after every step ----

    def compare(self) -> None:
        """Same sessions in the same states, at most one of them active, the same abilities."""
        expected = {session.session_id: session.state for session in self.model.sessions}
        states = self.driver.states()
        assert states == expected, (states, expected)
        assert sum(not session.at_rest for session in self.model.sessions) <= 1
        lanes = self.driver.lanes()
        assert lanes == self.model.lanes, (lanes, self.model.lanes)

    def finish(self) -> None:
        """What must hold in the end; what would run on is ended."""
        for session in self.model.sessions:
            marks = self.driver.marks(session.session_id)
            assert marks == session.marks, (marks, session)
            routed = [m for m in self.driver.lookup(session.goal) if m["score"] >= ROUTE_FROM_SCORE]
            installed = session.state in ("approved", "installed_private")
            assert bool(routed) == installed, (session, routed)
        unproven = self.driver.unproven()
        assert unproven == []
        assert self.driver.snapshot_is_the_store()
        active = self.model.active
        if active is not None and active.state == "testing_proposal":
            self.tell(active, self.post(active, "cancel"), active.cancel)

    # ---- commands ----

    def create_one(self, *, watches: bool) -> None:
        """A new session; where there is an active one, its refusal."""
        body = {
            "entry_mode": "demonstrating_skill" if watches else "import_skill",
            "observation_mode": "outside_agent" if watches else "none",
        }

        def created(answer: dict[str, Any]) -> None:
            session_id = answer["session"]["learn_session_id"]
            self.model.sessions.append(ModelSession(session_id, goal_number(next(goals)), watches))

        self.tell(
            self.model.active,
            self.request("POST", "/api/learn/sessions", body),
            self.model.may_create,
            created,
        )

    def act(
        self, decide: Callable[[ModelSession], None], body: Callable[[ModelSession], Any] = lambda _: None
    ) -> Command:
        """A command to a session whose outcome the model knows."""
        name = {ModelSession.mark: "", ModelSession.trim: "trim"}.get(decide, decide.__name__)

        def command(session: ModelSession, rng: Random) -> None:
            content = body(session)
            action = name or ("mark-step" if "step_label" in content else "mark-goal")
            self.tell(
                session, self.post(session, action, content), lambda: decide(session), repeats=repeats(rng)
            )

        return command

    def observe(self, session: ModelSession, rng: Random) -> None:
        """Something is shown, also where nothing is watched; the first time with the goal of it."""
        kind = session.shown or rng.choice([*["good"] * 5, *KINDS])
        first = session.shown is None
        actions = shown(kind, session.goal) if first else shown_after(session.goal)
        events = self.driver.events(session.session_id, actions)
        ids = [event["event_id"] for event in events]
        path = f"/api/learn/sessions/{session.session_id}/observations"
        sent = self.request("POST", path, {"events": events})
        self.tell(session, sent, lambda: session.observe(kind, ids), logged=False)
        if first and session.shown:
            self.commands["mark-goal"](session, rng)

    def generate(self, session: ModelSession, rng: Random) -> None:
        """A draft, with or without questions first."""
        body = {"ask_before_build": rng.random() < 0.3}

        def generated(answer: dict[str, Any]) -> None:
            detail = self.detail(answer["proposal_id"])
            asks = answer["session"]["state"] == "awaiting_questions"
            questions = [q["question_id"] for q in detail["questions"]] if asks else []
            assert bool(questions) == asks
            assert len(questions) <= 5
            assert asks <= body["ask_before_build"]
            session.generated(answer["proposal_id"], detail["proposal"]["content_hash"], questions)

        self.tell(
            session,
            self.post(session, "generate-proposal", body),
            session.may_generate,
            generated,
            repeats=repeats(rng),
        )

    def answer(self, session: ModelSession, rng: Random) -> None:
        """An answer to a question, or to none."""
        question_id = rng.choice([*session.questions[:1] * 3, NOBODY])
        body = {"answers": [{"question_id": question_id, "answer_text": "As it was shown"}]}

        def answered(answer: dict[str, Any]) -> None:
            content = self.detail(session.proposal_id)["proposal"]["content_hash"]
            session.answered(question_id, content)
            assert answer["remaining_questions"] == len(session.questions)

        sent = self.post(session, "answer-questions", body)
        self.tell(session, sent, lambda: session.may_answer(question_id), answered, repeats=repeats(rng))

    def validate(self, session: ModelSession, rng: Random) -> None:
        """A run of checks, and its end where it has one."""
        selected = rng.choice([*[()] * 5, *SELECTIONS])
        body = {"selected_tests": list(selected)}
        begun = self.tell_proposal(session, "validate", body, lambda: session.validate(selected), rng)
        if begun and not session.never_ends(selected):
            self.driver.settle(session.session_id)
            session.run_ended(selected)
            now = self.driver.states()[session.session_id]
            assert now == session.state, (now, session, self.driver.failed_steps(session.proposal_id))

    def install(self, session: ModelSession, rng: Random) -> None:
        """Into the private lane."""

        def installed(answer: dict[str, Any]) -> None:
            self.model.lanes[answer["ability_id"]] = "experimental_private"

        body = {"install_lane": "experimental_private"}
        self.tell_proposal(session, "install", body, session.install_privately, rng, installed)

    def approve(self, session: ModelSession, rng: Random) -> None:
        """Into the workspace's lane."""

        def approved(answer: dict[str, Any]) -> None:
            self.model.lanes[answer["proposal"]["ability_id"]] = "approved_workspace"

        self.tell_proposal(session, "approve", None, session.approve, rng, approved)

    def reject(self, session: ModelSession, rng: Random) -> None:
        """Turned down."""
        self.tell_proposal(session, "reject", {"reason": "not what was meant"}, session.reject, rng)

    def revise(self, session: ModelSession, rng: Random) -> None:
        """Nothing edited, a checkpoint spoiled, or one mended."""
        conditions = {"same": None, "mended": GOOD_CHECKPOINT, "spoiled": SPOILED_CHECKPOINT}
        how = "mended" if session.spoiled else rng.choice(["same", "same", *conditions])
        condition = conditions[how]
        checkpoint = {
            "checkpoint_id": "cp-01",
            "goal": "It is done",
            "success_condition": condition,
            "order_hint": 1,
        }
        edits = {"checkpoints": [checkpoint]} if condition else {}
        body = {"revision_instructions": "as edited", "edited_fields": edits}

        def revised(answer: dict[str, Any]) -> None:
            session.revised(answer["proposal"]["content_hash"], spoiled=how == "spoiled")
            assert answer["checkpoint_lint_report"]["passed"] is not session.spoiled

        self.tell_proposal(session, "revise", body, session.may_revise, rng, revised)

    def delete(self, session: ModelSession, rng: Random) -> None:
        """What was seen is forgotten."""
        sent = self.request("DELETE", f"/api/learn/sessions/{session.session_id}", None)
        self.tell(session, sent, session.delete, repeats=repeats(rng))


def body_of_trim(session: ModelSession) -> Any:
    """Cuts at the first event, which takes nothing away; without events at one that there is not."""
    return {"trim_kind": "trim_start", "to_event_id": session.events[0] if session.events else NOBODY}
