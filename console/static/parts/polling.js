/** Looks again every few seconds while somebody is looking, and at once when they come back. */

const EVERY_MS = 3000;
const SOON_MS = 700;

export function poll(page) {
  const look = () => !document.hidden && page.refresh();
  const timer = setInterval(look, EVERY_MS);
  document.addEventListener("visibilitychange", look, { signal: page.signal });
  page.signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}

/** Looks again soon, for what is under way. */
export function lookAgain(page) {
  const timer = setTimeout(() => page.refresh(), SOON_MS);
  page.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
}
