// Writes cases.json: templates made by a seeded generator, and what Handlebars itself makes of them.
// Run `npm ci && npm run generate` here; the output is the same every time.
import { writeFileSync } from 'node:fs'
import Handlebars from 'handlebars'

// Our escape set leaves ` and = alone (API facts 2.7 names five characters).
Handlebars.Utils.escapeExpression = (value) => {
  if (value && value.toHTML) return value.toHTML()
  if (value === null || value === undefined) return ''
  return String(value)
    .replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;').replaceAll("'", '&#x27;')
}

const data = {
  z: 'A<&>"\'', a: 'top', b: '', c: 0, d: 42, e: true, f: false, g: null, h: 1.5, i: -3,
  l: [1, 2, 3], m: { y: 'inner', a: 'in m', b: { c: 'deep' } }, n: [], o: [{ a: 1 }, { b: 2, l: [7, 8] }],
  t: ['x', ['y', 'w'], null],
}

// mulberry32
let state = 20261127
const random = () => {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}
const pick = (list) => list[Math.floor(random() * list.length)]
const chance = (p) => random() < p

const text = () => pick(['', ' ', '\n', '  \n', '\n  ', '\t\n', 'x', 'x\n', ' x ', '\r\n', '<p>', '}', '{', '\n\n', 'y\n  '])
const path = (loops) => pick([
  'z', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'l', 'm', 'n', 'o', 't', 'm.y', 'm.b.c', 'm/a', 'l.0', 'l.[1]',
  'l.length', 'a.length', 'o.0.a', 'o.1.l.0', 'zz', 'm.zz', 'g.x', 'this.a', './a', '@root.a', '@root.m.b.c', '[a]', 'm.[b].c',
  ...(loops ? ['this', 'this.a', '@index', '@first', '@last', '@key', '../a', '../d', '../m.y', '@../index', 'v', 'k', 'v.a'] : []),
])
const tilde = () => (chance(0.15) ? '~' : '')

function node(depth, loops) {
  const kind = random()
  if (depth === 0 || kind < 0.4) return text()
  if (kind < 0.6) {
    const raw = chance(0.3)
    return raw ? `{{{${path(loops)}}}}` : `{{${tilde()}${path(loops)}${tilde()}}}`
  }
  if (kind < 0.68) return `{{${tilde()}${pick(['! note ', '!-- a }} b --'])}${tilde()}}}`
  if (kind < 0.71) return pick(['\\{{a}}', '\\\\{{a}}', '{{&z}}', '{{^n}}none{{/n}}', '{{^a}}none{{/a}}'])
  const name = pick(['if', 'unless', 'each', 'each', 'with', 'm', 'o', 'e', 'l'])
  const scoped = name === 'each'
  const names = scoped && chance(0.3) ? ' as |v k|' : ''
  const arg = ['if', 'unless', 'each', 'with'].includes(name) ? ` ${path(loops)}` : ''
  let inner = body(depth - 1, loops || scoped)
  if (name === 'if' && chance(0.3)) inner += `{{${tilde()}else if ${path(loops)}${tilde()}}}${body(depth - 1, loops)}`
  if (arg && chance(0.4)) inner += `{{${tilde()}${pick(['else', '^'])}${tilde()}}}${body(depth - 1, loops)}`
  return `{{${tilde()}#${name}${arg}${names}${tilde()}}}${inner}{{${tilde()}/${name}${tilde()}}}`
}
function body(depth, loops) {
  let out = ''
  for (let i = Math.floor(random() * 4); i > 0; i--) out += node(depth, loops)
  return out
}

const cases = []
while (cases.length < 1500) {
  const template = body(3, false)
  if (!template.includes('{{')) continue
  let out
  try {
    out = Handlebars.compile(template, { strict: false })(data)
  } catch (error) {
    continue
  }
  cases.push([template, out])
}
// What the generator does not write.
const chosen = [
  '{{./.}}', '{{././a}}', '{{./this}}', '{{this/.}}', '{{this.this}}', '{{../.}}', '{{./../a}}',
  '{{#each l}}{{./.}}{{./this}}{{../.}};{{/each}}', '{{#each o}}{{.././a}}{{./../a}}{{../this.a}};{{/each}}',
  '{{#with m}}{{./.././a}}{{./b.c}}{{.././m/./../a}}{{/with}}', '{{l.01}}{{l.[+1]}}{{l.[0]}}',
  '{{lookup m "y"}}{{lookup l 0}}{{lookup l "1"}}{{lookup l 1.0}}', '{{lookup l -1}}{{lookup l "01"}}{{lookup l l}}',
  '{{lookup zz a}}{{lookup m zz}}{{lookup m g}}{{lookup g "x"}}{{lookup b 0}}', '{{lookup c "x"}} {{lookup f 1}}',
  '{{lookup a 0}}{{lookup a "length"}}{{lookup "abc" 1}}{{lookup l "length"}}', '{{lookup (lookup t 1) 0}}',
  '{{#each o}}{{lookup ../l @index}}{{/each}}', '{{#each (lookup t 1)}}{{this}},{{/each}}', '{{lookup . "a"}}{{lookup this "a"}}',
  '{{#with (lookup o 1)}}{{b}}{{/with}}', '{{#if (lookup m "z")}}y{{else}}n{{/if}}', '{{{lookup . "z"}}}{{lookup . "z"}}',
  ...['c', 'zz', 'b', 'f', 'g', 'n', '0', '-0', 'd', 'l.length', 'n.length'].flatMap((value) =>
    ['true', 'false', 'e', 'f', 'zz', '"false"', '(lookup l 0)'].flatMap((zero) => [
      `{{#if ${value} includeZero=${zero}}}y{{else}}n{{/if}}`,
      `{{#unless ${value} includeZero=${zero}}}y{{else}}n{{/unless}}`,
    ])),
  '{{#if f}}a{{else if c includeZero=true}}b{{else}}c{{/if}}',
  ...['b', 'c', 'f', 'g', 'n', 'zz', 'd', 'm'].flatMap((name) => [
    `{{#with ${name}}}[{{this}}]{{else}}none{{/with}}`,
    `{{#${name}}}[{{this}}]{{else}}none{{/${name}}}{{^${name}}}none{{/${name}}}`,
  ]),
]
// White space around the tags of an `else if` chain.
const blanks = ['', ' ', '\n', '\n  ', ' \n', 'x\n', '\nx']
for (let n = 0; n < 400; n++) {
  const gap = () => pick(blanks)
  let chain = `{{#if ${pick(['f', 'a', 'b'])}}}${gap()}1${gap()}`
  for (let arms = 1 + Math.floor(random() * 3); arms > 0; arms--) {
    chain += `{{${tilde()}else if ${pick(['f', 'a', 'b'])}${tilde()}}}${gap()}${pick(['2', ''])}${gap()}`
  }
  if (chance(0.5)) chain += `{{else}}${gap()}3${gap()}`
  chain += `{{${tilde()}/if${tilde()}}}`
  const inner = `${gap()}${chain}${gap()}4${gap()}`
  chosen.push(chance(0.6) ? `{{#each o}}${inner}{{/each}}.` : inner)
}
for (const template of chosen) {
  let out
  try {
    out = Handlebars.compile(template)(data)
  } catch (error) {
    continue
  }
  cases.push([template, out])
}
const lines = cases.map((one) => JSON.stringify(one)).join(',\n')
writeFileSync('cases.json', `{"data":${JSON.stringify(data)},\n"cases":[\n${lines}\n]}\n`)
