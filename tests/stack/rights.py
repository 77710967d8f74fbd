"""Holds each function's role to the calls that it made: nothing that was called is missing in it, and nothing but
the table is allowed that was not called, except for a reason.

    tests/stack/rights.py FILE…    the calls of drive.py, ses.py and restore.py, as Record saved them

The emulator checks no policy, so a call that AWS would refuse passes there. What a role may do to the table is held
to the sources by tests/it/template/actions.rs: the journeys here do not take every way through the code.
"""

import fnmatch
import html
import json
import pathlib
import re
import sys
import threading
import urllib.parse

# The steps of a transaction, and the actions that IAM asks for in its place.
STEPS = {
    "Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}
# Operations that IAM knows by another name.
ACTIONS = {
    "sqs:SendMessageBatch": "sqs:SendMessage",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
    "s3:ListObjects": "s3:ListBucket",
    "s3:HeadObject": "s3:GetObject",
    "s3:DeleteObjects": "s3:DeleteObject",
    # Every mail is raw.
    "ses:SendEmail": "ses:SendRawEmail",
}
IDENTITY = re.compile(r"(\w+) /v2/email/identities(?:/([^/]+))?(/dkim/signing)?$")
# Of services that are called for a function, not by it: its log, its trace, the queue that Lambda polls.
BY_LAMBDA = {
    "logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTraceSegments", "xray:PutTelemetryRecords",
    "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes",
}
# Called when a message has to wait, which depends on the moment.
AT_TIMES = {"sqs:ChangeMessageVisibility"}


OWN_RING = {("secretsmanager:GetSecretValue", "SecretRing"): "a ring of the owner's: tests/stack/restore.py"}
FILTER = "a spam filter, which is no part of the stack: shared/runtime/src/held.rs"
OUTAGE = "an outage of the relay that lasts: delivery's tests/it/outage"
PAGES = "pages for a browser: tests/browser/console.py"
LISTS = {("s3:ListBucket", "Bucket"): "S3 answers 404 for a missing object only to those who may list; others get 403"}
KEPT = "mail that an account keeps: activity's tests/it/kept"
FAR = "work that is due in more than fifteen minutes: its tests/it"
# Rights that no journey here uses, and the test that does.
NOT_TAKEN = {
    "account-settings": {
        ("sqs:SendMessage", "SendQueue"): "confirms an address to forward to by a mail: its tests/it",
        ("ses:GetAccount", "*"): "SES's limits: its tests/it",
    },
    "activity": {**LISTS, ("s3:GetObject", "Bucket/kept/*"): KEPT},
    "console": {
        **OWN_RING,
        **LISTS,
        ("s3:GetObject", "Bucket/kept/*"): KEPT,
        ("ses:GetAccount", "*"): PAGES,
    },
    "delivery": {
        **OWN_RING,
        **LISTS,
        ("secretsmanager:GetSecretValue", "OutgoingFilterSecret"): FILTER,
        ("s3:PutObject", "Bucket/waiting/*"): OUTAGE,
        ("s3:PutObject", "Bucket/kept/*"): KEPT,
        ("ses:SendEmail", "identity/*"): "SES's API takes raw mail by this action or by SendRawEmail; only it says which",
        ("ses:SendEmail", "configuration-set/*"): "the same",
        ("ses:SendEmail", "configuration-set/${ConfigurationSet}"): "the same",
        ("ses:SendEmail", "configuration-set/${MailSet}"): "the same",
        ("ses:SendRawEmail", "configuration-set/*"): "the set is a second resource of the same call",
        ("ses:SendRawEmail", "configuration-set/${ConfigurationSet}"): "the same",
        ("ses:SendRawEmail", "configuration-set/${MailSet}"): "the same",
        ("ses:SendEmail", "configuration-set/${TlsSet}"): "the same",
        ("ses:SendRawEmail", "configuration-set/${TlsSet}"): "the same",
    },
    "event-settings": {
        **OWN_RING,
        ("sqs:SendMessage", "RetriesQueue"): "a replay of undelivered events: its tests/it",
    },
    "inbound-parse": {
        **OWN_RING,
        **LISTS,
        ("secretsmanager:GetSecretValue", "FilterSecret"): FILTER,
        ("s3:DeleteObject", "Bucket/inbound/*"): "a webhook that takes a mail, which none on this machine may: its tests/it",
    },
    "ips": {("ses:GetDedicatedIps", "*"): "dedicated addresses, which the emulator has not: its tests/it"},
    "mail-send": {**LISTS, ("s3:GetObject", "Bucket/kept/*"): KEPT},
    "mail-batch": {("sqs:SendMessage", "SendQueue"): "a pause that ends: its tests/it"},
    "parse-settings": {
        **OWN_RING,
        ("sqs:SendMessage", "InboundQueue"): "a replay of lost mails: its tests/it",
    },
    "schedule-sweep": {
        ("s3:GetObject", "Bucket/mail/*"): "the erasure of an address: activity's tests/it/erase",
        ("s3:GetObject", "Bucket/inbound/*"): "the same",
        ("s3:DeleteObject", "Bucket/inbound/*"): "the same",
        ("s3:DeleteObject", "Bucket/mail/*"): "the same",
        ("s3:DeleteObject", "Bucket/kept/*"): KEPT,
        ("s3:GetObject", "Bucket/waiting/*"): OUTAGE,
        ("s3:PutObject", "Bucket/waiting/*"): OUTAGE,
        ("s3:DeleteObject", "Bucket/waiting/*"): OUTAGE,
        ("sqs:SendMessage", "FeedbackQueue"): "questions about mails without news: its tests/it/news",
        ("sqs:SendMessage", "InboundQueue"): FAR,
        ("sqs:SendMessage", "RetriesQueue"): FAR,
        ("sqs:SendMessage", "SendQueue"): FAR,
    },
    "sender-identity": {
        **OWN_RING,
        ("ses:GetEmailIdentity", "identity/*"): "the DNS of a domain, which the emulator has not",
        ("ses:PutEmailIdentityDkimSigningAttributes", "identity/*"): "the same",
    },
    "subusers": {("s3:DeleteObject", "Bucket/kept/*"): KEPT},
    "ses-feedback": {
        **OWN_RING,
        **LISTS,
        ("s3:GetObject", "Bucket/bounces/*"): "bounces by mail: its tests/it/mails",
        ("s3:DeleteObject", "Bucket/bounces/*"): "the same",
        ("ses:GetMessageInsights", "*"): "questions about mails without news: its tests/it/insights",
        ("sqs:SendMessage", "FeedbackQueue"): "what has to wait: shared/queue",
    },
    "webhook-fanout": {
        ("sqs:SendMessage", "SendQueue"): "reports that an account wants forwarded: its tests/it/forward",
        ("events:PutEvents", "Bus"): "notices, and PublishEvents: its tests/it",
        ("sqs:SendMessage", "EventsQueue"): "what has to wait: shared/queue",
    },
}


def called(call):
    """The actions of a call, and the name of what each is on, without the stack's part of it."""
    if call.service == "dynamodb":
        actions = [call.operation]
        if call.operation.startswith("Transact"):
            actions = sorted({STEPS[step] for item in call.json()["TransactItems"] for step in item})
        return [(f"dynamodb:{action}", call.on) for action in actions]
    if call.operation == "DeleteObjects":
        keys = re.findall(r"<Key>([^<]*)</Key>", call.body.decode())
        return [("s3:DeleteObject", f"{call.on}/{html.unescape(key)}") for key in keys]
    if call.service == "s3":
        key = urllib.parse.unquote(call.path.split("?")[0]).strip("/").partition("/")[2]
        return [(f"s3:{call.operation}", f"{call.on}/{key}" if key else call.on)]
    if call.service == "ses":
        if found := IDENTITY.match(call.operation):
            method, name, signing = found.groups()
            action = {"POST": "CreateEmailIdentity", "GET": "GetEmailIdentity"}.get(method)
            action = "PutEmailIdentityDkimSigningAttributes" if signing else action
            return [(f"ses:{action}", f"identity/{name or call.json()['EmailIdentity']}")]
        if call.operation == "GET /v2/email/account":
            return [("ses:GetAccount", "")]
        if call.operation == "SendEmail":
            address = call.json().get("FromEmailAddress", "x@none")
            return [("ses:SendEmail", f"identity/{address.rpartition('@')[2].rstrip('>')}")]
    return [(f"{call.service}:{call.operation}", call.on)]


class Record:
    """What each function called: give `seen` to a tap."""

    def __init__(self):
        self._calls = set()
        self._lock = threading.Lock()

    def seen(self, call):
        for action, on in called(call):
            with self._lock:
                self._calls.add((call.app, ACTIONS.get(action, action), on))

    def save(self, path, resources):
        """Writes the calls, each on the logical name that `resources` has for the physical one."""
        logical = {re.split("[/:]", str(physical))[-1]: name for name, physical in resources.items()}
        found = []
        with self._lock:
            for app, action, on in sorted(self._calls):
                # A secret may be named by its ARN.
                head, slash, rest = on.rsplit(":", 1)[-1].partition("/")
                found.append([app, action, logical.get(head, head) + slash + rest])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1))


