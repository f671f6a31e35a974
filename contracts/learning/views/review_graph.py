"""Workflow graph of a draft as reviewers see it: the graph and where its picture has each part (DOC3 §0A.15).

For review, validation and repair alone: no agent is given it (DOC3 §0C.9A rule 1, L642).
"""

from pydantic import Field

from contracts.base import Contract, Text120, VersionedContract
from contracts.learning.interpretation import WorkflowGraph, WorkflowStepType


class GraphBox(Contract):
    """A step's box. Lengths are in pixels from the top left corner."""

    step_id: Text120
    step_type: WorkflowStepType
    left: int = Field(ge=0)
    top: int = Field(ge=0)
    width: int = Field(ge=1)
    height: int = Field(ge=1)
    lines: tuple[str, ...] = Field(description="The label, broken to fit.")


class GraphArrow(Contract):
    """A line from one box to the next, with its arrowhead at the last point."""

    from_step_id: Text120
    to_step_id: Text120
    points: tuple[tuple[int, int], ...] = Field(min_length=2)


class GraphPicture(Contract):
    """The picture of a graph, to be drawn by whoever shows it."""

    width: int = Field(ge=1)
    height: int = Field(ge=1)
    boxes: tuple[GraphBox, ...]
    arrows: tuple[GraphArrow, ...]


class ReviewGraph(VersionedContract):
    """The workflow graph of a draft, and its picture."""

    graph: WorkflowGraph
    picture: GraphPicture
