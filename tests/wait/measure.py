#!/usr/bin/env python3
"""Waits for mails through a built binary, and says how many waits went wrong and how long the answers took.

    tests/wait/measure.py target/release/posthaste [--runs 10000] [--workers 8]

Each run sends a mail with a code of its own to an address of its own, and takes the code from the answer of
`GET /api/v1/wait`. Every second wait begins before its mail is sent. A run is wrong when its answer is not the mail
with this code: nothing is tried again. The time is that from the mail's arrival at the mailbox (`Created`, of whole
milliseconds) until the answer was read.
"""

import argparse
import datetime
import http.client
import json
import random
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse


def start(binary):
    """A host in memory on free ports, and where it listens."""
    ports = ("port", "mailbox-port", "smtp-port", "submission-port", "no-login-port")
    flags = [f"--{name}=0" for name in ports]
    process = subprocess.Popen(
        [binary, "--memory", "--json", "--quiet", *flags], stdout=subprocess.PIPE, text=True
    )
    return process, json.loads(process.stdout.readline())


def connect(url):
    where = urllib.parse.urlsplit(url)
    return http.client.HTTPConnection(where.hostname, where.port)


def send(api, key, address, code):
    mail = {
        "personalizations": [{"to": [{"email": address}]}],
        "from": {"email": "app@example.com"},
        "subject": f"{code} is your code",
        "content": [{"type": "text/plain", "value": f"Your code is {code}."}],
    }
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    api.request("POST", "/v3/mail/send", json.dumps(mail), headers)
    answer = api.getresponse()
    text = answer.read()
    if answer.status != 202:
        raise RuntimeError(f"mail/send: {answer.status} {text!r}")


def run(api, mailbox, key, number, code):
    """One run: seconds from arrival to answer, or what was wrong."""
    address = f"run{number}@x.example"
    query = urllib.parse.urlencode({"query": f"to:{address}", "timeout": "60s"})
    path = f"/api/v1/wait?{query}"
    if number % 2:
        mailbox.request("GET", path)
        send(api, key, address, code)
    else:
        send(api, key, address, code)
        mailbox.request("GET", path)
    answer = mailbox.getresponse()
    body = answer.read()
    now = time.time()
    if answer.status != 200:
        return None, f"run {number}: {answer.status} {body!r}"
    found = json.loads(body)
    codes = [one["Code"] for one in found["Codes"]]
    if codes != [code] or found["To"][0]["Address"] != address:
        return None, f"run {number}: {codes} for {found['To']}, expected {code}"
    arrived = datetime.datetime.fromisoformat(found["Created"].replace("Z", "+00:00"))
    return now - arrived.timestamp(), None


def work(host, numbers, times, wrong):
    api, mailbox = connect(host["api"]), connect(host["mailbox"])
    for number in numbers:
        code = f"{random.Random(number).randrange(10**6):06}"
        try:
            took, why = run(api, mailbox, host["api_key"], number, code)
        except (OSError, RuntimeError, http.client.HTTPException) as error:
            took, why = None, f"run {number}: {error!r}"
            api, mailbox = connect(host["api"]), connect(host["mailbox"])
        if why:
            wrong.append(why)
        elif number % 2:
            times.append(took)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("binary")
    arguments.add_argument("--runs", type=int, default=10_000)
    arguments.add_argument("--workers", type=int, default=8)
    asked = arguments.parse_args()
    process, host = start(asked.binary)
    times, wrong = [], []
    try:
        numbers = [range(first, asked.runs, asked.workers) for first in range(asked.workers)]
        workers = [threading.Thread(target=work, args=(host, own, times, wrong)) for own in numbers]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        process.terminate()
        process.wait(30)
    print(f"{asked.runs} runs, {len(wrong)} wrong")
    for why in wrong[:20]:
        print(f"  {why}")
    if len(times) >= 2:
        cuts = statistics.quantiles(times, n=100, method="inclusive")
        print(
            f"answer after arrival, of {len(times)} waits that began before their mail: "
            f"median {cuts[49] * 1000:.1f} ms, p99 {cuts[98] * 1000:.1f} ms, most {max(times) * 1000:.1f} ms"
        )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
