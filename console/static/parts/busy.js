/** What goes on behind a button: it says that it is busy, keeps the focus (a disabled one loses it), and works once. */

import { failure } from "./notices.js";

export async function whileBusy(button, work) {
  if (button.getAttribute("aria-busy") === "true") return;
  const states = ["aria-busy", "aria-disabled"];
  for (const state of states) button.setAttribute(state, "true");
  try {
    await work();
  } finally {
    for (const state of states) button.removeAttribute(state);
  }
}

/** Has a form do `work` when it is sent; `report` is told of what fails, and of null when it begins. */
export function onSubmit(form, button, work, report) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(button, async () => {
      report(null);
      try {
        await work();
      } catch (error) {
        report(error);
      }
    });
  });
}

/** Reports into a place beside the form. */
export const reportIn = (place) => (error) => place.replaceChildren(...(error ? [failure(error)] : []));
