#!/usr/bin/env python3
"""Copies what a stack stores into a folder, and back into another stack: for a backup outside of the account.

    infra/backup.py save    --table T --bucket B --secret S FOLDER
    infra/backup.py restore --table T --bucket B FOLDER

`save` writes table.jsonl, bucket/ and secret. The table is read item by item while the service runs, so that rows that
belong together may be of different moments: for a moment's state there is DynamoDB's own restore. `secret` is a ring:
make a secret of it (`aws secretsmanager create-secret --secret-string file://FOLDER/secret`) and deploy the new
stack with `SecretRing` before `restore`. What waits on the queues is not copied.

Needs boto3, which SAM brings along, and credentials and region as the AWS command line takes them.
"""

import argparse
import base64
import json
import os
import pathlib
import sys
import time

import boto3

# What BatchWriteItem takes at a time.
BATCH = 25


def encoded(value):
    """Bytes in DynamoDB's JSON are base64."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value)} has no place in an item")


def decoded(item):
    """An item whose attributes of bytes are bytes again."""
    for value in item.values():
        if "B" in value:
            value["B"] = base64.b64decode(value["B"])
        if "BS" in value:
            value["BS"] = [base64.b64decode(one) for one in value["BS"]]
        for inner in [value.get("M", {}), *({"": one} for one in value.get("L", []))]:
            decoded(inner)
    return item


def save(arguments):
    folder = arguments.folder
    os.umask(0o077)
    (folder / "bucket").mkdir(parents=True)
    count = 0
    with (folder / "table.jsonl").open("w", encoding="utf-8") as file:
        pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=arguments.table, ConsistentRead=True)
        for page in pages:
            for item in page["Items"]:
                file.write(json.dumps(item, default=encoded) + "\n")
                count += 1
    s3 = boto3.client("s3")
    keys = [one["Key"] for page in s3.get_paginator("list_objects_v2").paginate(Bucket=arguments.bucket)
            for one in page.get("Contents", [])]
    for key in keys:
        path = folder / "bucket" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        s3.download_file(arguments.bucket, key, str(path))
    secret = boto3.client("secretsmanager").get_secret_value(SecretId=arguments.secret)["SecretString"]
    # The stack's own secret is one key, which has the number 1; a ring of the owner's has numbers already.
    (folder / "secret").write_text(secret if ":" in secret else f"1:{secret}", encoding="utf-8")
    print(f"{count} items, {len(keys)} objects, the secret")


def restore(arguments):
    folder, table = arguments.folder, boto3.client("dynamodb")
    count, batch = 0, []

    def write():
        waiting, pause = {arguments.table: batch.copy()}, 0.1
        while waiting:
            waiting = table.batch_write_item(RequestItems=waiting).get("UnprocessedItems")
            if waiting:
                time.sleep(pause)
                pause = min(pause * 2, 5)
        batch.clear()

    with (folder / "table.jsonl").open(encoding="utf-8") as file:
        for line in file:
            batch.append({"PutRequest": {"Item": decoded(json.loads(line))}})
            count += 1
            if len(batch) == BATCH:
                write()
    if batch:
        write()
    s3 = boto3.client("s3")
    paths = [path for path in sorted((folder / "bucket").rglob("*")) if path.is_file()]
    for path in paths:
        s3.upload_file(str(path), arguments.bucket, path.relative_to(folder / "bucket").as_posix())
    print(f"{count} items, {len(paths)} objects")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    for name, action in (("save", save), ("restore", restore)):
        one = actions.add_parser(name)
        one.add_argument("--table", required=True)
        one.add_argument("--bucket", required=True)
        if action is save:
            one.add_argument("--secret", required=True)
        one.add_argument("folder", type=pathlib.Path)
        one.set_defaults(action=action)
    arguments = parser.parse_args()
    arguments.action(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
