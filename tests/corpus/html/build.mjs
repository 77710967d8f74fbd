// Compiles every source into compiled/<builder>/<name>.html. Run `npm ci && npm run build` here.
import { mkdirSync, readFileSync, readdirSync, writeFileSync, rmSync } from 'node:fs'
import mjml2html from 'mjml'
import { Inky } from 'inky'
import juice from 'juice'
import Mailgen from 'mailgen'
import * as cheerio from 'cheerio'
import { render as maizzle } from '@maizzle/framework'
import { render as reactEmail } from '@react-email/components'
import { mails as reactMails } from './sources/react-email/mails.mjs'
import { mails as mailgenMails } from './sources/mailgen/mails.mjs'

const write = (builder, name, html) => {
  mkdirSync(`compiled/${builder}`, { recursive: true })
  writeFileSync(`compiled/${builder}/${name}.html`, html)
}
const sources = (builder, ending) =>
  readdirSync(`sources/${builder}`).filter((f) => f.endsWith(ending)).sort()
    .map((f) => [f.slice(0, -ending.length), readFileSync(`sources/${builder}/${f}`, 'utf8')])

rmSync('compiled', { recursive: true, force: true })
for (const [name, source] of sources('mjml', '.mjml')) {
  const { html, errors } = await mjml2html(source, { keepComments: true, minify: false })
  if (errors.length) throw new Error(`${name}: ${errors[0].formattedMessage}`)
  write('mjml', name, html)
}
const { html: minified } = await mjml2html(readFileSync('sources/mjml/newsletter.mjml', 'utf8'), { minify: true, beautify: false })
write('mjml', 'newsletter-minified', minified)

for (const [name, source] of sources('maizzle', '.html')) {
  const { html } = await maizzle(source, { css: { inline: true, purge: true, shorthand: true }, prettify: false })
  write('maizzle', name, html)
}
for (const [name, element] of Object.entries(reactMails)) {
  write('react-email', name, await reactEmail(element, { pretty: name === 'digest' }))
}
const css = readFileSync('node_modules/foundation-emails/dist/foundation-emails.css', 'utf8')
for (const [name, source] of sources('inky', '.html')) {
  const page = `<!DOCTYPE html><html><head><meta charset="utf-8"><title>${name}</title></head><body><table class="body"><tr><td class="center" align="center" valign="top"><center>${source}</center></td></tr></table></body></html>`
  const html = new Inky({}).releaseTheKraken(cheerio.load(page))
  write('inky', name, juice.inlineContent(html, css))
}
for (const [name, [theme, product, mail, direction]] of Object.entries(mailgenMails)) {
  write('mailgen', name, new Mailgen({ theme, product, textDirection: direction ?? 'ltr' }).generate(mail))
}
