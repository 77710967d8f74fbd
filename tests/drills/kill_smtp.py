#!/usr/bin/env python3
"""What killing the local host costs those who submit by SMTP: nothing that was answered with 250.

The same drill as kill.py, with the load on the port for submission. Some mails have many recipients,
named in the X-SMTPAPI header.

    tests/drills/kill_smtp.py target/release/posthaste
    tests/drills/kill_smtp.py target/release/posthaste --kills 40 --count 20000 --seed 7
"""

import json
import smtplib

import kill
from local import Relay


class Submitting(kill.Load):
    """The load of kill.py over SMTP. The number of a mail stands in its text, where the header's
    substitutions reach it."""

    def work(self):
        while not self.over.is_set():
            if len(self.accepted) - len(Relay.seen) > kill.BACKLOG:
                self.over.wait(0.02)
                continue
            numbers = self.take()
            try:
                client = smtplib.SMTP(*self.host.submission.split(":"), timeout=30)
                client.login("apikey", self.host.key)
                while not self.over.is_set():
                    self.submit(client, numbers)
                    if len(self.accepted) - len(Relay.seen) > kill.BACKLOG:
                        break
                    numbers = self.take()
            except (OSError, smtplib.SMTPException):
                with self.lock:
                    self.unanswered += 1
                self.over.wait(0.02)

    def submit(self, client, numbers):
        header, text = "", f"X-Drill: {numbers[0]}"
        if len(numbers) > 1:
            to = [f"r{n}@example.com" for n in numbers]
            told = json.dumps({"to": to, "sub": {"-number-": numbers_as_text(numbers)}}, indent=1)
            header, text = "X-SMTPAPI: " + told.replace("\n", "\r\n ") + "\r\n", "X-Drill: -number-"
        mail = f"From: drill@example.com\r\nSubject: drill\r\n{header}\r\n{text}\r\n"
        try:
            client.sendmail("drill@example.com", f"r{numbers[0]}@example.com", mail.encode())
        except smtplib.SMTPResponseException as why:
            with self.lock:
                self.refused.append(why.smtp_code)
            return
        with self.lock:
            self.accepted.update(numbers)


def numbers_as_text(numbers):
    return [str(n) for n in numbers]


if __name__ == "__main__":
    kill.main(__doc__, Submitting)
