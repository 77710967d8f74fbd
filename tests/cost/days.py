#!/usr/bin/env python3
"""What other days cost than those that tests/cost/run counts: an outage of the relay, opens and clicks, scheduled and
received mail, and starts of functions.

    tests/cost/days.py

A model: each quantity says where its count is from. That of an outage is held by a simulation of the worker
(functions/delivery/tests/it/outage.rs), the others are read from the code that is named.
"""

import math

from bill import MILLION, OF_AN_ITEM, PRICES, Line, polled
from units import KB, chunks

WAITING = 100_000
# Bytes of a small mail as a message, and of its job as a row.
MESSAGE = 3_000
# Messages of a batch of delivery and of fan-out, as the template has them.
JOBS, NEWS = 10, 100
# Seconds between two probes: as long as the outage has lasted, between these (shared/outage/src/release.rs).
SHORTEST, LONGEST = 60, 600
# Messages are received when the outage is found and when they are moved to the bucket; then once more, as all are.
MOVED = 2
# Seconds after which what is in the bucket is tried in any case, and moved there again (shared/outage/src/lib.rs).
TURN = 6 * 3_600
# Days for which the bucket keeps what was deleted.
VERSIONS = 3
ARCHITECTURE = "x86_64"


def invocations(count, milliseconds, megabytes):
    """Lambda's lines."""
    seconds = count * (milliseconds + 0.5) / 1000
    return [
        Line("Lambda", "lambda_request", count),
        Line("Lambda", f"lambda_gb_second_{ARCHITECTURE}", seconds * megabytes / 1024),
    ]


def logged(lines, size=700):
    return Line("CloudWatch", "log_gb", lines * size / 1e9)


def probes(seconds):
    """How many jobs are tried in an outage of so many seconds."""
    at, count = SHORTEST, 0
    while at <= seconds:
        at += min(max(at, SHORTEST), LONGEST)
        count += 1
    return count


def outage(seconds, mails=WAITING):
    """Mails that wait for a relay that takes none, beside what they cost when they leave: one write when the wait
    begins, one event, a message that waits on the queue once, and a place in the bucket until mail is released, six
    hours at most: then it is sent, received and stored again."""
    batches, tried = mails / JOBS, probes(seconds)
    turns = (seconds - 1) // TURN
    received = (MOVED + turns) * batches
    receives, deletes = polled([JOBS], MESSAGE)
    sends = chunks(JOBS * MESSAGE, 64 * KB)
    # The events of a batch are one message, which is received with others.
    events = batches * (1 + 2 / 10)
    stored = mails * MESSAGE / 1e9 * (seconds / 86_400 + VERSIONS) / 30
    return [
        # The wait's begin; what a probe notes when it is released and when it comes back.
        Line("DynamoDB", "dynamodb_write", mails + 2 * tried),
        # Onto the queue for the first wait, and by the sweep when mail is released.
        Line("SQS", "sqs_request", received * (receives + deletes) + (2 + turns) * batches * sends + events),
        # The jobs of a batch; a probe and the rest of its blob; a list each minute.
        Line("S3", "s3_put", (1 + turns) * batches + 2 * tried + seconds / 60),
        Line("S3", "s3_get", (1 + turns) * batches + tried),
        Line("S3", "s3_gb_month", stored),
        # Ten messages that are read and sent on, or stored; a blob that is read and sent.
        *invocations(received, 40, 512),
        *invocations((1 + turns) * batches / 1_000, 8_000, 512),
        logged(received),
    ]


def opened(visits=MILLION):
    """First opens, or first clicks, of as many mails, with a webhook: functions/tracking/src/seen.rs, then
    functions/webhook-fanout/src/visits.rs and count.rs."""
    receives, deletes = polled([NEWS], 600)
    return [
        Line("API Gateway", "http_request", visits),
        *invocations(visits, 3, 256),
        # The event; then its share of a batch.
        Line("SQS", "sqs_request", visits * (1 + (receives + deletes) / NEWS)),
        *invocations(visits / NEWS, 300, 512),
        # The row of the copy, with the visit above one KB; the mark of the first; the day's counters, by the batch.
        Line("DynamoDB", "dynamodb_write", visits * (2 + 1 + 6 / NEWS)),
        logged(visits * (1 + 1 / NEWS)),
        Line("Transfer", "transfer_gb", visits * 600 / 1e9),
    ]


def scheduled(mails=MILLION):
    """Mails that leave in more than fifteen minutes, beside what others cost: shared/store/src/schedule,
    functions/schedule-sweep/src/turn.rs."""
    row = chunks(MESSAGE + 500, KB)
    return [
        # The piece; the due row with its job; its deletion; and the piece again when it leaves.
        Line("DynamoDB", "dynamodb_write", mails * (1 + row + row + 1)),
        # The due row in a page, and the piece, consistently.
        Line("DynamoDB", "dynamodb_read", mails * (chunks(MESSAGE + 500, 4 * KB) + 1)),
    ]


