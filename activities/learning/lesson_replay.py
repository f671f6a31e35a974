"""Replays a session's first demonstration on its starting state and keeps what that proves."""

from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from temporalio import activity

from activities.platform.refusals import refusing
from contracts.base import clipped
from contracts.errors import Refusal
from contracts.generated_trees import GeneratedTrees
from contracts.learning.aggregate import DraftRequest
from contracts.learning.evidence import (
    CommandUse,
    LeftOutCommand,
    LessonEvidence,
    RepeatedCommand,
    UnrehearsedCommand,
)
from contracts.learning.observation import OUTSIDE_FOLDER, ExitClass, ObservedActionEvent
from contracts.learning.proposal import RehearsalCommand
from contracts.learning.session import LearnSession
from contracts.learning.starting_state import StartingState
from domain.learning.commands.typed_lines import typed_command, without_typed_lines
from domain.learning.comparison.demonstrations import CapturedPart, captured_parts
from domain.learning.comparison.given_inputs import given_inputs
from domain.learning.interpretation.hand_edits import replayed_line
from domain.learning.interpretation.interpretation import marked_goal
from domain.learning.interpretation.noise import failed_in_vain
from domain.learning.interpretation.obstacles import rehearsal_obstacle
from domain.learning.interpretation.slicing import parent_folders
from domain.learning.interpretation.steps import within_capture
from domain.learning.lesson_folders import lesson_folders
from domain.learning.proof.checks import asks_for_a_check
from domain.learning.starting_state import beginnings, extended_state, state_before
from host.sandbox.launch_order import SandboxUnavailable
from skills.rehearsal.evidence import EvidenceBounds, EvidenceFinder, Lesson
from skills.rehearsal.made_files import made_files
from skills.rehearsal.shell_session import Surroundings
from stores.learning.lesson_evidence import LessonEvidenceStore
from stores.learning.observations import ObservationLog
from stores.learning.proposals import ProposalReads
from stores.learning.starting_states import StartingStates

_GIVEN = "It made what is there already next time: an input of the task."


