"""Evidence of a lesson: what a replay of its commands on the starting state showed, and conditions that can be checked.

Our addition to DOC3 §0A.12, §0A.13 and §0A.18: which commands contribute to the final state, and which statements
about it tell a right result from a wrong one.
"""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text120, Text240, Text400, Text2000, UtcTime, Uuid, VersionedContract
from contracts.learning.validation import SafetyClass

MAX_CONDITIONS = 40
"""The most conditions that one lesson is checked by."""

MAX_JUDGED = 120
"""The most conditions beside the proven ones of which a verdict is kept."""

MAX_SCRIPTS = 20
"""The most programs that are kept of one lesson."""


class ConditionKind(StrEnum):
    """What a condition states about a file, given the folder before and after the work."""

    EXISTS = "exists"
    ABSENT = "absent"
    NOT_EMPTY = "not_empty"
    SORTED = "sorted"
    LINE_COUNT = "line_count"
    LINES_OF = "lines_of"
    DISTINCT_LINES = "distinct_lines"
    HEADER_OF = "header_of"
    HOLDS_TEXT = "holds_text"
    LACKS_TEXT = "lacks_text"
    LACKS_WORD = "lacks_word"
    COLUMNS = "columns"
    VALID_JSON = "valid_json"
    SAME_CONTENT = "same_content"
    MEMBERS_OF = "members_of"
    FILE_COUNT = "file_count"
    COMPARES = "compares"
    SELECTS = "selects"
    MODE = "mode"
    STATE = "state"
    CHECK_PASSES = "check_passes"


class ProofCondition(Contract):
    """A statement about the result that a rehearsal can check, on the demonstration's files and on others."""

    kind: ConditionKind
    path: Text240 = Field(
        description="The file that it is about, relative to the working folder. A star stands for any characters"
        " of a name: every such file that is new or has changed is meant, and there must be one."
    )
    other: Text240 | None = Field(
        default=None,
        description="The file or folder that it is compared with. Its stars stand for what those of the path do."
        " Of a comparison the one or two (parted by a bar) that were compared.",
    )
    argument: Text400 = Field(default="", description="What is compared: an order, a number, a text, a mode.")
    statement: Text240 = Field(description="The same in words.")


class ConditionProof(Contract):
    """What proves a condition: the commands whose omission breaks it, and the variations it holds for."""

    condition: ProofCondition
    told_apart_by: tuple[int, ...] = Field(
        default=(),
        max_length=200,
        description="The commands, counted from 1, without which it does not hold.",
    )
    told_apart_in_words: tuple[Text240, ...] = Field(
        default=(),
        max_length=20,
        description="Parts of commands (a stage of a pipeline, an option) without which it does not hold, while"
        " its file is still there; for a check the damage that makes it fail.",
    )
    holds_for: int = Field(default=0, ge=0, description="Variations of the input for which it holds.")
    tried: int = Field(default=0, ge=0, description="Variations of the input that were tried.")


class ConditionVerdict(StrEnum):
    """What the replays showed of a condition."""

    BROKEN = "broken"
    """It does not hold on the demonstration itself."""
    VACUOUS = "vacuous"
    """It holds whatever is done, or says nothing."""
    COINCIDENCE = "coincidence"
    """It does not hold on changed input, where the same commands succeed."""
    TOLD_APART = "told_apart"
    """Leaving out a part of the work breaks it, and changed input does not."""


class JudgedCondition(Contract):
    """A condition with what the replays showed of it."""

    condition: ProofCondition
    verdict: ConditionVerdict
    reason: Text240


class LeftOutCommand(Contract):
    """A command of the demonstration that is no part of the lesson, and why."""

    event_id: Uuid
    command: Text120 = Field(default="", description="Its beginning.")
    reason: Text240


class UnrehearsedCommand(Contract):
    """A command, or a step without one, that no rehearsal can carry out here, and what would help."""

    event_id: Uuid
    command: Text120
    reason: Text240
    safety_class: SafetyClass | None = Field(
        default=None, description="Of the executable skills that the step ran, the worst."
    )


class RepeatedCommand(Contract):
    """A command as it is to be repeated: with those of the lines typed at its prompt that its result depends on."""

    event_id: Uuid
    command: Text2000
    ends_well: bool = Field(
        default=False,
        description="Whether its exit status is 0 when it is repeated so, whatever it was when it was shown.",
    )


class CommandUse(Contract):
    """The files that one replayed command used, relative to the working folder."""

    event_id: Uuid
    succeeded: bool
    read: tuple[Text240, ...] = Field(default=(), max_length=500)
    written: tuple[Text240, ...] = Field(default=(), max_length=500)
    removed: tuple[Text240, ...] = Field(default=(), max_length=500)


class WrittenScript(Contract):
    """A program that was written in the demonstration and run by a later command, as it was when it was run last."""

    path: Text240
    content: str = Field(max_length=65_536)


class LessonEvidence(VersionedContract):
    """What the replay of one demonstration on its starting state showed."""

    state_id: Uuid
    reproduced: bool = Field(description="Whether the replay ended as the demonstration did.")
    note: Text240 = Field(default="", description="What keeps the replay from being evidence, if anything.")
    kept: tuple[Uuid, ...] = Field(default=(), description="The commands that contribute to the final state.")
    left_out: tuple[LeftOutCommand, ...] = ()
    put_back: tuple[Uuid, ...] = Field(
        default=(), description="Those of the kept commands that only a person keeps; never stored."
    )
    unrehearsed: tuple[UnrehearsedCommand, ...] = ()
    repeated_as: tuple[RepeatedCommand, ...] = Field(
        default=(), description="Commands at whose prompts more was typed than what they are repeated with."
    )
    uses: tuple[CommandUse, ...] = ()
    inputs: tuple[Text240, ...] = Field(
        default=(), max_length=500, description="Files of the starting state that a kept command reads."
    )
    begun: tuple[Text240, ...] = Field(
        default=(), max_length=500, description="Those of them that the state holds the first lines of alone."
    )
    inputs_note: Text240 = Field(
        default="",
        description="Why an answer that a file of the work is there already could not be followed, if one was given.",
    )
    folders: tuple[Text240, ...] = Field(
        default=(),
        max_length=200,
        description="Folders of the starting state that hold an input, or that a kept command names by a path.",
    )
    scripts: tuple[WrittenScript, ...] = Field(default=(), max_length=MAX_SCRIPTS)
    not_needed: tuple[Text120, ...] = Field(
        default=(),
        max_length=100,
        description="Programs that a kept command names and that are not there: a typing error within a loop, or one of"
        " several ways. The replay ended as the demonstration did without them.",
    )
    proofs: tuple[ConditionProof, ...] = Field(default=(), max_length=MAX_CONDITIONS)
    judged: tuple[JudgedCondition, ...] = Field(
        default=(),
        max_length=MAX_JUDGED,
        description="Verdicts on conditions beside the proven ones: those that were given to be judged first, then what"
        " was thought of and dropped.",
    )
    judged_with: tuple[Uuid, ...] = Field(
        default=(),
        description="The commands whose replays gave these verdicts; of other commands they say nothing.",
    )
    made_at: UtcTime

    @property
    def conditions(self) -> tuple[ProofCondition, ...]:
        """The conditions that at least one omission breaks."""
        return tuple(one.condition for one in self.proofs)
