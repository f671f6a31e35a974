import { h } from "../dom.js";

const COLOUR = /^#[0-9a-f]{6}$/i;

/** A small patch of a colour; what it stands for is said beside it. */
export function swatch(colour) {
  const element = h("span", { class: "swatch", "aria-hidden": "true" });
  if (COLOUR.test(colour)) element.style.backgroundColor = colour;
  return element;
}
