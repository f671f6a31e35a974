/**
 * Packs folders that a person chose into one gzip'd tar archive, as trials take them.
 *
 * A browser tells names, contents and times of files. Empty folders and links it does not tell, nor permissions: what
 * begins with `#!` is made executable.
 */

import { ApiError } from "./api.js";

/** As the service takes them (contracts/learning/trials.py). */
const MOST_FILES = 5_000;
const MOST_BYTES = 64 * 1024 * 1024;
const BLOCK = 512;
const TYPE = "application/gzip";

const encoder = new TextEncoder();

/** The archive of `folders`, pairs of where a folder lies in it and the files that were chosen; "." is the archive's own. */
export async function packed(folders) {
  const files = folders.flatMap(([place, chosen]) => [...chosen].map((file) => ({ name: nameOf(place, file), file })));
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (files.length > MOST_FILES) throw tooLarge(`It has ${files.length} files; at most ${MOST_FILES} are taken.`);
  if (bytes > MOST_BYTES) throw tooLarge(`Its files hold ${Math.ceil(bytes / 1024 ** 2)} MiB; at most ${MOST_BYTES / 1024 ** 2} are taken.`);
  const members = await Promise.all(files.map(member));
  const whole = new Blob([...members.flat(), new Uint8Array(2 * BLOCK)]);
  const zipped = await new Response(whole.stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
  return new Blob([zipped], { type: TYPE });
}

/** The browser names the chosen folder first. */
function nameOf(place, file) {
  const below = file.webkitRelativePath.split("/").slice(1).join("/");
  return place === "." ? below : `${place}/${below}`;
}

async function member({ name, file }) {
  const script = (await file.slice(0, 2).text()) === "#!";
  const path = encoder.encode(name);
  const plain = path.length <= 100 && path.length === name.length;
  const header = block({ path: plain ? path : encoder.encode("long-name"), size: file.size, mode: script ? 0o755 : 0o644, time: file.lastModified, type: "0" });
  return [...(plain ? [] : longName(path)), header, file, padding(file.size)];
}

/** An extended header (pax): the name of the member behind it, of any length and in any script. */
function longName(path) {
  const record = ` path=`.length + path.length + 1;
  let length = record + 1;
  while (String(length).length + record !== length) length = String(length).length + record;
  const content = [encoder.encode(`${length} path=`), path, encoder.encode("\n")];
  return [block({ path: encoder.encode("pax"), size: length, mode: 0o644, time: 0, type: "x" }), ...content, padding(length)];
}

/** The header of a member, by POSIX ustar: numbers as octal text, and a sum over all bytes. */
function block({ path, size, mode, time, type }) {
  const header = new Uint8Array(BLOCK);
  const put = (at, text) => header.set(encoder.encode(text), at);
  const number = (at, width, value) => put(at, value.toString(8).padStart(width - 1, "0"));
  header.set(path, 0);
  number(100, 8, mode);
  number(108, 8, 0);
  number(116, 8, 0);
  number(124, 12, size);
  number(136, 12, Math.max(0, Math.floor(time / 1000)));
  put(148, " ".repeat(8));
  put(156, type);
  put(257, "ustar\u000000");
  number(148, 7, header.reduce((sum, byte) => sum + byte, 0));
  header[154] = 0;
  return header;
}

const padding = (size) => new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);

function tooLarge(message) {
  return new ApiError({ code: "PAYLOAD_TOO_LARGE", message, retryable: false });
}
