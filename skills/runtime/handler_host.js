// Runs a JavaScript handler in the confined process, and gives it its context (seed 000 L85-111).
//
// Speaks the protocol of handler_host.py over descriptors 4 (in) and 5 (out). What a handler may do is decided by the
// broker at the other end and by the operating system, never here.
"use strict";

const fs = require("fs");
const path = require("path");

const INWARD = 4;
const OUTWARD = 5;

class CallRefused extends Error {
  constructor(error) {
    super(error.message);
    this.name = error.code === "PERMISSION_DENIED" ? "PermissionDenied" : "CallRefused";
    this.code = error.code;
    this.refusal = error;
  }
}

let left = Buffer.alloc(0);
let number = 0;
const waiting = new Map();

function write(message) {
  const text = Buffer.from(JSON.stringify(message) + "\n");
  for (let done = 0; done < text.length; ) done += fs.writeSync(OUTWARD, text, done);
}

function line() {
  const end = left.indexOf(10);
  if (end < 0) return null;
  const text = left.subarray(0, end).toString("utf8");
  left = left.subarray(end + 1);
  return JSON.parse(text);
}

function first() {
  const part = Buffer.alloc(65536);
  for (;;) {
    const message = line();
    if (message !== null) return message;
    const size = fs.readSync(INWARD, part);
    if (size === 0) process.exit(0);
    left = Buffer.concat([left, part.subarray(0, size)]);
  }
}

function listen() {
  const stream = fs.createReadStream(null, { fd: INWARD, autoClose: false });
  stream.on("data", (part) => {
    left = Buffer.concat([left, part]);
    for (let reply = line(); reply !== null; reply = line()) {
      const { resolve, reject } = waiting.get(reply.reply) || {};
      waiting.delete(reply.reply);
      if (resolve === undefined) continue;
      if (reply.error) reject(new CallRefused(reply.error));
      else resolve(reply.value);
    }
  });
  stream.on("close", () => process.exit(0));
}

function call(service, method, args) {
  number += 1;
  const asked = new Promise((resolve, reject) => waiting.set(number, { resolve, reject }));
  // A call that nobody waits for may fail without ending the handler; the broker remembers it.
  asked.catch(() => {});
  write({ call: number, service, method, arguments: args });
  return asked;
}

function service(name) {
  return new Proxy({}, { get: (_, method) => (args) => call(name, method, args || {}) });
}

function contextOf(order) {
  const given = order.call;
  const own = {
    invocationId: order.invocation_id,
    idempotencyKey: order.idempotency_key,
    exec: (argv) => call("exec", "run", { argv }),
    callLog: Object.freeze({ write: (entry) => call("call_log", "write", { entry }) }),
    gateway: Object.freeze({
      post: (payload) => call("gateway", "post", { payload }),
      sendMessage: (message) => call("gateway", "send_message", { message }),
    }),
    call: Object.freeze({ id: given.id, callerId: given.caller_id, transcript: given.transcript }),
    operator: Object.freeze({ name: order.operator.name, telegramId: order.operator.telegram_id || undefined }),
    error: (code, message, details) => new CallRefused({ code, message, details: details || {} }),
  };
  return new Proxy(Object.freeze(own), {
    get: (target, name) => (typeof name === "symbol" || name === "then" || name in target ? target[name] : service(name)),
  });
}

function end(message) {
  let told = message;
  try {
    JSON.stringify(told);
  } catch (error) {
    told = { failure: { code: "OUTPUT_INVALID", message: "the answer is no JSON" } };
  }
  write(told);
  process.exit(0);
}

function fail(error) {
  if (error instanceof CallRefused) {
    const { code, message, retryable, retry_after_ms, details } = error.refusal;
    end({ failure: { code, message, retryable, retry_after_ms, details } });
  }
  console.error(error);
  const kind = error instanceof Error ? error.constructor.name : typeof error;
  end({ failure: { code: "HANDLER_FAILED", message: `the handler threw ${kind}` } });
}

process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

const order = first();
listen();
const exported = require(path.join(order.folder, order.entrypoint));
const handler = order.entry === "handle" && typeof exported === "function" ? exported : exported[order.entry];
if (typeof handler !== "function") {
  const message = `${order.entrypoint} exports no ${order.entry}(params, context)`;
  end({ failure: { code: "HANDLER_FAILED", message } });
}
(async () => handler(order.params, contextOf(order)))().then(
  (answer) => end({ answer: answer === undefined ? null : answer }),
  fail,
);
