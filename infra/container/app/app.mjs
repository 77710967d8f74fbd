// An application that mails its visitors, and shows what became of each mail. It uses SendGrid's library; only the
// address of the API is another one.
import { createServer } from 'node:http';
import client from '@sendgrid/client';
import mail from '@sendgrid/mail';

const { SENDGRID_API_KEY, SENDGRID_URL, WEBHOOK_URL, PORT = '8080' } = process.env;
client.setApiKey(SENDGRID_API_KEY);
if (SENDGRID_URL) client.setDefaultRequest('baseUrl', SENDGRID_URL); // after setApiKey
mail.setClient(client);

const events = [];

/** Sees to it that one webhook posts its events here. */
async function receiveEvents() {
  const path = '/v3/user/webhooks/event/settings';
  const [, { webhooks }] = await client.request({ method: 'GET', url: `${path}/all` });
  if (webhooks.some((webhook) => webhook.url === WEBHOOK_URL)) return;
  const body = { enabled: true, url: WEBHOOK_URL, processed: true, delivered: true, bounce: true, dropped: true };
  await client.request({ method: 'POST', url: path, body });
}

async function text(request) {
  let whole = '';
  for await (const piece of request.setEncoding('utf8')) whole += piece;
  return whole;
}

const PAGE = `<!doctype html><title>Welcome</title>
<form method="post" action="/welcome"><input name="to" type="email" required placeholder="you@example.com">
<button>Send the welcome mail</button></form><p><a href="/events">Events</a></p>`;

async function answer(request, response) {
  const route = `${request.method} ${request.url}`;
  if (route === 'GET /') {
    response.setHeader('Content-Type', 'text/html; charset=utf-8').end(PAGE);
  } else if (route === 'POST /welcome') {
    const to = new URLSearchParams(await text(request)).get('to');
    const [sent] = await mail.send({ to, from: 'app@example.com', subject: 'Welcome', text: 'Good to see you.' });
    response.end(`sent: ${sent.headers['x-message-id']}\n`);
  } else if (route === 'POST /events') {
    events.push(...JSON.parse(await text(request)));
    response.writeHead(204).end();
  } else if (route === 'GET /events') {
    const lines = events.map((event) => `${event.event} ${event.email} ${event.sg_message_id}\n`);
    response.setHeader('Content-Type', 'text/plain; charset=utf-8').end(lines.join(''));
  } else {
    response.writeHead(404).end();
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error.response?.body ?? error);
    response.writeHead(502).end('the mail was not sent\n');
  });
});
if (WEBHOOK_URL) await receiveEvents();
server.listen(PORT, () => console.log(`listening on port ${PORT}`));
process.once('SIGTERM', () => server.close(() => process.exit()));
