/** A button that has the service do something, and says what came of it. */

import { announce, h } from "../dom.js";
import { identity } from "../identity.js";
import { whileBusy } from "./busy.js";
import { ask } from "./dialogs.js";
import { trouble } from "./trouble.js";

/**
 * `act(values)` does it; with a `dialog` it is asked about first. `done` is announced, and `after` runs, also when it
 * was refused: what is shown may be out of date.
 */
export function actButton({ id, label, kind = "", scope, pressed, act, dialog, done, after }) {
  const attributes = { type: "button", id, class: kind, disabled: !identity.may(scope), "aria-pressed": pressed };
  const element = h("button", attributes, label);
  element.addEventListener("click", async () => {
    trouble.clear();
    if (!dialog) return attempt();
    try {
      if (await ask({ ...dialog(), act })) announce(done);
    } finally {
      after();
    }
  });
  return element;

  async function attempt() {
    trouble.clear();
    await whileBusy(element, async () => {
      try {
        await act({});
        announce(done);
      } catch (error) {
        trouble.report(error, error.retryable ? attempt : null);
      }
    });
    after();
  }
}

/** Says which right the token lacks for what is offered. */
export function lacking(...scopes) {
  const missing = [...new Set(scopes)].filter((scope) => !identity.may(scope));
  return missing.length > 0 && h("p", { class: "hint" }, `Your token lacks ${missing.join(" and ")}; the buttons that need it are off.`);
}
