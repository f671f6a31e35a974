/** The workflow graph of a draft: what was shown, step by step, for who reviews it. The service says where all stands. */

import { h } from "../dom.js";

const SVG = "http://www.w3.org/2000/svg";
const PADDING = 14;
const LINE_HEIGHT = 18;
const FIRST_LINE = 13;

export function workflowGraph({ graph, picture }) {
  const attributes = { viewBox: `0 0 ${picture.width} ${picture.height}`, width: picture.width, height: picture.height, role: "img", "aria-label": `Workflow of ${graph.title}`, class: "graph" };
  return [
    h("p", { class: "meta" }, "What was shown, step by step, and what is verified at the end. It is for this review: agents never see it."),
    h("div", { class: "graph-frame", tabindex: "0", role: "group", "aria-label": "Picture of the workflow" }, drawing("svg", attributes, picture.arrows.map(arrow), picture.boxes.map(box))),
  ];
}

function box({ step_type: type, left, top, width, height, lines }) {
  return drawing(
    "g",
    { "data-step": type },
    drawing("rect", { x: left, y: top, width, height, rx: 8 }),
    lines.map((line, number) => drawing("text", { x: left + PADDING, y: top + PADDING + LINE_HEIGHT * number + FIRST_LINE, class: number === 0 && "kind" }, line)),
  );
}

function arrow({ points }) {
  const [x, y] = points.at(-1);
  const [beforeX] = points.at(-2);
  // The head points down into the box below, or left where the line comes from the edge.
  const head = beforeX > x && points.length > 2 ? `${x},${y} ${x + 8},${y - 4} ${x + 8},${y + 4}` : `${x},${y} ${x - 4},${y - 8} ${x + 4},${y - 8}`;
  return [drawing("polyline", { points: points.map((point) => point.join(",")).join(" ") }), drawing("polygon", { points: head })];
}

function drawing(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value) element.setAttribute(name, value);
  element.append(...children.flat(Infinity));
  return element;
}
