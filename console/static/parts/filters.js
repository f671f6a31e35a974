/** A row of buttons of which one is pressed: which of a list's items are asked for. */

import { h } from "../dom.js";

export class Filters {
  /** `changed` runs when another is chosen; the first is chosen to begin with. */
  constructor(names, changed) {
    Object.assign(this, { names, changed, chosen: names[0] });
  }

  buttons() {
    const choose = (name) => {
      this.chosen = name;
      this.changed();
    };
    const one = (name) => h("button", { type: "button", id: `filter-${name}`, "aria-pressed": String(name === this.chosen), click: () => choose(name) }, name);
    return h("div", { class: "filters", role: "group", "aria-label": "Filter" }, this.names.map(one));
  }
}
