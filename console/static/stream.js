/** Server-Sent Events over fetch, since EventSource cannot send the header that carries the token. */

import { send } from "./api.js";

/**
 * The events of a session after `after`, as `{id, event, data}`, until the service ends the stream.
 * It throws an ApiError when the stream cannot be opened, and whatever breaks it later.
 */
export async function* events(sessionId, after, signal) {
  const headers = { Accept: "text/event-stream" };
  if (after) headers["Last-Event-ID"] = after;
  const path = `learn/sessions/${encodeURIComponent(sessionId)}/events`;
  const response = await send("GET", path, { headers, signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const frames = (rest + value).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const event = parse(frame);
      if (event) yield event;
    }
  }
}

/** One frame, or nothing when it is a comment or only sets the interval. */
export function parse(frame) {
  const event = { id: "", event: "message", data: "" };
  for (const line of frame.split("\n")) {
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (field === "data") event.data += event.data ? `\n${value}` : value;
    else if (field in event) event[field] = value;
  }
  return event.data ? event : null;
}
