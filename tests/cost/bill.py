"""From what was counted to dollars.

A Line is a quantity of something that has a price. Of a part of a run the quantities are for one
million mails, of the idle stack for one month.
"""

import dataclasses
import math
import pathlib
import tomllib

from units import KB, chunks

PRICES = tomllib.loads(pathlib.Path(__file__).with_name("prices.toml").read_text(encoding="utf-8"))
GB = 1e9
MILLION = 1_000_000
HOURS = 730
# DynamoDB adds so many bytes to every item that it keeps.
OF_AN_ITEM = 100
# Lambda polls a queue that has nothing with five connections, 20 seconds each (AWS Lambda developer
# guide, using Lambda with Amazon SQS).
POLLERS, POLL_SECONDS = 5, 20
# ReceiveMessage and DeleteMessageBatch take ten messages at most.
RECEIVED = 10


@dataclasses.dataclass
class Line:
    service: str
    price: str
    quantity: float

    @property
    def dollars(self):
        price = PRICES[self.price]
        return self.quantity * price["dollars"] / price["per"]


def polled(sizes, message_bytes):
    """Requests for batches of these sizes: they are received and deleted by the ten."""
    receives = 0
    for size in sizes:
        of_ten = math.ceil(size / RECEIVED)
        receives += max(of_ten, chunks(size * message_bytes, 64 * KB))
    deletes = sum(math.ceil(size / RECEIVED) for size in sizes)
    return receives, deletes


def traced(invocations, seconds):
    """Traces of one function by X-Ray's own rule: the first request of each second, and 5 % of the rest."""
    reservoir = min(invocations, seconds)
    return reservoir + 0.05 * (invocations - reservoir)


def of_mails(part, took, memory, architecture, rate):
    """What a million such mails cost, that come at `rate` mails a second; `took` has the milliseconds of
    an invocation by function."""
    lines = []

    def add(service, price, quantity):
        lines.append(Line(service, price, quantity * MILLION / part.copies))

    add("API Gateway", "http_request", part.requests)
    seconds = part.copies / rate
    traces = gb_seconds = invocations = log_bytes = log_packed = 0
    for function, journal in part.journals.items():
        if function not in WORKERS:
            continue
        invocations += len(journal.billed)
        # Billed by the begun millisecond: half of one is lost on average.
        gb_seconds += len(journal.billed) * (took[function] + 0.5) / 1000 * memory[function] / 1024
        log_bytes += journal.bytes
        log_packed += journal.packed
        traces += traced(len(journal.billed), seconds)
    add("Lambda", "lambda_request", invocations)
    add("Lambda", f"lambda_gb_second_{architecture}", gb_seconds)

    uses = part.of()
    total = lambda field, service: sum(getattr(u, field) for key, u in uses.items() if key[1] == service)
    add("DynamoDB", "dynamodb_write", total("writes", "dynamodb"))
    add("DynamoDB", "dynamodb_read", total("reads", "dynamodb"))
    kept = sum((size + OF_AN_ITEM) * months for size, months, _ in part.rows) / GB
    add("DynamoDB", "dynamodb_gb_month", kept)
    add("DynamoDB", "dynamodb_backup_gb_month", kept)

    asked = [polled(sizes, part.queued.get(queue, 0)) for (_, queue), sizes in part.batches.items()]
    add("SQS", "sqs_request", total("units", "sqs") + part.forwarded + sum(map(sum, asked)))

    # SES publishes each of its events to the topic of the feedback queue.
    add("SNS", "sns_publish", part.forwarded)
    for (_, service, operation), use in uses.items():
        if service == "s3":
            add("S3", "s3_get" if operation in ("GetObject", "HeadObject") else "s3_put", use.calls)
    add("S3", "s3_gb_month", total("stored", "s3") / GB)
    add("EventBridge", "event", total("units", "events"))
    add("Secrets Manager", "secret_call", total("calls", "secretsmanager"))
    add("CloudWatch", "log_gb", log_bytes / GB)
    add("CloudWatch", "log_gb_month", log_packed / GB)
    add("X-Ray", "trace", traces)
    add("Transfer", "transfer_gb", (part.answered + part.posted) / GB)
    return [line for line in lines if line.quantity]


# What a mail passes; the sweep runs without one, and is counted with the idle stack.
WORKERS = ("mail-send", "delivery", "ses-feedback", "webhook-fanout")


def idle(template, sweep):
    """What a stack costs in a month in which nothing happens. `sweep` is what one sweep uses."""
    of_type = lambda kind: [r for r in template["Resources"].values() if r["Type"] == kind]
    queues = len(of_type("AWS::Lambda::EventSourceMapping"))
    polls = queues * POLLERS * HOURS * 3600 / POLL_SECONDS
    sweeps = HOURS * 60
    # Others are made for a relay, for spam filters and for the owner's key.
    secrets = sum("Condition" not in secret for secret in of_type("AWS::SecretsManager::Secret"))
    alarms = sum(len(alarm["Properties"].get("Metrics", [0])) for alarm in of_type("AWS::CloudWatch::Alarm"))
    return [
        (f"polling {queues} queues", Line("SQS", "sqs_request", polls)),
        ("sweep: requests", Line("Lambda", "lambda_request", sweeps)),
        ("sweep: GB-seconds", Line("Lambda", sweep["gb_second_price"], sweeps * sweep["gb_seconds"])),
        ("sweep: writes", Line("DynamoDB", "dynamodb_write", sweeps * sweep["writes"])),
        ("sweep: reads", Line("DynamoDB", "dynamodb_read", sweeps * sweep["reads"])),
        ("sweep: queues", Line("SQS", "sqs_request", sweeps * sweep["units"])),
        ("sweep: logs", Line("CloudWatch", "log_gb", sweeps * sweep["log_bytes"] / GB)),
        ("sweep: traces", Line("X-Ray", "trace", sweeps)),
        (f"{len(sweep['metrics'])} metrics of the sweep", Line("CloudWatch", "metric_month", len(sweep["metrics"]))),
        (f"{alarms} alarms", Line("CloudWatch", "alarm_month", alarms)),
        ("dashboard", Line("CloudWatch", "dashboard_month", len(of_type("AWS::CloudWatch::Dashboard")))),
        ("secret", Line("Secrets Manager", "secret_month", secrets)),
    ]
