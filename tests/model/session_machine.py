"""Sessions driven at random: every command in every state, with the model saying what must come of it."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from uuid import uuid4

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from contracts.abilities.lookup import ROUTE_FROM_SCORE
from tests.model.driver import MORE, SHOWN, Driver, Sent, goal_number
from tests.model.reference import ModelSession, ModelUser, Refused

NOBODY = "01936f5e-0000-7000-8000-00000000ffff"
SELECTIONS = ((), ("lint",), ("lint", "trigger"), ("trigger", "dry_run", "dependency_check", "rehearsal"))
GOOD_CHECKPOINT = "The file a.txt exists and is not empty"
SPOILED_CHECKPOINT = "div-8472"

Command = Callable[[ModelSession, st.DataObject], None]

goals = count(1)


class SessionMachine(RuleBasedStateMachine):
    """One user of the application, and the same user in the model."""

    def __init__(self, driver: Driver) -> None:
        super().__init__()
        self.driver = driver
        self.model = ModelUser()
        self.log: list[tuple[Sent, Any]] = []
        self.commands: dict[str, Command] = {
            "start": self.act(ModelSession.start),
            "pause": self.act(ModelSession.pause),
            "resume": self.act(ModelSession.resume),
            "stop": self.act(ModelSession.stop),
            "cancel": self.act(ModelSession.cancel),
            "mark-step": self.act(ModelSession.mark, lambda _: {"step_label": "Another step"}),
            "mark-goal": self.act(ModelSession.mark, lambda session: {"goal_description": session.goal}),
            "trim": self.act(ModelSession.trim, trim_at_the_first_event),
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

    # ---- rules ----

    @rule(data=st.data(), watches=st.booleans() | st.just(True))
    def create(self, data: st.DataObject, watches: bool) -> None:
        """A new session, allowed or not."""
        self.create_one(data, watches)

    @precondition(lambda self: self.model.sessions)
    @rule(data=st.data())
    def command(self, data: st.DataObject) -> None:
        """Any command to any session."""
        name = data.draw(st.sampled_from(sorted(self.commands)), label="command")
        newest = st.just(self.model.sessions[-1])
        session = data.draw(newest | st.sampled_from(self.model.sessions), label="session")
        self.commands[name](session, data)

    @rule(data=st.data())
    def advance(self, data: st.DataObject) -> None:
        """A command that leads on, so that the far states are reached too."""
        session = self.model.active
        if session is None:
            self.create_one(data, watches=True)
        else:
            names = data.draw(st.sampled_from(leads_on(session)), label="leads on by")
            for name in names.split():
                self.commands[name](session, data)

    @precondition(lambda self: self.log)
    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        """A request that was answered before is answered the same, whatever has happened since."""
        sent, answer = data.draw(st.sampled_from(self.log), label="again")
        again = self.driver.send(sent)
        assert again.is_success, again.text
        assert again.json() == answer

    @precondition(lambda self: any(sent.method == "POST" for sent, _ in self.log))
    @rule(data=st.data())
    def use_a_key_again(self, data: st.DataObject) -> None:
        """A key stands for one request."""
        sent, _ = data.draw(st.sampled_from([one for one in self.log if one[0].method == "POST"]))
        other = self.driver.send(Sent("POST", sent.path, changed(sent), sent.key))
        assert (other.status_code, other.json()["error"]["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")

    # ---- what must hold after every step ----

    @invariant()
    def the_application_agrees_with_the_model(self) -> None:
        """Same sessions in the same states, at most one of them active, the same abilities."""
        expected = {session.session_id: session.state for session in self.model.sessions}
        assert self.driver.states() == expected
        assert sum(not session.at_rest for session in self.model.sessions) <= 1
        assert self.driver.lanes() == self.model.lanes

    def teardown(self) -> None:
        """What must hold in the end; what would run on is ended."""
        for session in self.model.sessions:
            assert self.driver.marks(session.session_id) == session.marks
            routed = [m for m in self.driver.lookup(session.goal) if m["score"] >= ROUTE_FROM_SCORE]
            installed = session.state in ("approved", "installed_private")
            assert bool(routed) == installed, (session, routed)
        assert self.driver.unproven() == []
        assert self.driver.snapshot_is_the_store()
        active = self.model.active
        if active is not None and active.state == "testing_proposal":
            self.tell(active, self.post(active, "cancel"), active.cancel)

    # ---- commands ----

    def create_one(self, data: st.DataObject, watches: bool) -> None:
        """A new session; where there is an active one, its refusal."""
        body = {
            "entry_mode": "demonstrating_skill" if watches else "import_skill",
            "observation_mode": "outside_agent" if watches else "none",
        }

        def created(answer: dict[str, Any]) -> None:
            session_id = answer["session"]["learn_session_id"]
            self.model.sessions.append(ModelSession(session_id, goal_number(next(goals)), watches))

        self.tell(self.model.active, self.request("POST", "/api/learn/sessions", body), self.model.may_create, created)

    def act(
        self, decide: Callable[[ModelSession], None], body: Callable[[ModelSession], Any] = lambda _: None
    ) -> Command:
        """A command to a session whose outcome the model knows."""
        name = {ModelSession.mark: "", ModelSession.trim: "trim"}.get(decide, decide.__name__)

        def command(session: ModelSession, data: st.DataObject) -> None:
            content = body(session)
            action = name or ("mark-step" if "step_label" in content else "mark-goal")
            self.tell(
                session, self.post(session, action, content), lambda: decide(session), repeats=repeats(data)
            )

        return command

    def observe(self, session: ModelSession, data: st.DataObject) -> None:
        """Something is shown; the first time with the goal of it."""
        kind = session.shown or data.draw(st.sampled_from(["good", *SHOWN]), label="shown")
        first = session.shown is None
        events = self.driver.events(session.session_id, SHOWN[kind] if first else MORE)
        ids = [event["event_id"] for event in events]
        path = f"/api/learn/sessions/{session.session_id}/observations"
        sent = self.request("POST", path, {"events": events})
        self.tell(session, sent, lambda: session.observe(kind, ids), logged=False)
        if first and session.shown:
            self.commands["mark-goal"](session, data)

    def generate(self, session: ModelSession, data: st.DataObject) -> None:
        """A draft, with or without questions first."""
        body = {"ask_before_build": data.draw(st.booleans(), label="ask")}

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
            repeats=repeats(data),
        )

    def answer(self, session: ModelSession, data: st.DataObject) -> None:
        """An answer to a question, or to none."""
        question_id = data.draw(st.sampled_from([*session.questions[:1] * 3, NOBODY]), label="question")
        body = {"answers": [{"question_id": question_id, "answer_text": "As it was shown"}]}

        def answered(answer: dict[str, Any]) -> None:
            content = self.detail(session.proposal_id)["proposal"]["content_hash"]
            session.answered(question_id, content)
            assert answer["remaining_questions"] == len(session.questions)

        sent = self.post(session, "answer-questions", body)
        self.tell(session, sent, lambda: session.may_answer(question_id), answered, repeats=repeats(data))

    def validate(self, session: ModelSession, data: st.DataObject) -> None:
        """A run of checks, and its end where it has one."""
        selected = data.draw(st.sampled_from(SELECTIONS), label="selected")
        body = {"selected_tests": list(selected)}
        begun = self.tell_proposal(session, "validate", body, lambda: session.validate(selected), data)
        if begun and not session.never_ends(selected):
            self.driver.settle(session.session_id)
            session.run_ended(selected)

    def install(self, session: ModelSession, data: st.DataObject) -> None:
        """Into the private lane."""

        def installed(answer: dict[str, Any]) -> None:
            self.model.lanes[answer["ability_id"]] = "experimental_private"

        body = {"install_lane": "experimental_private"}
        self.tell_proposal(session, "install", body, session.install_privately, data, installed)

    def approve(self, session: ModelSession, data: st.DataObject) -> None:
        """Into the workspace's lane."""

        def approved(answer: dict[str, Any]) -> None:
            self.model.lanes[answer["proposal"]["ability_id"]] = "approved_workspace"

        self.tell_proposal(session, "approve", None, session.approve, data, approved)

    def reject(self, session: ModelSession, data: st.DataObject) -> None:
        """Turned down."""
        self.tell_proposal(session, "reject", {"reason": "not what was meant"}, session.reject, data)

    def revise(self, session: ModelSession, data: st.DataObject) -> None:
        """Nothing edited, a checkpoint spoiled, or one mended."""
        conditions = {"same": None, "mended": GOOD_CHECKPOINT, "spoiled": SPOILED_CHECKPOINT}
        how = "mended" if session.spoiled else data.draw(st.sampled_from(sorted(conditions)), label="revise")
        condition = conditions[how]
        checkpoint = {"checkpoint_id": "cp-01", "goal": "It is done", "success_condition": condition, "order_hint": 1}
        edits = {"checkpoints": [checkpoint]} if condition else {}
        body = {"revision_instructions": "as edited", "edited_fields": edits}

        def revised(answer: dict[str, Any]) -> None:
            session.revised(answer["proposal"]["content_hash"], spoiled=how == "spoiled")
            assert answer["checkpoint_lint_report"]["passed"] is not session.spoiled

        self.tell_proposal(session, "revise", body, session.may_revise, data, revised)

    def delete(self, session: ModelSession, data: st.DataObject) -> None:
        """What was seen is forgotten."""
        sent = self.request("DELETE", f"/api/learn/sessions/{session.session_id}", None)
        self.tell(session, sent, session.delete, repeats=repeats(data))

    # ---- telling ----

    def tell_proposal(
        self,
        session: ModelSession,
        action: str,
        body: Any,
        decide: Callable[[], None],
        data: st.DataObject,
        learn: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> bool:
        """A command to the session's proposal; there may be none yet."""
        sent = self.request("POST", f"/api/learn/proposals/{session.proposal_id or NOBODY}/{action}", body)
        if session.proposal_id is None:
            return self.tell(session, sent, no_proposal)
        return self.tell(session, sent, decide, learn, repeats=repeats(data))

    def tell(
        self,
        session: ModelSession | None,
        sent: Sent,
        decide: Callable[[], None],
        learn: Callable[[dict[str, Any]], None] = lambda _: None,
        *,
        repeats: int = 1,
        logged: bool = True,
    ) -> bool:
        """Asks model and application the same; they must say the same. Returns whether it was taken."""
        before = session.state if session else None
        refusal = refusal_of(decide)
        answer = self.driver.send(sent)
        if refusal is not None:
            error = answer.json().get("error", {})
            assert (answer.status_code, error.get("code")) == refusal, (sent, before, answer.text)
            assert error.get("current_state", before) == before
            return False
        assert answer.is_success, (sent, before, answer.text)
        learn(answer.json())
        if logged:
            for _ in range(repeats):
                assert self.driver.send(sent).json() == answer.json()
            self.log.append((sent, answer.json()))
        return True

    def post(self, session: ModelSession, action: str, body: Any = None) -> Sent:
        """A command to a session."""
        return self.request("POST", f"/api/learn/sessions/{session.session_id}/{action}", body)

    def request(self, method: str, path: str, body: Any) -> Sent:
        """A request under a new key."""
        return Sent(method, path, body, str(uuid4()))

    def detail(self, proposal_id: str | None) -> dict[str, Any]:
        """A proposal as its owner reads it."""
        found: dict[str, Any] = self.driver.get(f"/api/learn/proposals/{proposal_id}/detail")
        return found
