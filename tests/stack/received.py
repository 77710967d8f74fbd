"""A received mail of the stack, from what SES does with it on.

The emulator receives no mail and has no DNS: the mail is put where the receipt rule would put it, SES's notice is
published to the topic that the rule names, and the domain counts as found in DNS by its row.
"""

import json
import sys

from parts import until
from stack import client

HOSTNAME = "parse.shop.example"
RAW = (
    b"Return-Path: <ann@sender.example>\r\nReceived: from mail.sender.example (mail.sender.example [198.51.100.4])\r\n"
    b" by inbound-smtp.us-east-1.amazonaws.com\r\nFrom: ann@sender.example\r\nTo: box@parse.shop.example\r\n\r\nHello\r\n"
)


def notice(key):
    """What SES publishes of a mail that it has put there."""
    to, passed = [f"box@{HOSTNAME}", "x@elsewhere.example"], {"status": "PASS"}
    verdicts = dict.fromkeys(("spfVerdict", "dkimVerdict", "spamVerdict", "virusVerdict", "dmarcVerdict"), passed)
    return json.dumps({
        "notificationType": "Received",
        "mail": {"source": "ann@sender.example", "messageId": "m1", "destination": to},
        "receipt": {"recipients": to, "action": {"type": "S3", "bucketName": "b", "objectKey": key}, **verdicts},
    })


def found_in_dns(endpoint, table, domain):
    """Marks the records of the domain as found."""
    rows = client("dynamodb", endpoint)
    pages = rows.get_paginator("scan").paginate(TableName=table)
    items = [
        item for page in pages for item in page["Items"]
        if item.get("domain") == {"S": domain} and "records" in item
    ]
    if len(items) != 1:
        sys.exit(f"{len(items)} rows of the domain {domain}")
    for record in items[0]["records"]["L"]:
        record["M"]["valid"] = {"BOOL": True}
    rows.put_item(TableName=table, Item=items[0])


def received(api, emulator, resources):
    """One mail for a hostname that is parsed and one that is not: a job of its own waits for its webhook. The step."""
    api.expect(201, "POST", "/v3/whitelabel/domains", {"domain": "shop.example"})
    found_in_dns(emulator.url, resources["Table"], "shop.example")
    setting = {"hostname": HOSTNAME, "url": "https://hooks.invalid/parse", "spam_check": False, "send_raw": False}
    api.expect(201, "POST", "/v3/user/webhooks/parse/settings", setting)
    bucket, name, key = client("s3", emulator.url), resources["Bucket"], "received/m1"
    bucket.put_object(Bucket=name, Key=key, Body=RAW)
    client("sns", emulator.url).publish(TopicArn=resources["ReceivedTopic"], Message=notice(key))

    def kept():
        there = [one["Key"] for one in bucket.list_objects_v2(Bucket=name).get("Contents", [])]
        return key not in there and [one for one in there if one.startswith("inbound/")]

    objects = until("SES's object becomes the service's own", kept, 90)
    queues, url = client("sqs", emulator.url), resources["InboundQueue"]
    names = ["ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfMessagesNotVisible"]

    def waiting():
        found = queues.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(int(count) for count in found.values())

    until("the mail that its webhook does not take waits", waiting, 90)
    if len(objects) != 1:
        sys.exit(f"one mail is kept as {objects}")
    return "a mail that SES received is kept for its hostname, and waits while its webhook does not take it"
