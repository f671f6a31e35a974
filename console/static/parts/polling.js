/** Looks again every few seconds while somebody is looking, and at once when they come back. */

const EVERY_MS = 3000;

export function poll(page) {
  const look = () => !document.hidden && page.refresh();
  const timer = setInterval(look, EVERY_MS);
  document.addEventListener("visibilitychange", look, { signal: page.signal });
  page.signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}
