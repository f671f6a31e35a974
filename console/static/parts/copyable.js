import { announce, h } from "../dom.js";

const SHOWN_MS = 1600;

/** A command or id with a button that copies it. */
export function copyable(text, name = "command") {
  const shown = h("code", {}, words(text));
  const button = h("button", { type: "button", class: "copy", "aria-label": `Copy ${name}: ${text}` }, "Copy");
  button.addEventListener("click", async () => {
    const copied = await copy(text, shown);
    button.textContent = copied ? "Copied" : "Selected";
    announce(copied ? `Copied the ${name}` : `The ${name} is selected; copy it with the keyboard`);
    setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
  });
  return h("span", { class: "copyable" }, shown, button);
}

/** The text in words that stay on one line: a browser breaks `--hint` behind its hyphens. */
const words = (text) => text.split(/( )/).map((word) => (word.includes("-") ? h("span", { class: "word" }, word) : word));

async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Only a page served over https or from this machine may write to the clipboard.
    getSelection().selectAllChildren(shown);
    return false;
  }
}
