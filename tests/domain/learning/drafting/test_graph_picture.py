"""The picture of a workflow graph: every step and arrow is there, nothing lies on another, no word is markup."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.interpretation import WorkflowGraph, WorkflowStep, WorkflowStepType
from domain.learning.drafting.graph_picture import picture_of, svg_of

LABELS = st.text(max_size=240)


def graph_of(edges: list[tuple[int, ...]], labels: list[str] | None = None) -> WorkflowGraph:
    names = labels or [f"Step {number}" for number in range(len(edges))]
    steps = tuple(
        WorkflowStep(
            step_id=f"s{number}",
            step_type=WorkflowStepType.ACTION,
            label=names[number],
            next_step_ids=tuple(f"s{one}" for one in following),
        )
        for number, following in enumerate(edges)
    )
    return WorkflowGraph(workflow_id="w", title="Work", entry_step_id="s0", steps=steps)


@st.composite
def graphs(draw: st.DrawFn) -> WorkflowGraph:
    count = draw(st.integers(1, 7))
    edges = [tuple(draw(st.sets(st.integers(0, count), max_size=3))) for _ in range(count)]
    return graph_of(edges, [draw(LABELS) for _ in range(count)])


@given(graphs())
def test_every_graph_is_drawn_whole_and_inside_its_frame(graph: WorkflowGraph) -> None:
    picture = picture_of(graph)
    assert {box.step_id for box in picture.boxes} == {step.step_id for step in graph.steps}
    known = {step.step_id for step in graph.steps}
    told = [
        (s.step_id, following) for s in graph.steps for following in s.next_step_ids if following in known
    ]
    assert [(one.from_step_id, one.to_step_id) for one in picture.arrows] == told
    for box in picture.boxes:
        assert box.left + box.width < picture.width
        assert box.top + box.height < picture.height
        for other in picture.boxes:
            apart = box is other or (
                box.left + box.width < other.left
                or other.left + other.width < box.left
                or box.top + box.height < other.top
                or other.top + other.height < box.top
            )
            assert apart
    assert all(
        0 <= x <= picture.width and 0 <= y <= picture.height for a in picture.arrows for x, y in a.points
    )


@given(graphs())
def test_any_words_make_a_well_formed_document_without_scripts(graph: WorkflowGraph) -> None:
    root = ElementTree.fromstring(svg_of(graph))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "title", "defs", "marker", "path", "rect", "text", "polyline"}


@pytest.mark.parametrize(
    "label", ["<script>alert(1)</script>", 'a "quoted" & marked <b>label</b>', "a\x00b\x1b[0m"]
)
def test_markup_in_a_label_is_text(label: str) -> None:
    root = ElementTree.fromstring(svg_of(graph_of([()], [label])))
    texts = " ".join(element.text or "" for element in root.iter() if element.tag.endswith("text"))
    assert texts.startswith("action ")
    assert "<" not in texts or "<" in label


def test_what_leads_back_runs_along_the_edge_and_what_nothing_leads_to_stands_last() -> None:
    picture = picture_of(graph_of([(1,), (2,), (0,), ()]))
    places = {box.step_id: box.top for box in picture.boxes}
    assert places["s0"] < places["s1"] < places["s2"] < places["s3"]
    back = next(one for one in picture.arrows if one.to_step_id == "s0")
    assert len(back.points) == 4
    assert [len(one.points) for one in picture.arrows if one is not back] == [2, 2]
