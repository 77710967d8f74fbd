// Mails of React Email components, written without JSX so that nothing has to be transpiled.
import { createElement as h } from 'react'
import * as R from '@react-email/components'

const page = (preview, ...children) =>
  h(R.Html, { lang: 'en' }, h(R.Head), h(R.Preview, null, preview), h(R.Body, { style: { fontFamily: 'sans-serif' } }, h(R.Container, null, ...children)))
const text = (...children) => h(R.Text, { style: { fontSize: 14 } }, ...children)
const link = (href, words, more = {}) => h(R.Link, { href, ...more }, words)
const button = (href, words) => h(R.Button, { href, style: { background: '#000', color: '#fff', padding: '12px 20px' } }, words)

export const mails = {
  'welcome': page('Hello', h(R.Img, { src: 'https://cdn.example.test/l.png', width: 40, height: 40, alt: 'Logo' }), text('Welcome & hello "you".'), button('https://app.example.test/start?plan=pro&seat=2', 'Get started')),
  'magic-link': page('Log in', h(R.Heading, null, 'Log in'), link('https://app.example.test/magic?token=a-b_c', 'Click here', { clicktracking: 'off' }), text('or paste ', h('code', null, 'sparo-ndigo'))),
  'code': page('Your code', h(R.Section, null, h(R.Text, { style: { fontSize: 32, letterSpacing: 6 } }, '144833')), text('Not you? ', link('https://app.example.test/report', 'Report it'))),
  'receipt': page('Receipt', h(R.Section, null, ...[1, 2, 3].map((n) => h(R.Row, { key: n }, h(R.Column, null, link(`https://shop.example.test/item/${n}?ref=mail&n=${n}`, `Item ${n}`)), h(R.Column, { align: 'right' }, `$${n}.00`)))), h(R.Hr), text('Total $6.00')),
  'invite': page('Join', text('Bo (', link('mailto:bo@example.test', 'bo@example.test'), ') invites you.'), button("https://team.example.test/join/O'Neil?a=1&b=2", 'Join'), text('or open ', link('https://team.example.test/join', 'https://team.example.test/join'))),
  'digest': page('This week', ...Array.from({ length: 12 }, (_, n) => h(R.Section, { key: n }, h(R.Heading, { as: 'h3' }, `Story ${n}`), text('…', link(`https://blog.example.test/${n}?utm_source=own&x=${n}#more`, 'more'))))),
  'markdown': page('Notes', h(R.Markdown, null, '# Notes\n\n* [one](https://notes.example.test/1?a=1&b=2)\n* [two](https://notes.example.test/2)\n\n`code` and **bold** <b>raw</b>\n')),
  'code-block': page('Snippet', h(R.CodeBlock, { code: 'const a = "<a href=\\"https://code.example.test\\">";', language: 'javascript', theme: R.dracula }), link('https://docs.example.test/', 'Docs')),
  'tailwind': h(R.Html, null, h(R.Tailwind, null, h(R.Head), h(R.Body, { className: 'bg-white my-auto mx-auto font-sans' }, h(R.Container, { className: 'border border-solid rounded p-5' }, h(R.Link, { className: 'text-blue-600 no-underline', href: 'https://tw.example.test/?q=1&r=2' }, 'Tailwind'), h(R.Button, { className: 'bg-black text-white px-5 py-3', href: 'https://tw.example.test/b' }, 'Go'))))),
  'fonts': h(R.Html, { dir: 'ltr' }, h(R.Head, null, h(R.Font, { fontFamily: 'Roboto', fallbackFontFamily: 'Verdana', webFont: { url: 'https://fonts.example.test/r.woff2', format: 'woff2' } })), h(R.Body, null, text(link('#a', 'Anchor'), ' ', link('/relative', 'Relative'), ' ', link('https://fonts.example.test/about', 'Absolute')))),
  'right-to-left': h(R.Html, { dir: 'rtl', lang: 'he' }, h(R.Head), h(R.Body, null, text('שלום ', link('https://example.test/עברית?א=ב&ג=ד', 'קישור')))),
}
