// Compares answers with the client's own types, read out of its declarations.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/** The bodies of the interfaces of a file of declarations, by name, with what each extends. */
function interfaces(file) {
  const text = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  const found = new Map();
  for (const head of text.matchAll(/interface (\w+)(?: extends ([\w, ]+))? \{/g)) {
    const body = text.slice(head.index + head[0].length);
    found.set(head[1], { body: body.slice(0, end(body)), bases: (head[2] ?? "").split(/, ?/).filter(Boolean) });
  }
  return found;
}

/** Where the brace that is open at the beginning of a text closes. */
function end(text) {
  let depth = 1;
  for (let at = 0; at < text.length; at += 1) {
    if ("{[(".includes(text[at])) depth += 1;
    if ("}])".includes(text[at])) depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error("a declaration does not end");
}

/** The members of a body: name, whether it may be missing, type. */
function members(body) {
  const found = [];
  let rest = body.trim();
  while (rest) {
    const head = rest.match(/^(\[\w+: string\]|\w+)(\?)?:\s*/);
    assert.ok(head, `not understood: ${rest.slice(0, 60)}`);
    rest = rest.slice(head[0].length);
    let depth = 0;
    let at = 0;
    while (at < rest.length && !(depth === 0 && rest[at] === ";")) {
      if ("{[(".includes(rest[at])) depth += 1;
      if ("}])".includes(rest[at])) depth -= 1;
      at += 1;
    }
    found.push({ name: head[1], optional: head[2] === "?", type: rest.slice(0, at).trim() });
    rest = rest.slice(at + 1).trim();
  }
  return found;
}

/** Types of a package, which values are compared with. */
export class Shapes {
  constructor(file) {
    this.known = interfaces(file);
  }

  /** Fails where the value is not of the type. */
  check(value, type, place = type) {
    const choices = split(type);
    if (choices.length > 1) {
      const fits = choices.some((one) => !fails(() => this.check(value, one, place)));
      return assert.ok(fits, `${place} is not ${type}: ${JSON.stringify(value)}`);
    }
    const list = type.match(/^([\s\S]+)\[\]$/) ?? type.match(/^\[(\w+)\]$/);
    if (list) {
      assert.ok(Array.isArray(value), `${place} is no array: ${JSON.stringify(value)}`);
      return value.forEach((one) => this.check(one, list[1].trim(), `${place}[]`));
    }
    if (type.startsWith("{")) return this.object(value, members(type.slice(1, -1)), place);
    if (this.known.has(type)) return this.object(value, this.members(type), place);
    if (/^["'].*["']$/.test(type)) return assert.equal(value, type.slice(1, -1), place);
    if (type === "null") return assert.equal(value, null, place);
    return assert.equal(typeof value, type, place);
  }

  members(name) {
    const { body, bases } = this.known.get(name);
    return [...bases.flatMap((base) => this.members(base)), ...members(body)];
  }

  object(value, fields, place) {
    assert.ok(value && typeof value === "object" && !Array.isArray(value), `${place} is no object`);
    for (const { name, optional, type } of fields) {
      if (name.startsWith("[")) {
        Object.entries(value).forEach(([key, one]) => this.check(one, type, `${place}.${key}`));
      } else if (!(optional && value[name] === undefined)) {
        assert.ok(name in value, `${place} has no ${name}`);
        this.check(value[name], type, `${place}.${name}`);
      }
    }
  }
}

function fails(run) {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}

/** The members of a union, outside of braces. */
function split(type) {
  const parts = [];
  let depth = 0;
  let part = "";
  for (const letter of type) {
    if ("{[(".includes(letter)) depth += 1;
    if ("}])".includes(letter)) depth -= 1;
    if (letter === "|" && depth === 0) {
      parts.push(part.trim());
      part = "";
    } else {
      part += letter;
    }
  }
  return [...parts, part.trim()].filter(Boolean);
}
