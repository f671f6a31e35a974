"""Picture of a workflow graph: places of boxes and arrows, and the SVG of them.

For reviewers (DOC3 §0A.15, §0C.9A). Steps stand below each other by their distance from the entry; steps of one
distance stand side by side. An arrow that leads back, or past a row, runs along the right edge.
"""

import textwrap
from collections import defaultdict
from html import escape

from contracts.learning.interpretation import WorkflowGraph, WorkflowStep, WorkflowStepType
from contracts.learning.views.review_graph import GraphArrow, GraphBox, GraphPicture, ReviewGraph

BOX_WIDTH = 320
LINE_HEIGHT = 18
PADDING = 14
GAP = 34
MARGIN = 16
LANE = 14
"""How far apart the arrows along the right edge run."""

LABEL_COLUMNS = 40
MOST_LINES = 6

_FILLS = {
    WorkflowStepType.ACTION: "#eef2fb",
    WorkflowStepType.VERIFICATION: "#e9f6ec",
    WorkflowStepType.ASK_USER: "#fdf3dc",
}
_OTHER_FILL = "#f3eefb"


def review_graph(graph: WorkflowGraph) -> ReviewGraph:
    """The graph with its picture."""
    return ReviewGraph(graph=graph, picture=picture_of(graph))


def picture_of(graph: WorkflowGraph) -> GraphPicture:
    """Where each step and arrow stands. A step that the entry does not lead to stands below all others."""
    rows = _rows(graph)
    boxes: dict[str, GraphBox] = {}
    top = MARGIN
    for row in rows:
        placed = [_box(step, column, top) for column, step in enumerate(row)]
        boxes |= {box.step_id: box for box in placed}
        top += max(box.height for box in placed) + GAP
    row_of = {step.step_id: number for number, row in enumerate(rows) for step in row}
    edge = max(box.left + box.width for box in boxes.values())
    arrows: list[GraphArrow] = []
    for step in graph.steps:
        for following in step.next_step_ids:
            if following not in boxes:
                continue
            near = row_of[following] == row_of[step.step_id] + 1
            if not near:
                edge += LANE
            points = _straight(boxes, step.step_id, following)
            if not near:
                points = _around(boxes, step.step_id, following, edge)
            arrows.append(GraphArrow(from_step_id=step.step_id, to_step_id=following, points=points))
    return GraphPicture(
        width=edge + MARGIN, height=top - GAP + MARGIN, boxes=tuple(boxes.values()), arrows=tuple(arrows)
    )


def svg_of(graph: WorkflowGraph) -> str:
    """The picture as an SVG document: shapes and text alone, no script, no style sheet, no reference outward."""
    picture = picture_of(graph)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width}" height="{picture.height}"'
        f' viewBox="0 0 {picture.width} {picture.height}" role="img" font-family="sans-serif" font-size="13">',
        f"<title>{_text(graph.title)}</title>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"'
        ' orient="auto"><path d="M0 0 8 4 0 8z" fill="#5b6070"/></marker></defs>',
    ]
    for arrow in picture.arrows:
        points = " ".join(f"{x},{y}" for x, y in arrow.points)
        parts.append(f'<polyline points="{points}" fill="none" stroke="#5b6070" marker-end="url(#head)"/>')
    for box in picture.boxes:
        parts += _drawn(box)
    return "\n".join([*parts, "</svg>\n"])


def _rows(graph: WorkflowGraph) -> list[list[WorkflowStep]]:
    steps = {step.step_id: step for step in graph.steps}
    distance: dict[str, int] = {}
    front = [graph.entry_step_id]
    while front:
        known = len(set(distance.values()))
        front = [name for name in dict.fromkeys(front) if name in steps and name not in distance]
        distance |= dict.fromkeys(front, known)
        front = [following for name in front for following in steps[name].next_step_ids]
    by_row: dict[int, list[WorkflowStep]] = defaultdict(list)
    below = max(distance.values(), default=-1) + 1
    for step in graph.steps:
        by_row[distance.get(step.step_id, below)].append(step)
    return [by_row[row] for row in sorted(by_row)]


def _box(step: WorkflowStep, column: int, top: int) -> GraphBox:
    wrapped = textwrap.wrap(step.label, LABEL_COLUMNS, max_lines=MOST_LINES, placeholder=" …")
    lines = (step.step_type.value.replace("_", " "), *(wrapped or ["–"]))
    return GraphBox(
        step_id=step.step_id,
        step_type=step.step_type,
        left=MARGIN + column * (BOX_WIDTH + GAP),
        top=top,
        width=BOX_WIDTH,
        height=2 * PADDING + LINE_HEIGHT * len(lines),
        lines=lines,
    )


def _straight(boxes: dict[str, GraphBox], above: str, below: str) -> tuple[tuple[int, int], ...]:
    start, end = boxes[above], boxes[below]
    return (
        (start.left + start.width // 2, start.top + start.height),
        (end.left + end.width // 2, end.top),
    )


def _around(boxes: dict[str, GraphBox], first: str, second: str, edge: int) -> tuple[tuple[int, int], ...]:
    start, end = boxes[first], boxes[second]
    out, back = start.top + start.height // 2, end.top + end.height // 2 + (6 if first == second else 0)
    return ((start.left + start.width, out), (edge, out), (edge, back), (end.left + end.width, back))


def _drawn(box: GraphBox) -> list[str]:
    fill = _FILLS.get(box.step_type, _OTHER_FILL)
    parts = [
        f'<rect x="{box.left}" y="{box.top}" width="{box.width}" height="{box.height}" rx="8"'
        f' fill="{fill}" stroke="#9aa0b0"/>'
    ]
    for number, line in enumerate(box.lines):
        y = box.top + PADDING + LINE_HEIGHT * number + 13
        colour = "#5b6070" if number == 0 else "#1c1f27"
        parts.append(f'<text x="{box.left + PADDING}" y="{y}" fill="{colour}">{_text(line)}</text>')
    return parts


def _text(words: str) -> str:
    """Escaped for XML, whose documents may hold no control character."""
    return escape("".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in words))
