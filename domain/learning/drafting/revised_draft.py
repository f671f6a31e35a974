"""A draft with the instructions of a revision so far, and the edits that they come to."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from contracts.learning.interpretation import Checkpoint, SemanticWorkflowInterpretation
from contracts.learning.proposal import LEFT_OUT, PARAMETERS, PUT_BACK, SkillDraft
from domain.learning.drafting.command_places import Commands
from domain.learning.drafting.instruction_places import Places, refused, unquoted
from domain.learning.drafting.put_back import LeftCommands

STEP = r"step|check ?point"
"""What a checkpoint is called, as a regular expression."""

_TRIGGERS = ("trigger_phrases", "negative_triggers")

Texts = tuple[str, ...]


@dataclass(frozen=True)
class Revision:
    """The draft with the instructions so far; places are looked up in the draft as it is shown."""

    shown: SemanticWorkflowInterpretation
    draft: SkillDraft
    checkpoints: tuple[Checkpoint, ...] | None = None
    lists: dict[str, Texts] = field(default_factory=dict[str, Texts])
    fields: dict[str, object] = field(default_factory=dict[str, object])
    parameters: tuple[dict[str, object], ...] = ()
    commands: Commands = field(default_factory=Commands)
    left_out: Texts = ()
    left: LeftCommands = field(default_factory=LeftCommands)
    put_back: Texts = ()

    @property
    def steps(self) -> Places:
        """The checkpoints as a person sees and counts them."""
        shown = self.shown.checkpoints
        return Places(
            STEP, [f"{c.goal} / {c.success_condition}" for c in shown], [c.checkpoint_id for c in shown]
        )

    @property
    def present(self) -> tuple[Checkpoint, ...]:
        """The checkpoints as they are by now."""
        return self.shown.checkpoints if self.checkpoints is None else self.checkpoints

    def at(self, position: int) -> int:
        """Where a shown checkpoint stands now."""
        wanted = self.shown.checkpoints[position].checkpoint_id
        place = next((n for n, c in enumerate(self.present) if c.checkpoint_id == wanted), None)
        if place is None:
            raise refused(f"checkpoint {position + 1} is removed by the same instructions")
        return place

    def texts(self, name: str) -> Texts:
        """One list of texts as it is by now."""
        if name in self.lists:
            return self.lists[name]
        holder = self.draft if name in _TRIGGERS else self.shown
        found: Texts = getattr(holder, name)
        return found

    def with_checkpoints(self, checkpoints: Sequence[Checkpoint]) -> "Revision":
        """With these checkpoints in this order."""
        if not checkpoints:
            raise refused("a skill needs at least one checkpoint")
        return replace(self, checkpoints=tuple(checkpoints))

    def with_checkpoint(self, position: int, **changes: object) -> "Revision":
        """With other words for the checkpoint shown at ``position``."""
        found = list(self.present)
        place = self.at(position)
        found[place] = Checkpoint.model_validate({**found[place].model_dump(), **changes})
        return self.with_checkpoints(found)

    def with_texts(self, name: str, texts: Sequence[str]) -> "Revision":
        """With another list of texts."""
        return replace(self, lists={**self.lists, name: tuple(dict.fromkeys(texts))})

    def with_more(self, name: str, said: str) -> "Revision":
        """With what is said added to a list, parts by semicolons."""
        added = [unquoted(one) for one in said.split(";") if one.strip()]
        return self.with_texts(name, [*self.texts(name), *added])

    def with_field(self, name: str, value: object) -> "Revision":
        """With a field set."""
        return replace(self, fields={**self.fields, name: value})

    def with_parameter(self, **entry: object) -> "Revision":
        """With a change of a parameter, as ``parameters`` of a revision takes it."""
        return replace(self, parameters=(*self.parameters, entry))

    def without_commands(self, event_ids: Sequence[str]) -> "Revision":
        """Without these commands of the method."""
        return replace(self, left_out=tuple(dict.fromkeys((*self.left_out, *event_ids))))

    def with_commands(self, event_ids: Sequence[str]) -> "Revision":
        """With these commands, which were left out, in the method."""
        return replace(self, put_back=tuple(dict.fromkeys((*self.put_back, *event_ids))))

    def edits(self) -> dict[str, object]:
        """As fields of a revision."""
        found: dict[str, object] = {
            **self.fields,
            **{name: list(texts) for name, texts in self.lists.items()},
        }
        if self.checkpoints is not None:
            found["checkpoints"] = [
                c.changed(order_hint=n).model_dump(mode="json")
                for n, c in enumerate(self.checkpoints, start=1)
            ]
        about: dict[object, dict[str, object]] = {}
        for entry in self.parameters:
            about[entry["name"]] = {**about.get(entry["name"], {}), **entry}
        if about:
            found[PARAMETERS] = list(about.values())
        if self.left_out:
            found[LEFT_OUT] = list(self.left_out)
        if self.put_back:
            found[PUT_BACK] = list(self.put_back)
        return found