def received(mails=MILLION):
    """Mails of 20 KB that SES receives and a receiver takes, without SES's own price: functions/inbound-parse/src.
    Each is two messages: SES's notice, and the job that is made of it."""
    receives, deletes = polled([2], 1_500)
    return [
        Line("S3", "s3_put", mails),
        # Its head for the notice, and all of it for the post.
        Line("S3", "s3_get", 2 * mails),
        Line("SNS", "sns_publish", mails),
        Line("SQS", "sqs_request", mails * (1 + 1 + 2 * (receives + deletes) / 2)),
        # The claim, the day's counter, the end.
        Line("DynamoDB", "dynamodb_write", 3 * mails),
        # The hostname's owner, the claim, the setting.
        Line("DynamoDB", "dynamodb_read", 3 * mails),
        # Half of the invocations wait for a receiver that takes 150 ms.
        *invocations(mails, 100, 512),
        logged(mails),
        Line("Transfer", "transfer_gb", mails * 25_000 / 1e9),
    ]


def kept(packed, days, mails=MILLION):
    """Composed mails that an account keeps for so many days, each of so many bytes once compressed:
    shared/kept/src/lib.rs. Small ones are rows, in base64; the row of the copy is written anyway."""
    in_table = packed <= 4 * KB
    row = math.ceil(packed * 4 / 3) + 150
    month = days / 30
    if in_table:
        gigabytes = mails * (row + OF_AN_ITEM) / 1e9 * month
        return [
            Line("DynamoDB", "dynamodb_write", mails * chunks(row, KB)),
            Line("DynamoDB", "dynamodb_gb_month", gigabytes),
            Line("DynamoDB", "dynamodb_backup_gb_month", gigabytes),
        ]
    return [
        Line("S3", "s3_put", mails),
        Line("S3", "s3_gb_month", mails * packed / 1e9 * month),
    ]


def viewed(pages=MILLION):
    """Views of the console's overview, a minute apart, so that nothing is held in memory: functions/console/src/pages/
    overview.rs. The browser holds the style and the script."""
    calls = 9  # The page's own guard, and those of the eight calls that it reads.
    return [
        Line("API Gateway", "http_request", pages),
        *invocations(pages, 60, 512),
        # A permit of each (shared/http/src/lease.rs).
        Line("DynamoDB", "dynamodb_write", pages * calls),
        # Session, account and allow list; thirty days of 300 bytes, and those of this month for the cost; credits, keys,
        # domains, senders and webhooks.
        Line("DynamoDB", "dynamodb_read", pages * (3 + 2 * chunks(30 * 300, 4 * KB) + 5)),
        logged(pages),
        Line("Transfer", "transfer_gb", pages * 9_000 / 1e9),
    ]


def starts(count=10_000):
    """Starts of functions with 512 MB that read two secrets, 150 ms each: Lambda bills a start like any other time."""
    return [
        *invocations(0, 0, 512),
        Line("Lambda", f"lambda_gb_second_{ARCHITECTURE}", count * 0.15 * 512 / 1024),
        Line("Secrets Manager", "secret_call", 2 * count),
    ]


def dollars(lines):
    return sum(line.dollars for line in lines)


def table(bills):
    """Dollars by service, as Markdown."""
    print("| | " + " | ".join(bills) + " |\n|" + "---|" * (len(bills) + 1))
    services = dict.fromkeys(line.service for lines in bills.values() for line in lines if line.dollars)
    for service in services:
        of = [sum(line.dollars for line in lines if line.service == service) for lines in bills.values()]
        print(f"| {service} | " + " | ".join(f"{each:.2f}" if each else "" for each in of) + " |")
    print("| **all** | " + " | ".join(f"**{dollars(lines):.2f}**" for lines in bills.values()) + " |\n")


def main():
    print(f"Prices of {PRICES['region']}, {PRICES['date']}. Per {WAITING:,} mails that wait for the relay:\n")
    hours = {"1 hour": 1, "24 hours": 24, "72 hours": 72}
    table({name: outage(3600 * each) for name, each in hours.items()})
    print("Jobs that are tried: " + ", ".join(f"{probes(3600 * each)} in {name}" for name, each in hours.items()))
    print(f"\nA million mails that wait for an hour: ${dollars(outage(3600, MILLION)):.2f}. Per million:\n")
    table({"opens, or clicks": opened(), "scheduled mails": scheduled(), "received mails": received(),
           "views of the console": viewed()})
    print("A million mails that their account keeps, by their compressed bytes and their days:\n")
    sizes = {"1.3 KB": 1_300, "4 KB": 4 * KB, "60 KB": 60_000}
    table({f"{name}, {days} days": kept(size, days) for name, size in sizes.items() for days in (7, 30)})
    ses = PRICES["ses_mail"]
    print(f"SES's own price of a million received mails: ${MILLION * ses['dollars'] / ses['per']:.0f}, and its chunks.")
    print(f"Ten thousand starts: ${dollars(starts()):.3f}.")


if __name__ == "__main__":
    main()
