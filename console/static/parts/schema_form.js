/** A form made from the JSON schema of a skill's input: a field for each of its names, with its bounds in words. */

import { h } from "../dom.js";

const LONG_TEXT = 200;

/** `element` is the fields; `read()` gives the input or throws; `refuse(fields)` shows what the service says of them. */
export function schemaForm(schema, prefix) {
  const required = new Set(schema.required ?? []);
  const known = schema.properties ?? {};
  // The order that the skill's author gave to what is required, then the rest.
  const names = new Set([...[...required].filter((name) => name in known), ...Object.keys(known)]);
  const fields = [...names].map((name) => field(prefix, name, known[name], required.has(name)));
  const empty = !fields.length && h("p", { class: "hint" }, "It takes no input.");
  return {
    element: h("div", { class: "schema-form" }, fields.map(({ block }) => block), empty),
    read() {
      const input = {};
      for (const { name, value, refuse } of fields) {
        refuse(null);
        let given;
        try {
          given = value();
        } catch (error) {
          refuse(error.message, true);
          throw new Error(`${name}: ${error.message}`);
        }
        if (given !== undefined) input[name] = given;
      }
      return input;
    },
    refuse(refused) {
      let first = true;
      for (const { path, problem } of refused ?? []) {
        const found = fields.find(({ name }) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
        found?.refuse(path === found.name ? problem : `${path}: ${problem}`, first);
        if (found) first = false;
      }
    },
  };
}

function field(prefix, name, rules, required) {
  const id = `${prefix}-${name}`;
  const { input, value } = control(id, name, rules, required);
  const hint = [rules.description, bounds(rules)].filter(Boolean).join(" ");
  const label = h("label", { for: id }, h("code", {}, name), required ? "" : " (optional)");
  return { name, value, ...describedField(label, input, hint) };
}

/** A field with a hint, and room for what is wrong with it: `refuse(text, focus)` says that, and of null nothing. */
export function describedField(label, input, hint) {
  const { id } = input;
  const problem = h("p", { class: "field-problem", id: `${id}-problem`, hidden: true });
  input.setAttribute("aria-describedby", [hint && `${id}-hint`, `${id}-problem`].filter(Boolean).join(" "));
  const refuse = (text, focus = false) => {
    problem.hidden = !text;
    problem.textContent = text ?? "";
    if (text) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
    if (text && focus) input.focus();
  };
  return { refuse, block: h("div", { class: "field" }, label, input, hint && h("p", { class: "hint", id: `${id}-hint` }, hint), problem) };
}

function control(id, name, rules, required) {
  const type = Array.isArray(rules.type) ? rules.type.find((one) => one !== "null") : rules.type;
  const start = rules.default;
  if (rules.enum || type === "boolean") return choice(id, rules.enum ?? [true, false], required, start);
  if (type === "integer" || type === "number") {
    const input = h("input", { id, type: "number", step: type === "integer" ? "1" : "any", min: rules.minimum, max: rules.maximum, required, value: start });
    return { input, value: () => (input.value === "" ? undefined : Number(input.value)) };
  }
  if (type === "string") {
    const own = rules.format === "uuid" && name.endsWith("key") ? freshId() : start;
    const attributes = { id, required, minlength: rules.minLength, maxlength: rules.maxLength, placeholder: rules.examples?.[0], autocomplete: "off", spellcheck: "false" };
    const long = (rules.maxLength ?? 0) > LONG_TEXT;
    const input = long ? h("textarea", { ...attributes, rows: 3, value: own }) : h("input", { ...attributes, type: "text", value: own });
    return { input, value: () => (input.value === "" ? undefined : input.value) };
  }
  const text = start === undefined ? "" : JSON.stringify(start, null, 2);
  const example = type === "array" ? "[…]" : type === "object" ? "{…}" : "JSON";
  const input = h("textarea", { id, class: "code", rows: 4, required, spellcheck: "false", placeholder: example, value: text });
  return { input, value: () => (input.value.trim() === "" ? undefined : parsed(input.value)) };
}

function choice(id, values, required, start) {
  const options = [!required && h("option", { value: "" }, "Leave it out"), ...values.map((one, at) => h("option", { value: String(at + 1) }, String(one)))];
  const input = h("select", { id, required }, options);
  const at = values.indexOf(start);
  if (at >= 0) input.value = String(at + 1);
  return { input, value: () => (input.value === "" ? undefined : values[Number(input.value) - 1]) };
}

function bounds(rules) {
  const said = [
    rules.minLength > 0 && `At least ${rules.minLength} characters.`,
    rules.maxLength !== undefined && `At most ${rules.maxLength} characters.`,
    rules.minimum !== undefined && `At least ${rules.minimum}.`,
    rules.maximum !== undefined && `At most ${rules.maximum}.`,
    rules.maxItems !== undefined && `At most ${rules.maxItems} items.`,
    rules.pattern && `It matches ${rules.pattern}.`,
    rules.format && `A ${rules.format}.`,
    rules.type === "array" && "A list, as JSON.",
    rules.type === "object" && "An object, as JSON.",
  ];
  return said.filter(Boolean).join(" ");
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is no JSON: ${error.message}`);
  }
}

/** A random UUID: each form is one wish. (crypto.randomUUID is missing on plain http.) */
function freshId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
