/** How long something still waits, second by second, by the service's clock. */

import { h } from "../dom.js";

const SECOND = 1000;
const SOON_MS = 60_000;

export class Countdowns {
  #ahead = 0;
  #over = new Set();

  /** `overdue` is called once for each that has run out while it was shown. */
  constructor(root, signal, overdue) {
    const timer = setInterval(() => this.#tick(root, overdue), SECOND);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  }

  /** Told what time it is where the deadlines come from. */
  set now(text) {
    this.#ahead = Date.parse(text) - Date.now();
  }

  element(until) {
    const element = h("time", { class: "countdown", datetime: until });
    this.#draw(element);
    return element;
  }

  #tick(root, overdue) {
    for (const element of root.querySelectorAll(".countdown")) {
      const left = this.#draw(element);
      if (left <= 0 && !this.#over.has(element.dateTime)) {
        this.#over.add(element.dateTime);
        overdue();
      }
    }
  }

  #draw(element) {
    const left = Date.parse(element.dateTime) - Date.now() - this.#ahead;
    element.textContent = left > 0 ? `Expires in ${words(left)}` : "Expired";
    element.dataset.tone = left < SOON_MS ? "bad" : "quiet";
    return left;
  }
}

export function words(milliseconds) {
  const seconds = Math.ceil(milliseconds / SECOND);
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
}
