/** What a workflow's activity reports while somebody waits for it behind a button. */

import { get } from "../api.js";
import { h } from "../dom.js";

const EVERY_MS = 1000;

/** Does `work` and shows beside `button` what the activity under way reports; not announced, as it changes each second. */
export async function following(button, workflow, work) {
  const said = h("p", { class: "hint", "aria-live": "off" });
  button.parentElement.after(said);
  const timer = setInterval(async () => {
    const { doing } = await get(`workflows/${workflow}`).catch(() => ({}));
    said.textContent = doing ? `Replaying: ${doing}` : "";
  }, EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    said.remove();
  }
}
