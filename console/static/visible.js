/** Text with its unseen characters spelled out, where somebody decides on it. In JSON the spelling means the same. */

const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;

export function visible(text) {
  return String(text ?? "").replace(UNSEEN, (character) => (character === "\n" || character === "\t" ? character : spelled(character)));
}

function spelled(character) {
  return Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
}
