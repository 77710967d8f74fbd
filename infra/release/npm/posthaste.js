#!/usr/bin/env node
'use strict';
// Runs the binary that the package of this platform carries. That package is an optional dependency, so npm installs
// the one that fits and leaves the others out.
const { spawn } = require('node:child_process');

const carrier = `posthaste-server-${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${carrier}/bin/posthaste`);
} catch {
  console.error(`posthaste: ${carrier} is not installed; without it there is no binary for this platform`);
  process.exit(1);
}

const child = spawn(binary, process.argv.slice(2), { stdio: 'inherit' });
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const pass = (signal) => child.kill(signal);
for (const signal of signals) process.on(signal, pass);

child.on('error', (error) => {
  console.error(`posthaste: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  for (const name of signals) process.off(name, pass);
  process.kill(process.pid, signal);
});