def named(resource):
    """A resource of a statement as a pattern over logical names: `Table`, `Bucket/mail/*`, `identity/*`."""
    if isinstance(resource, dict) and "Ref" in resource:
        return resource["Ref"]
    if isinstance(resource, dict) and "Fn::GetAtt" in resource:
        value = resource["Fn::GetAtt"]
        return value.split(".")[0] if isinstance(value, str) else value[0]
    text = resource.get("Fn::Sub", "*") if isinstance(resource, dict) else resource
    text = text if isinstance(text, str) else text[0]
    text = re.sub(r"\$\{(\w+)\.Arn\}", r"\1", text)
    return text.rsplit(":", 1)[-1] if ":" in text else text


def statements(role):
    """Action and pattern of everything that a role allows, whatever its conditions."""
    pending = [policy["PolicyDocument"] for policy in role["Policies"]]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        elif isinstance(value, dict) and value.get("Effect") == "Allow":
            for action in listed(value["Action"]):
                for resource in resources_of(value["Resource"]):
                    yield action, named(resource)
        elif isinstance(value, dict):
            pending += list(value.values())


def listed(value):
    return value if isinstance(value, list) else [value]


def resources_of(value):
    """The resources of a statement, those on both sides of a condition included."""
    for one in listed(value):
        if isinstance(one, dict) and "Fn::If" in one:
            for side in one["Fn::If"][1:]:
                yield from resources_of(side)
        elif one != {"Ref": "AWS::NoValue"}:
            yield one


