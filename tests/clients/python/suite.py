"""The official Python client against a running host: `--api`, `--mailbox`, `--key`, `--smtp`."""

import argparse
import sys

import sendgrid

import harness
from inbox import Mailbox

# Importing a module registers its cases.
import api  # noqa: F401
import content  # noqa: F401
import errors  # noqa: F401
import events  # noqa: F401
import people  # noqa: F401
import suppressions  # noqa: F401
import templates  # noqa: F401


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--api", "--mailbox", "--key", "--smtp"):
        parser.add_argument(name, required=True)
    parser.add_argument("--case", default="")
    options = parser.parse_args()
    mailbox = Mailbox(options.mailbox)

    def bench():
        client = sendgrid.SendGridAPIClient(options.key, host=options.api)
        return harness.Bench(options, mailbox, client)

    return 1 if harness.run(options, bench) else 0


if __name__ == "__main__":
    sys.exit(main())
