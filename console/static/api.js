/** Talks to the service. The access token lives in this tab alone and travels in a header, never in an address. */

const ROOT = new URL("api/", document.baseURI);
const TOKEN = "apprentice.token";
const PRINTABLE = /^[\x21-\x7e]+$/;

export class ApiError extends Error {
  constructor({ code, message, retryable, correlation_id: correlationId, ...extra }, status = 0) {
    super(message);
    Object.assign(this, { code, retryable, correlationId, status, extra });
  }
}

export const access = {
  get token() {
    return sessionStorage.getItem(TOKEN);
  },
  set token(value) {
    if (value) sessionStorage.setItem(TOKEN, value);
    else sessionStorage.removeItem(TOKEN);
  },
  /** Called when the service no longer takes the token. */
  onRefused: () => {},
};

/** A name nobody else uses. (crypto.randomUUID is missing on plain http.) */
export function uniqueName(prefix) {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `${prefix}-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** One request; the answer as it comes. Throws an ApiError with what the service said, whatever went wrong. */
export async function send(method, path, { body, headers = {}, signal, token = access.token } = {}) {
  if (!PRINTABLE.test(token ?? "")) throw new ApiError({ code: "UNAUTHENTICATED", message: "That is not an access token." });
  const correlationId = uniqueName("console");
  const all = { ...headers, "X-Correlation-Id": correlationId, Authorization: `Bearer ${token}` };
  const asItIs = body === undefined || body instanceof FormData || body instanceof Blob;
  // The browser itself says what a form or a blob is.
  if (!asItIs) all["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(new URL(path, ROOT), {
      method,
      headers: all,
      body: asItIs ? body : JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw unreachable(correlationId);
  }
  if (response.ok) return response;
  const failure = await failureOf(response, correlationId);
  if (response.status === 401 && token === access.token) access.onRefused();
  throw failure;
}

export async function get(path, options) {
  const response = await send("GET", path, options);
  return response.json();
}

/**
 * A function that sends a command, by POST unless it says otherwise. As long as it is not known whether the command arrived, the same one carries the
 * same key again, so that it never happens twice.
 */
export function command(name, method = "POST") {
  let pending = null;
  return async (path, body = method === "POST" ? {} : undefined) => {
    const content = JSON.stringify([path, body instanceof FormData ? [...body].map(filled) : body]);
    if (pending?.content !== content) pending = { content, key: uniqueName(name) };
    try {
      const response = await send(method, path, { body, headers: { "Idempotency-Key": pending.key } });
      pending = null;
      return await response.json();
    } catch (error) {
      if (!error.retryable) pending = null;
      throw error;
    }
  };
}

/** What tells one field of a form from another; of a file, what the browser knows without reading it. */
function filled([name, value]) {
  return [name, value instanceof File ? [value.name, value.size, value.lastModified] : value];
}

function unreachable(correlationId) {
  return new ApiError({
    code: "UNREACHABLE",
    message: "The service does not answer.",
    retryable: true,
    correlation_id: correlationId,
  });
}

async function failureOf(response, correlationId) {
  try {
    return new ApiError((await response.json()).error, response.status);
  } catch {
    const message = `The service answered with status ${response.status}.`;
    const retryable = response.status >= 500;
    return new ApiError({ code: "UNREADABLE", message, retryable, correlation_id: correlationId }, response.status);
  }
}
