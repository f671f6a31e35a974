"""The demo's lesson: a small piece of office work, and every step a person would take through the public API."""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from cli.abilities.trial_commands import trial_view
from cli.learning.progress import Progress, newest_saga_id, wait_for_validation
from cli.learning.views import question_view, saga_view
from cli.platform.folders import packed, unpacked
from cli.platform.output import facts
from cli.platform.run_state import RunState
from cli.platform.story import Step, Story
from clients.apprentice.abilities import TrialApi
from clients.apprentice.api import ApprenticeApi
from clients.apprentice.transport import ApiFailure
from contracts.abilities.lookup import AbilityLookupQuery
from contracts.learning.create_session import CreateLearnSessionRequest
from contracts.learning.requests import (
    AnswerQuestionsRequest,
    ApproveProposalRequest,
    GenerateProposalRequest,
    MarkGoalRequest,
    StartValidationRunRequest,
    SubmittedAnswer,
)
from contracts.learning.session import BuildPolicy, LearningEntryMode, LearnSessionState, ObservationMode
from contracts.learning.trials import (
    StartTrialRequest,
    TrialState,
)
from contracts.learning.validation import OverallResult
from contracts.workflow_ids import install_saga_id, learn_session_id, validation_run_id
from recorders.delivery import IngestTarget
from recorders.terminal.recording import TerminalRecorderOptions, run_scripted

_LOOK_EVERY_SECONDS = 0.2

GOAL = "Summarise the sales by region and pack them with a checksum"

LOOKUPS = ("summarise sales by region", "give me a packed sales summary with its checksum")
"""What somebody who never saw the demonstration might ask for; the first is the one that must be found."""

MISTYPED = "sotr"
"""The slip in the demonstration, which must not become part of the ability."""

SHOWN, OTHER = "sales-q3.csv", "sales-q4.csv"
"""The files of the demonstration and of the trial."""

_SALES = {
    SHOWN: "region,amount\nnorth,120\nsouth,80\nnorth,60\neast,40\nsouth,15\n",
    OTHER: "region,amount\nwest,75\nnorth,20\nwest,110\neast,90\n",
}
SUMMARY = "sales-report/summary.csv"
EXPECTED = "west,185\neast,90\nnorth,20\n"
"""What the ability must make of the other file."""


