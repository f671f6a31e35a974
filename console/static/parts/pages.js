/** A list that the service cuts: the page that is shown, and the buttons that turn it. */

import { get } from "../api.js";
import { announce, h } from "../dom.js";

export class Pages {
  #at = 1;

  /** `name` says what is listed; `id` tells its buttons from those of other lists of the view. */
  constructor(page, name, size = 25, id = name.replaceAll(" ", "-")) {
    Object.assign(this, { page, name, size, id });
  }

  /** The answer with the items of the page; where the list has become shorter than that, of the last. */
  async read(path) {
    for (;;) {
      const found = await get(`${path}${path.includes("?") ? "&" : "?"}page=${this.#at}&page_size=${this.size}`, { signal: this.page.signal });
      if (this.#at <= lastOf(found)) return found;
      this.#at = lastOf(found);
    }
  }

  /** Begins at the first page, where other items are asked for. */
  restart() {
    this.#at = 1;
  }

  /** Below a list of more than one page. */
  buttons(found) {
    const last = lastOf(found);
    if (last === 1) return null;
    const turn = (to, label) => h("button", { type: "button", id: `${this.id}-${label.toLowerCase()}`, class: "small", disabled: to < 1 || to > last, click: () => this.#turn(to, last) }, label);
    return h("nav", { class: "pages", "aria-label": `Pages: ${this.name}` }, turn(found.page - 1, "Previous"), turn(found.page + 1, "Next"), h("p", { class: "meta" }, `Page ${found.page} of ${last}, ${found.total} in all`));
  }

  #turn(to, last) {
    this.#at = to;
    announce(`Page ${to} of ${last}`);
    this.page.refresh();
  }
}

const lastOf = ({ total, page_size: size }) => Math.max(1, Math.ceil(total / size));
