/** Looks again every few seconds while somebody is looking, and at once when they come back. */

const EVERY_MS = 3000;
const SOON_MS = 700;

export function poll(page) {
  const look = () => !document.hidden && page.refresh();
  const timer = setInterval(look, EVERY_MS);
  document.addEventListener("visibilitychange", look, { signal: page.signal });
  page.signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}

const soon = new WeakMap();

/** Looks again soon, for what is under way: once, however often it was asked for meanwhile. */
export function lookAgain(page) {
  if (page.signal.aborted) return;
  if (!soon.has(page)) page.signal.addEventListener("abort", () => clearTimeout(soon.get(page)), { once: true });
  clearTimeout(soon.get(page));
  soon.set(page, setTimeout(() => page.refresh(), SOON_MS));
}
