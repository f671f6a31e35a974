"""Which commands of a lesson its draft has, which it leaves out, and what keeps these from being put back."""

from collections.abc import Collection, Sequence

from contracts.generated_trees import GeneratedTrees
from contracts.learning.aggregate import DraftRequest
from contracts.learning.evidence import LessonEvidence
from contracts.learning.proposal import RehearsalCommand, SkillDraft
from domain.learning.drafting.command_places import Commands
from domain.learning.drafting.instruction_places import refused
from domain.learning.drafting.put_back import KeptState, LeftCommands, check_put_back
from skills.rehearsal.dry_run import missing_programs
from stores.learning.observations import ObservationLog
from stores.learning.starting_states import StartingStates


class CommandChoice:
    """Looks the commands of a lesson up, whole, with the files that there are for them."""

    def __init__(self, log: ObservationLog, states: StartingStates) -> None:
        self._log = log
        self._states = states

    def shown(self, request: DraftRequest, draft: SkillDraft, evidence: LessonEvidence | None) -> Commands:
        """The commands of the draft that is shown, and why none of them can be left out, where none can."""
        obstacle = ""
        if request.base is not None:
            obstacle = "an improvement takes its commands from a demonstration: show it without that command"
        elif draft.further_demonstrations:
            obstacle = (
                "the task was shown several times: remove the command's events from each, or show it anew"
            )
        elif evidence is None or not evidence.kept:
            obstacle = (
                "the lesson was not replayed, so nobody knows what depends on a command: show it without it"
            )
        uses = {use.event_id: use for use in evidence.uses} if evidence else {}
        return Commands(draft.rehearsal, uses, obstacle)

    def left(self, request: DraftRequest, draft: SkillDraft, commands: Commands) -> LeftCommands:
        """The commands that the draft leaves out, whole."""
        events = {one.event_id: one for one in self._log.all_of(request.session.learn_session_id)}
        shown = [events[one.event_id] for one in draft.left_out if one.event_id in events]
        return LeftCommands(
            [
                RehearsalCommand(
                    event_id=one.event_id,
                    command=one.terminal.command,
                    working_folder=one.terminal.working_folder,
                )
                for one in shown
                if one.terminal is not None
            ],
            commands.uses,
            commands.obstacle,
        )

    def check_put_back(
        self,
        request: DraftRequest,
        wanted: Sequence[str],
        method: Collection[str],
        commands: Commands,
        evidence: LessonEvidence | None,
    ) -> None:
        """Refuses to put back what cannot be repeated; ``method`` are the commands that the draft has then.

        Raises:
            Refusal: ``REVISION_INVALID`` with the reason and what to do.
        """
        session_id = request.session.learn_session_id
        if commands.obstacle or evidence is None:
            raise refused(commands.obstacle.replace("without", "with"))
        events = {event.event_id: event for event in self._log.all_of(session_id)}
        states = [one for one in self._states.of_session(session_id) if one.state_id == evidence.state_id]
        entries = [entry for state in states for entry in state.entries]
        missing = {
            one: names[0]
            for one in wanted
            if one in events and (t := events[one].terminal) and (names := missing_programs([t.command]))
        }
        paths = {entry.path for entry in entries if entry.kept}
        state = KeptState(
            paths={*paths, *filter(None, map(GeneratedTrees(paths).tree_of, paths))},
            gone={entry.path for entry in entries if not entry.kept},
            missing=missing,
        )
        check_put_back(wanted, method, evidence, events, state)
