// Bodies for Mailgen; each is rendered with the theme named beside it.
const product = { name: 'Lantern', link: 'https://lantern.example.test/?a=1&b=2', copyright: '© Lantern' }
const action = (text, link) => ({ instructions: 'Press the button:', button: { color: '#22BC66', text, link } })
export const mails = {
  'welcome': ['default', product, { body: { name: 'Ann', intro: 'Welcome!', action: action('Confirm', 'https://lantern.example.test/confirm?s=d9729f&x=1'), outro: 'Need help? Reply.' } }],
  'reset': ['salted', product, { body: { name: "Ann O'Neil", intro: 'You asked for a new password.', action: action('Reset', 'https://lantern.example.test/reset?s=b350163a'), outro: 'Ignore this if it was not you.' } }],
  'receipt': ['cerberus', product, { body: { name: 'Bo', intro: 'Your order is on its way.', table: { data: [{ item: 'Wick', price: '$1' }, { item: 'Oil & Co', price: '$2' }], columns: { customWidth: { item: '20%' }, customAlignment: { price: 'right' } } }, action: action('Track', 'https://lantern.example.test/o/1?c=2&d=3') } }],
  'notice': ['neopolitan', product, { body: { title: 'Maintenance', intro: ['Down on Sunday.', 'Up on Monday.'], dictionary: { date: '27 Nov', host: 'lantern.example.test' }, goToAction: { text: 'Status', link: 'https://status.example.test/', description: 'See status' } } }],
  'right-to-left': ['default', { ...product, name: 'فانوس' }, { body: { name: 'آن', intro: 'أهلاً', action: action('تأكيد', 'https://lantern.example.test/ok') } }, 'rtl'],
}
