// The official Node clients against a running host: `--api`, `--mailbox`, `--key`.

import { parseArgs } from "node:util";

import { run } from "./harness.mjs";
import { Inbox } from "./inbox.mjs";
// Importing a module keeps its cases.
import "./people.mjs";
import "./content.mjs";
import "./errors.mjs";
import "./api.mjs";
import "./events.mjs";
import "./suppressions.mjs";
import "./templates.mjs";

const { values } = parseArgs({
  options: {
    api: { type: "string" },
    mailbox: { type: "string" },
    key: { type: "string" },
    case: { type: "string", default: "" },
  },
});
process.exitCode = (await run(values, new Inbox(values.mailbox))) ? 1 : 0;
