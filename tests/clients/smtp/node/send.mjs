// Nodemailer: reads `{transport, mails}` as JSON from standard input, sends the mails over one
// connection and prints the server's answers as JSON.

import { createTransport } from "nodemailer";

let text = "";
for await (const piece of process.stdin) text += piece;
const { transport, mails } = JSON.parse(text);
const transporter = createTransport({ ...transport, pool: true, maxConnections: 1 });
const answers = [];
for (const mail of mails) {
  try {
    answers.push((await transporter.sendMail(mail)).response);
  } catch (why) {
    answers.push(why.response ?? String(why));
  }
}
transporter.close();
console.log(JSON.stringify(answers));