class LessonReplay:
    """An ordinary activity with heartbeats: it runs real commands for up to a minute."""

    def __init__(
        self,
        log: ObservationLog,
        states: StartingStates,
        evidence: LessonEvidenceStore,
        proposals: ProposalReads,
        rehearsal_root: Path,
        bounds: EvidenceBounds,
    ) -> None:
        """``rehearsal_root`` is where the sandboxes' temporary folders are made."""
        self._log = log
        self._states = states
        self._evidence = evidence
        self._proposals = proposals
        self._root = rehearsal_root
        self._bounds = bounds

    @activity.defn(no_thread_cancel_exception=True)
    @refusing
    def replay_lesson(self, session: LearnSession) -> None:
        """Finds and keeps the evidence; without a starting state, or a sandbox on this host, there is none."""
        shown = self._shown(session)
        if shown is None:
            return
        try:
            found, needed = self._found(shown)
        except SandboxUnavailable as unavailable:
            activity.logger.warning("the lesson was not replayed", extra={"reason": str(unavailable)})
            return
        self._keep(shown, found, needed)

    @activity.defn(no_thread_cancel_exception=True)
    @refusing
    def replay_answered(self, request: DraftRequest) -> None:
        """Finds the evidence anew where an answer says that a file is there already which the lesson had made.

        The evidence that there is stays where the work cannot be repeated so, with why.
        """
        session_id = request.session.learn_session_id
        given = given_inputs(self._proposals.answers_to(request))
        earlier = self._evidence.of_session(session_id) if given else None
        if earlier is None or given.isdisjoint(use.event_id for use in earlier.uses):
            return
        try:
            self._replay_with(given, request.session, earlier)
        except (_NotFollowed, SandboxUnavailable, Refusal) as reason:
            activity.logger.warning("an answer was not followed", extra={"reason": str(reason)})
            self._evidence.put(session_id, earlier.changed(inputs_note=clipped(str(reason), 240)))

    def _replay_with(self, given: frozenset[str], session: LearnSession, earlier: LessonEvidence) -> None:
        """Keeps what a replay proves that begins with the files that the ``given`` commands made.

        Raises:
            _NotFollowed: the work is not the same then.
            SandboxUnavailable: this host cannot isolate commands, so nothing was run.
            Refusal: ``PAYLOAD_TOO_LARGE`` when the session has as many states as it may, ``NOT_FOUND`` when its
                starting state has gone.
        """
        shown = self._shown(session)
        if shown is None:
            raise _NotFollowed("the starting state of the lesson is no longer kept")
        work = self._beginning_with(shown, given, earlier)
        found, needed = self._found(work)
        if shown.cancelled.is_set():
            return
        if not found.reproduced:
            raise _NotFollowed(found.note)
        if other := _working_otherwise(shown, work, earlier, found):
            raise _NotFollowed(f"“{clipped(other, 40)}” does something else then")
        self._states.keep_extended(shown.state.state_id, work.state, work.contents)
        made = tuple(LeftOutCommand(event_id=one, reason=_GIVEN) for one in sorted(given))
        self._keep(work, found.changed(left_out=(*made, *found.left_out)), needed)

    def _shown(self, session: LearnSession) -> "_Shown | None":
        """The first demonstration with the state it began from, if that is kept."""
        events = self._log.all_of(session.learn_session_id)
        boundaries = self._log.boundaries_of(session.learn_session_id)
        parts = [part for part in captured_parts(events, boundaries) if _commands(part)]
        state = state_before(
            self._states.of_session(session.learn_session_id), parts[0].events if parts else ()
        )
        if state is None:
            return None
        progress, cancelled = replay_progress()
        return _Shown(
            state=state,
            commands=tuple(_commands(parts[0])),
            goal=marked_goal(boundaries),
            is_only_one=len(parts) == 1,
            progress=progress,
            cancelled=cancelled,
        )

    def _found(self, shown: "_Shown") -> tuple[LessonEvidence, frozenset[str] | None]:
        """The evidence, without lines typed in vain, and the files of the starting state that suffice for it."""
        found, needed = self._evidence_of(shown)
        if failed := typed_in_vain(shown.commands, found.uses):
            again = tuple(failed.get(event.event_id, event) for event in shown.commands)
            found, needed = self._evidence_of(replace(shown, commands=again))
            found = found.changed(repeated_as=(*found.repeated_as, *map(_as_it_is, failed.values())))
        return found, needed

    def _evidence_of(self, shown: "_Shown") -> tuple[LessonEvidence, frozenset[str] | None]:
        obstacles = [(event, _obstacle(event)) for event in shown.commands]
        lesson = self._lesson(shown, [event for event, obstacle in obstacles if obstacle is None])
        finder = EvidenceFinder(lesson, self._root, self._bounds, shown.progress, shown.cancelled)
        found = finder.find(datetime.now(UTC))
        unrehearsed = tuple(
            _unrehearsed(event, reason)
            for event, reason in obstacles
            if reason is not None and _matters(event)
        )
        begun = tuple(file.path for file in beginnings(shown.state) if file.path in found.inputs)
        return found.changed(unrehearsed=unrehearsed, begun=begun), finder.needed

    def _lesson(self, shown: "_Shown", events: Sequence[ObservedActionEvent]) -> Lesson:
        state = shown.state
        return Lesson(
            state_id=state.state_id,
            commands=tuple(map(_command, events)),
            place=lambda folder: self._states.materialise(state, folder, shown.contents),
            surroundings=Surroundings(state.locale, state.time_zone, folders=lesson_folders(shown.commands)),
            in_vain=frozenset(event.event_id for event in shown.commands if failed_in_vain(event)),
            asks_for_check=asks_for_a_check(shown.goal),
        )

    def _beginning_with(self, shown: "_Shown", given: frozenset[str], earlier: LessonEvidence) -> "_Shown":
        """The demonstration as if the files that the ``given`` commands made had been there.

        Raises:
            _NotFollowed: they do not make them again.
        """
        paths = {path for use in earlier.uses if use.event_id in given for path in use.written}
        makers = self._lesson(shown, [event for event in shown.commands if event.event_id in given])
        made = made_files(makers, self._root, paths, shown.cancelled) if paths else None
        if made is None:
            raise _NotFollowed("what wrote it does not write it by itself")
        state, contents = extended_state(
            shown.state, {path: (one.content, one.mode) for path, one in made.items()}
        )
        work = tuple(event for event in shown.commands if event.event_id not in given)
        return replace(shown, state=state, contents=contents, commands=work)

    def _keep(self, shown: "_Shown", found: LessonEvidence, needed: frozenset[str] | None) -> None:
        if shown.cancelled.is_set():
            return
        self._evidence.put(shown.state.learn_session_id, found)
        if needed is not None and shown.is_only_one:
            # The state of several demonstrations is needed by the others too.
            self._states.prune(shown.state.state_id, needed)