def faults(plain, functions, calls):
    """What roles lack, and what they allow for nothing. `functions` has the binary of each function's logical name."""
    allowed, roles = {}, {}
    for name, binary in functions.items():
        roles[binary] = plain["Resources"][name]["Properties"]["Role"]["Fn::GetAtt"][0]
        allowed[binary] = set(statements(plain["Resources"][roles[binary]]["Properties"]))

    def lets(binary, action, on):
        return any(action == one and fnmatch.fnmatchcase(on, pattern) for one, pattern in allowed[binary])

    for app, action, on in sorted(calls):
        # Programs that are no functions do not say who they are.
        if app in allowed and not lets(app, action, on):
            yield f"{app} calls {action} on {on}, which {roles[app]} does not allow"
    excused = set()
    for binary, rights in sorted(allowed.items()):
        mine = {(action, on) for app, action, on in calls if app == binary}
        for action, pattern in sorted(rights):
            used = any(action == one and fnmatch.fnmatchcase(on, pattern) for one, on in mine)
            if used or action.startswith("dynamodb:") or action in BY_LAMBDA | AT_TIMES:
                continue
            if (action, pattern) in NOT_TAKEN.get(binary, {}):
                excused.add((binary, action, pattern))
            else:
                yield f"{roles[binary]} allows {action} on {pattern}, which {binary} does not call"
    for binary, listed_ones in NOT_TAKEN.items():
        for action, pattern in listed_ones:
            if (binary, action, pattern) not in excused:
                yield f"excused for nothing: {binary} {action} on {pattern}"


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    from stack import functions, template, translated

    calls = {tuple(call) for path in sys.argv[1:] for call in json.loads(pathlib.Path(path).read_text())}
    found = list(faults(translated("http://127.0.0.1:1"), functions(template()), calls))
    for fault in found:
        print(fault)
    apps = {app for app, _, _ in calls if app}
    print(f"rights: {len(calls)} kinds of calls by {len(apps)} functions; faults: {len(found)}")
    return 1 if found or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
