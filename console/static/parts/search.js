import { h } from "../dom.js";

const PAUSE_MS = 250;
const LIMIT = 200;

/** A box whose words the service searches by. `changed` runs a moment after the typing stops; `words` is what it says. */
export class SearchBox {
  words = "";

  constructor(label, changed, signal) {
    let due = null;
    const id = `search-${label.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
    const input = h("input", { id, type: "search", maxlength: LIMIT, autocomplete: "off", spellcheck: "false" });
    const look = () => {
      clearTimeout(due);
      if (this.words === input.value.trim()) return;
      this.words = input.value.trim();
      changed();
    };
    input.addEventListener("input", () => (clearTimeout(due), (due = setTimeout(look, PAUSE_MS))));
    signal.addEventListener("abort", () => clearTimeout(due), { once: true });
    this.clear = () => ((input.value = ""), look(), input.focus());
    this.element = h("form", { class: "search", role: "search", submit: (event) => (event.preventDefault(), look()) }, h("label", { for: id }, label), input);
  }

  /** What is added to an address. */
  get query() {
    return this.words ? `&q=${encodeURIComponent(this.words)}` : "";
  }

  /** The way back from a search that finds nothing. */
  get clearing() {
    return h("button", { type: "button", id: "clear-search", click: () => this.clear() }, "Clear the search");
  }
}
