/** What goes on right now: the session that is under way, kept fresh by its event stream. */

import { ApiError, get } from "./api.js";
import { events } from "./stream.js";
import { vocabulary } from "./vocabulary.js";
import { STATES } from "./wording.js";

const LOOK_AGAIN_MS = 3000;
const AGAIN_MS = 200;
const BUSY_MS = 1500;
const RETRY_MS = [1000, 2000, 5000, 10000];
const UNDER_WAY = `learn/sessions?page_size=1&${Object.keys(STATES).filter((one) => !vocabulary.at_rest.includes(one)).map((one) => `state=${one}`).join("&")}`;

/** States in which much happens that is no lifecycle event: actions observed, cases checked, steps installed. */
const BUSY = new Set(["armed", "capturing", "testing_proposal", "ready_for_review", "installing_private"]);

class Live extends EventTarget {
  /** The session that is not at rest; a person has at most one. */
  active = null;
  /** Whether it has been asked for. */
  known = false;
  connection = "connecting";
  #abort = null;
  #seen = null;

  start() {
    this.stop();
    this.#abort = new AbortController();
    this.#run(this.#abort.signal);
    this.#beat(this.#abort.signal);
  }

  stop() {
    this.#abort?.abort();
    this.active = null;
    this.known = false;
  }

  /** Reads the session anew and tells everybody who listens. */
  async refresh() {
    const signal = this.#abort?.signal;
    const { sessions } = await get(UNDER_WAY, { signal });
    if (signal?.aborted) return;
    this.active = sessions[0] ?? null;
    this.known = true;
    this.dispatchEvent(new Event("change"));
  }

  async #run(signal) {
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.refresh();
        this.#connected("live");
        failures = 0;
        if (this.active) await this.#follow(this.active.learn_session_id, signal);
        await pause(this.active ? AGAIN_MS : LOOK_AGAIN_MS, signal);
      } catch (error) {
        if (signal.aborted || (error instanceof ApiError && error.status === 401)) return;
        this.#connected("lost");
        await pause(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)], signal);
      }
    }
  }

  async #follow(sessionId, signal) {
    let due = null;
    try {
      for await (const event of events(sessionId, this.#seen?.of === sessionId ? this.#seen.id : "", signal)) {
        this.#seen = { of: sessionId, id: event.id };
        // Events that come together are one change of the page.
        due ??= setTimeout(() => {
          due = null;
          this.refresh().catch(() => {});
        }, 60);
      }
    } finally {
      clearTimeout(due);
    }
  }

  async #beat(signal) {
    while (!signal.aborted) {
      await pause(BUSY_MS, signal);
      if (!signal.aborted && !document.hidden && BUSY.has(this.active?.state)) this.dispatchEvent(new Event("change"));
    }
  }

  #connected(state) {
    if (this.connection === state) return;
    this.connection = state;
    this.dispatchEvent(new Event("connection"));
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

export const live = new Live();
