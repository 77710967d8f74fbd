"""What AWS counts of a call: its units by the documented rules.

DynamoDB: a write is one unit for each begun KB of the larger of the item before and after, a read one
for each begun 4 KB, half of it where it need not be consistent; in a transaction both count twice.
What a condition refuses is counted too. The emulator tells the units of writes, for it alone sees an
item before and after; reads are worked out here, because it takes every read for 4 KB.
"""

import math

KB = 1024
WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")


def chunks(size, of):
    """Begun pieces of this size; nothing is one too."""
    return max(1, math.ceil(size / of))


def value_size(value):
    """Bytes of an attribute's value (DynamoDB developer guide, item sizes and formats)."""
    [(kind, inside)] = value.items()
    if kind == "S":
        return len(inside.encode())
    if kind == "N":
        return number_size(inside)
    if kind == "B":
        return len(inside) * 3 // 4
    if kind in ("BOOL", "NULL"):
        return 1
    if kind == "SS":
        return sum(len(one.encode()) for one in inside)
    if kind == "NS":
        return sum(number_size(one) for one in inside)
    if kind == "BS":
        return sum(len(one) * 3 // 4 for one in inside)
    if kind == "L":
        return 3 + sum(1 + value_size(one) for one in inside)
    return 3 + sum(1 + len(name.encode()) + value_size(one) for name, one in inside.items())


def number_size(text):
    """About one byte for two digits, one more, and one more for a minus."""
    digits = text.lstrip("-").replace(".", "").split("E")[0].split("e")[0].strip("0")
    return math.ceil(len(digits) / 2) + 1 + text.startswith("-")


def item_size(item):
    return sum(len(name.encode()) + value_size(value) for name, value in item.items())


def read_units(operation, request, answer):
    """Units of a read, of the items that came."""
    consistent = request.get("ConsistentRead", False)
    if operation == "GetItem":
        return of_read([item_size(answer.get("Item", {}))], consistent)
    if operation in ("Query", "Scan"):
        # Read in one go, so that small items share a unit.
        return of_read([sum(item_size(item) for item in answer.get("Items", []))], consistent)
    if operation == "BatchGetItem":
        total = 0.0
        for table, asked in request["RequestItems"].items():
            sizes = [item_size(item) for item in answer.get("Responses", {}).get(table, [])]
            sizes += [0] * (len(asked["Keys"]) - len(sizes))
            total += of_read(sizes, asked.get("ConsistentRead", False))
        return total
    if operation == "TransactGetItems":
        return 2 * of_read([item_size(one.get("Item", {})) for one in answer.get("Responses", [])], True)
    return 0.0


def of_read(sizes, consistent):
    return sum(chunks(size, 4 * KB) for size in sizes) * (1.0 if consistent else 0.5)


def write_units(operation, request, status, answer):
    """Units of a write: what the emulator says, and the least it can be where a condition refused."""
    if operation == "TransactWriteItems":
        checks = sum("ConditionCheck" in one for one in request["TransactItems"])
        told = sum(one["CapacityUnits"] for one in answer.get("ConsumedCapacity", []))
        return told + 2 * checks if status == 200 else 2.0 * len(request["TransactItems"])
    if operation == "BatchWriteItem":
        return sum(one["CapacityUnits"] for one in answer.get("ConsumedCapacity", []))
    if operation in WRITES:
        refused = chunks(item_size(request.get("Item", {})), KB)
        return answer["ConsumedCapacity"]["CapacityUnits"] if status == 200 else float(refused)
    return 0.0


def queue_units(entries):
    """Requests that a batch of messages is billed as: one for each begun 64 KB."""
    return chunks(sum(entries), 64 * KB)