def place_sales(folder: Path, name: str) -> None:
    """Puts a sales file into a folder: what is there before the work begins."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(_SALES[name], encoding="utf-8")


def demonstrated_commands() -> tuple[str, ...]:
    """The commands in order; one is mistyped and two only look around: the ability must be free of them."""
    checksum = checksum_program()
    return (
        "ls",
        "mkdir -p sales-report",
        f"{MISTYPED} {SHOWN}",
        "awk -F, 'NR > 1 { sum[$1] += $2 } END { for (r in sum) print r \",\" sum[r] }' "
        f"{SHOWN} | sort -t, -k2,2nr > {SUMMARY}",
        f"cat {SUMMARY}",
        "tar -czf sales-report.tar.gz sales-report",
        f"{checksum} sales-report.tar.gz > sales-report.tar.gz.sha256",
        f"{checksum} -c sales-report.tar.gz.sha256",
    )


def checksum_program(programs: Sequence[str] = ("sha256sum", "shasum")) -> str:
    """The checksum command of this machine: Linux has ``sha256sum``, macOS has ``shasum``."""
    found = next((name for name in programs if shutil.which(name)), "sha256sum")
    return "shasum -a 256" if found == "shasum" else found


class LessonFailed(Exception):
    """A step of the lesson did not bring what it had to bring; the text says what, and why."""


class Lesson:
    """One session from its creation to an ability that is found by what somebody says."""

    def __init__(self, api: ApprenticeApi, story: Story, folder: Path, state: RunState) -> None:
        self._api = api
        self._story = story
        self._folder = folder
        self._state = state
        self._session_id = ""
        self._proposal_id = ""
        self._ability_id = ""
        self._workflows: dict[str, str] = {}

    def teach(self) -> dict[str, object]:
        """Take every step; returns what the story ends with.

        Raises:
            ApiFailure: the service refused a step or cannot be reached.
            LessonFailed: a step was taken and did not bring what it had to.
        """
        self._create()
        self._demonstrate()
        self._end_capture()
        self._propose()
        self._validate()
        self._approve()
        skill_path = self._read_skill()
        self._look_up()
        self._try_elsewhere()
        links = self._links()
        return {
            "session_id": self._session_id,
            "proposal_id": self._proposal_id,
            "ability_id": self._ability_id,
            "skill_path": skill_path,
            "temporal_ui": links,
        }

    def _create(self) -> None:
        with self._story.step("Begin a session that may watch the terminal, and nothing else") as step:
            request = CreateLearnSessionRequest(
                entry_mode=LearningEntryMode.DEMONSTRATING_SKILL,
                observation_mode=ObservationMode.OUTSIDE_AGENT,
                build_policy=BuildPolicy.ASK_BEFORE_BUILD,
                target_app_whitelist=("terminal",),
            )
            session = self._api.learn.create_session(request).session
            self._session_id = session.learn_session_id
            self._workflows["session"] = learn_session_id(session.learn_session_id)
            step.say(f"session {session.learn_session_id} is {session.state.value}")
            step.facts["session_id"] = session.learn_session_id

    def _demonstrate(self) -> None:
        commands = demonstrated_commands()
        with self._story.step(f"Show the task: {len(commands)} commands in a real bash") as step:
            place_sales(self._folder, SHOWN)
            options = TerminalRecorderOptions(
                learn_session_id=self._session_id,
                target=IngestTarget(self._state.api_url, self._state.admin_token),
                spool_folder=self._state.data_dir / "spool",
                folder=self._folder,
            )
            summary = run_scripted(options, commands)
            step.lines.extend(Text(f"    $ {command}", style="dim") for command in commands)
            step.say(summary.text())
            step.facts.update(commands=list(commands), recorded=summary.recorded)
            if not summary.complete:
                raise LessonFailed(f"the demonstration did not arrive whole: {summary.text()}")

    def _end_capture(self) -> None:
        with self._story.step("Say what it is for, and end the capture") as step:
            self._api.learn.mark_goal(self._session_id, MarkGoalRequest(goal_description=GOAL))
            stopped = self._api.learn.stop(self._session_id)
            if not stopped.captured_event_count:
                raise LessonFailed("nothing of the demonstration arrived; the recorder saw no command")
            step.say(f"[italic]“{GOAL}”[/]")
            step.say(f"{stopped.captured_event_count} actions captured")
            step.facts["captured"] = stopped.captured_event_count

    def _propose(self) -> None:
        with self._story.step("Draft a proposal from what was seen") as step:
            request = GenerateProposalRequest(ask_before_build=True)
            drafted = self._api.learn.generate_proposal(self._session_id, request)
            self._proposal_id = drafted.proposal_id
            step.say(f"proposal {drafted.proposal_id}; the session is {drafted.session.state.value}")
            step.facts["proposal_id"] = drafted.proposal_id
        if drafted.session.state is LearnSessionState.AWAITING_QUESTIONS:
            self._answer()
        self._show_meaning()

    def _answer(self) -> None:
        with self._story.step("Answer what the demonstration could not tell") as step:
            asked = [one for one in self._api.learn.proposal(self._proposal_id).questions if not one.answered]
            for number, one in enumerate(asked, 1):
                step.show(question_view(number, one, with_id=False), indent=2)
            answers = tuple(
                SubmittedAnswer(question_id=one.question_id, answer_text=one.suggestion or GOAL)
                for one in asked
            )
            request = AnswerQuestionsRequest(answers=answers)
            left = self._api.learn.answer_questions(self._session_id, request).remaining_questions
            step.say(f"{len(answers)} answered as suggested, {left} left")
            step.facts["questions"] = [one.question_text for one in asked]

    def _show_meaning(self) -> None:
        with self._story.step("Read what was understood") as step:
            detail = self._api.learn.proposal(self._proposal_id)
            meaning = detail.interpretation
            if meaning is None:
                raise LessonFailed(f"proposal {self._proposal_id} has no interpretation")
            phrases = " · ".join(detail.proposal.trigger_phrases[:3])
            about = (
                ("title", detail.proposal.title),
                ("goal", meaning.goal_summary),
                ("said as", phrases),
            )
            step.show(facts(about), indent=2)
            for checkpoint in meaning.checkpoints:
                step.say(f"[dim]{checkpoint.checkpoint_id}[/] {escape(checkpoint.success_condition)}")
            self._expect_no_slips()
            step.say("[dim]The mistyped command left no trace in any drafted file.[/]")
            step.facts.update(title=detail.proposal.title, content_hash=detail.proposal.content_hash)

    def _expect_no_slips(self) -> None:
        for file in self._api.learn.proposal_files(self._proposal_id).files:
            if MISTYPED in file.content:
                raise LessonFailed(f"the slip {MISTYPED!r} made it into {file.path}")

    def _validate(self) -> None:
        with self._story.step(
            "Prove it: lint, triggers, dry run, dependencies, and a rehearsal", takes_long=True
        ) as step:
            request = StartValidationRunRequest(run_label="demo")
            run = self._api.learn.validate(self._proposal_id, request).validation_run
            self._workflows["validation"] = validation_run_id(run.validation_run_id)
            run, _ = wait_for_validation(
                self._api.learn, self._proposal_id, run.validation_run_id, _PictureOf(step)
            )
            step.facts.update(validation_run_id=run.validation_run_id, result=run.overall_result.value)
            if run.overall_result is not OverallResult.PASSED:
                raise LessonFailed(f"the validation {run.overall_result.value}; its steps are above")

    def _approve(self) -> None:
        with self._story.step("Approve it: the install saga puts it into the workspace") as step:
            try:
                self._api.learn.approve(self._proposal_id, ApproveProposalRequest(approval_note="demo"))
            finally:
                saga_id = newest_saga_id(self._api.learn, self._session_id)
                if saga_id is not None:
                    self._workflows["install"] = install_saga_id(saga_id)
                    step.show(saga_view(self._api.learn.saga(saga_id)))
            session = self._api.learn.session(self._session_id)
            if session.state is not LearnSessionState.APPROVED or session.ability_id is None:
                raise LessonFailed(f"after the approval the session is {session.state.value}")
            self._ability_id = session.ability_id
            step.facts.update(ability_id=session.ability_id, saga_id=saga_id)

    def _read_skill(self) -> str:
        with self._story.step("Read the skill as the agent finds it") as step:
            detail = self._api.abilities.ability(self._ability_id)
            path = self._state.workspace / (detail.skill_path or "")
            if not path.is_file():
                raise LessonFailed(f"ability {self._ability_id} has no SKILL.md at {path}")
            step.say(escape(str(path)))
            step.say("")
            step.show(Text(path.read_text(encoding="utf-8").rstrip("\n")), indent=6)
            step.facts["skill_path"] = str(path)
        return str(path)

    def _look_up(self) -> None:
        with self._story.step("Find it again by what somebody might say") as step:
            scores: dict[str, float] = {}
            for words in LOOKUPS:
                matches = self._api.abilities.lookup(AbilityLookupQuery(user_query=words)).matches
                found = next((one for one in matches if one.ability_id == self._ability_id), None)
                scores[words] = found.score if found else 0.0
                verdict = f"{found.ability_id}, score {found.score:.2f}" if found else "not found"
                step.say(f"“{words}” → {verdict}")
            step.facts["lookups"] = scores
            if not scores[LOOKUPS[0]]:
                raise LessonFailed(f"nothing was found for “{LOOKUPS[0]}”")

    def _try_elsewhere(self) -> None:
        with self._story.step("Try it on the sales of another quarter", takes_long=True) as step:
            folder, out = self._folder.with_name("other-quarter"), self._folder.with_name("tried")
            place_sales(folder, OTHER)
            shown = self._api.abilities.ability(self._ability_id).parameters
            values = {one.name: OTHER for one in shown if one.shown == SHOWN}
            trials = TrialApi(self._api.http)
            kept = trials.hand_in(packed({".": folder}))
            run = trials.start(self._ability_id, StartTrialRequest(folder_ref=kept.folder_ref, values=values))
            while run.state is TrialState.RUNNING:
                time.sleep(_LOOK_EVERY_SECONDS)
                run = trials.trial(run.trial_id)
            if run.result_digest is not None:
                unpacked(trials.result(run.trial_id), {".": folder}, out)
            step.show(trial_view(run, out), indent=2)
            step.facts.update(trial_id=run.trial_id, values=values, trial=run.state.value)
            made = (out / SUMMARY).read_text(encoding="utf-8") if (out / SUMMARY).is_file() else ""
            if run.state is not TrialState.PASSED or made != EXPECTED:
                raise LessonFailed(f"the trial {run.state.value}, and {SUMMARY} is {made!r}")

    def _links(self) -> dict[str, str]:
        """The workflows behind the lesson, as deep links into the Temporal UI."""
        links: dict[str, str] = {}
        for name, workflow_id in self._workflows.items():
            try:
                url = self._api.workflow_link(workflow_id).temporal_ui_url
            except ApiFailure:
                url = None
            if url:
                links[name] = url
        if links:
            self._story.say(
                Text.from_markup(
                    "\nThe same story in the Temporal UI, while it runs ([cyan]apprentice demo --keep[/] keeps it up):"
                )
            )
            self._story.say(*(Text(f"  {name:11} {url}") for name, url in links.items()))
        return links


class _PictureOf(Progress):
    """Draws a run into a step of the story."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self._step = step

    def draw(self, picture: RenderableType, doing: str | None = None) -> None:
        """Show ``picture`` under the step."""
        self._step.draw(Group(picture), doing)
