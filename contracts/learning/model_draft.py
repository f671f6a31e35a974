"""Wording of a draft by a language model: text and order, nothing else (DOC3 §0C.9A, rows SL-15).

There is no field for a command, a control surface, a permission or a safety note: those come from the demonstration.
"""

from typing import Annotated

from pydantic import Field

from contracts.base import Contract, Sha256, Text80, Text120, Text160, Text240, Text600

DETERMINISTIC = "deterministic"
"""The drafter that needs no model: the same capture, answers and edits give the same draft."""

MOST_CONDITIONS = 6
"""The most conditions of a kind that a model may propose."""

MOST_PHRASES = 8
"""The most trigger phrases, and the most negative triggers, that a model may propose."""

MOST_CHECKPOINTS = 40
"""The most checkpoints a draft can have."""


class ModelCheckpoint(Contract):
    """Another wording of a checkpoint that the draft has; the id says of which."""

    checkpoint_id: str = Field(pattern=r"^cp-\d{2,3}$")
    goal: Text240 = Field(description="The state to reach, in a few words.")
    success_condition: Text240 = Field(description="How to see that it is reached: what exists or shows.")


Conditions = Annotated[tuple[Text240, ...], Field(max_length=MOST_CONDITIONS)]
Phrases = Annotated[tuple[Text120, ...], Field(max_length=MOST_PHRASES)]


class ModelDraftEdits(Contract):
    """A model's answer. All fields are asked for; checkpoints stand in the order they are to be reached in."""

    title: Text160
    goal_summary: Text600
    use_conditions: Conditions = Field(min_length=1)
    non_use_conditions: Conditions
    checkpoints: tuple[ModelCheckpoint, ...] = Field(min_length=1, max_length=MOST_CHECKPOINTS)
    trigger_phrases: Phrases = Field(min_length=1)
    negative_triggers: Phrases


class KeptModelEdits(Contract):
    """An answer as it is kept, with the wish it followed: what a person's wish names may be named."""

    edits: ModelDraftEdits
    wish: str = Field(default="", max_length=2000)


class ModelWording(Contract):
    """What came of asking a model, small enough for a workflow's history: its answer is kept as a blob.

    Without ``edits_blob`` there is no usable answer, and ``note`` says why.
    """

    model: Text80
    edits_blob: Sha256 | None = None
    note: Text240 = ""