@dataclass(frozen=True)
class _Shown:
    """A demonstration to be replayed, and how its replay tells that it goes on and learns that it is cancelled."""

    state: StartingState
    commands: tuple[ObservedActionEvent, ...]
    goal: str
    is_only_one: bool
    progress: Callable[[str], None]
    cancelled: Event
    contents: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Those of the state, by digest, that are not kept yet."""


class _NotFollowed(Exception):
    """Why the work cannot begin with files that it had made."""


def replay_progress() -> tuple[Callable[[str], None], Event]:
    """A heartbeat with a label that any thread of the activity may send, and what is set once it is cancelled."""
    cancelled, context = Event(), copy_context()

    def beat(label: str) -> None:
        activity.heartbeat(label)
        if activity.is_cancelled():
            cancelled.set()

    def progress(label: str) -> None:
        # Called by threads that know nothing of the activity; a context serves one of them at a time.
        context.copy().run(beat, label)

    return progress, cancelled


def _working_otherwise(
    shown: _Shown, work: _Shown, earlier: LessonEvidence, found: LessonEvidence
) -> str | None:
    """A command that fails or writes other files where the folder is there that it, or one before it, had made."""
    there = {path for entry in shown.state.entries for path in (entry.path, *parent_folders(entry.path))}
    folders = {path for entry in work.state.entries for path in parent_folders(entry.path)} - there
    before = {use.event_id: use for use in earlier.uses}

    def is_other(use: CommandUse) -> bool:
        was = before.get(use.event_id, use)
        # Elsewhere names may differ without a reason of this kind: they are made up, as of the day.
        new = (path for path in use.written if path not in was.written)
        fails = was.succeeded and not use.succeeded and not folders.issuperset(was.written)
        return fails or any(not folders.isdisjoint(parent_folders(path)) for path in new)

    others = {use.event_id for use in found.uses if is_other(use)}
    return next(
        (one.terminal.command for one in work.commands if one.event_id in others and one.terminal), None
    )


def _commands(part: CapturedPart) -> list[ObservedActionEvent]:
    """The commands of one demonstration as they were typed, failed ones included: the replay tells noise."""
    return [event for event in within_capture(part.events, part.marks) if event.terminal is not None]


def typed_in_vain(
    events: Sequence[ObservedActionEvent], uses: Sequence[CommandUse]
) -> dict[str, ObservedActionEvent]:
    """Commands whose typed lines did not make in the replay what they had made, by id and without those lines."""
    made = {use.event_id: {*use.written, *use.removed} for use in uses}
    trees = GeneratedTrees(
        [file.path for event in events if event.terminal for file in event.terminal.produced_files]
    )
    return {
        event.event_id: event.changed(terminal=event.terminal.changed(command=line))
        for event in events
        if event.terminal is not None
        and (line := without_typed_lines(event.terminal.command)) != event.terminal.command
        and not {trees.tree_of(file.path) or file.path for file in event.terminal.produced_files}
        <= made.get(event.event_id, set())
    }


def as_repeated(
    events: Sequence[ObservedActionEvent], evidence: LessonEvidence | None
) -> tuple[ObservedActionEvent, ...]:
    """The events with the commands as the evidence found that they are to be repeated."""
    found = {one.event_id: one for one in evidence.repeated_as} if evidence else {}

    def repeated(event: ObservedActionEvent) -> ObservedActionEvent:
        one = found.get(event.event_id)
        if event.terminal is None or one is None:
            return event
        # A line that was put right, and a search that is to find nothing, succeed as they are repeated.
        ended = ExitClass.OK if one.ends_well else event.terminal.exit_class
        names = _names_changed(one.event_id, evidence) if evidence else {}
        produced = tuple(f.changed(path=names.get(f.path, f.path)) for f in event.terminal.produced_files)
        return event.changed(
            terminal=event.terminal.changed(command=one.command, exit_class=ended, produced_files=produced)
        )

    return tuple(map(repeated, events))


def _names_changed(event_id: str, evidence: LessonEvidence) -> dict[str, str]:
    """The mistyped names of the files that a command made, with those that a command left out gave them afterwards."""
    left_out = {one.event_id for one in evidence.left_out}
    made = next(({*use.written} for use in evidence.uses if use.event_id == event_id), set[str]())
    for use in evidence.uses:
        if use.event_id in left_out and made and made == {*use.removed} and len(made) == len(use.written):
            return dict(zip(sorted(made), sorted(use.written), strict=True))
    return {}


def _as_it_is(event: ObservedActionEvent) -> RepeatedCommand:
    return RepeatedCommand(event_id=event.event_id, command=event.terminal.command if event.terminal else "")


def _obstacle(event: ObservedActionEvent) -> str | None:
    assert event.terminal is not None
    line = replayed_line(event.terminal)
    return rehearsal_obstacle(
        line if line is not None else event.terminal.command, event.terminal.working_folder
    )


def _matters(event: ObservedActionEvent) -> bool:
    """Whether the command changed something, or nobody can tell as it ran where nothing is looked at."""
    assert event.terminal is not None
    outside = event.terminal.working_folder == OUTSIDE_FOLDER
    return event.caused_state_change or (outside and event.terminal.exit_class is ExitClass.OK)


def _command(event: ObservedActionEvent) -> RehearsalCommand:
    assert event.terminal is not None
    return RehearsalCommand(
        event_id=event.event_id,
        command=replayed_line(event.terminal) or event.terminal.command,
        working_folder=event.terminal.working_folder,
        # A mistake at a prompt shows in the status of a program that is not at one.
        may_fail=event.terminal.exit_class is not ExitClass.OK
        or typed_command(event.terminal.command) is not None,
    )


def _unrehearsed(event: ObservedActionEvent, reason: str) -> UnrehearsedCommand:
    command = event.terminal.command if event.terminal else event.action_label
    return UnrehearsedCommand(event_id=event.event_id, command=command[:120], reason=reason[:240])


def usable_evidence(
    found: LessonEvidence | None, events: Sequence[ObservedActionEvent]
) -> LessonEvidence | None:
    """The evidence, as long as the events that it is of are held; what was not reproduced is only a beginning."""
    held = {event.event_id for event in events}
    if found is None or not held.issuperset(use.event_id for use in found.uses):
        return None
    return found if found.reproduced else found.changed(kept=(), left_out=(), proofs=(), scripts=())
