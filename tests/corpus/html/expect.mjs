// Writes links.json: which links of each mail may be tracked, found with parse5 (the parser of jsdom),
// not with the parser under test. Run `npm ci && npm run expect` here.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { parse } from 'parse5'

const files = ['hand', 'compiled'].flatMap((folder) =>
  readdirSync(folder, { recursive: true }).filter((f) => f.endsWith('.html')).map((f) => `${folder}/${f}`)).sort()

// Quoted, no blanks around the sign, not opted out, a web URL that anybody could follow.
function target(element, html) {
  const at = element.sourceCodeLocation?.startTag?.attrs?.href ?? element.sourceCodeLocation?.attrs?.href
  if (!at) return
  if (!/^href=["']/i.test(html.slice(at.startOffset, at.endOffset))) return
  const attr = (name) => element.attrs.find((a) => a.name === name)?.value
  if (attr('clicktracking')?.trim().toLowerCase() === 'off') return
  const value = attr('href').trimEnd()
  if (!/^https?:\/\//i.test(value) || /[\u0000-\u001f\u007f-\u009f]/.test(value)) return
  if (Buffer.byteLength(value) > 4096) return
  return URL.canParse(value) ? [at.startOffset, value] : undefined
}

function links(node, html, found) {
  for (const child of node.childNodes ?? []) links(child, html, found)
  if (node.content) links(node.content, html, found)
  if (node.tagName === 'a') {
    const link = target(node, html)
    // Misnested anchors are cloned by the parser; the place in the text tells clones apart.
    if (link) found.set(link[0], link[1])
  }
  return found
}

const out = {}
for (const file of files) {
  const html = readFileSync(file, 'utf8')
  const found = links(parse(html, { sourceCodeLocationInfo: true }), html, new Map())
  out[file] = { tracked: [...found].sort(([a], [b]) => a - b).map(([, url]) => url) }
}
writeFileSync('links.json', JSON.stringify(out, null, 1) + '\n')
