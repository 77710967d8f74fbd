#!/usr/bin/env python3
"""The deployed shape from end to end: the template on an emulator, driven through its HTTP API.

Every step says what it proves; the first that fails ends the run with exit code 1.
"""

import base64
import contextlib
import json
import pathlib
import random
import re
import smtplib
import sys
import time
import urllib.parse

import bad_day
import console
import moving
import received
from parts import Api, AwsHost, surroundings, until
from rights import Record
from stack import change, client, deploy, route_key, template
from tap import Tap

SENDER = "news@example.com"


def mail(subject, **more):
    return {
        "personalizations": [{"to": [{"email": "ada@example.net"}]}],
        "from": {"email": SENDER},
        "subject": subject,
        "content": [{"type": "text/plain", "value": "The sun is up."}],
        **more,
    }


def step(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def keys(api):
    made, _ = api.expect(201, "POST", "/v3/api_keys", {"name": "sends", "scopes": ["mail.send"]})
    api.expect(403, "GET", "/v3/api_keys", key=made["api_key"])
    api.expect(401, "GET", "/v3/api_keys", key="SG." + "a" * 22 + "." + "b" * 43)
    step("a key made through the API may do what it was made for, and no more")
    return made["api_key"]


def subusers(api):
    wanted = {"username": "sub", "email": "sub@example.com", "password": "not kept", "ips": []}
    api.expect(200, "POST", "/v3/subusers", wanted)
    all_of_them, _ = api.expect(200, "GET", "/v3/subusers")
    if [one["username"] for one in all_of_them] != ["sub"]:
        sys.exit(f"a subuser is not listed: {all_of_them}")
    api.expect(204, "PATCH", "/v3/subusers/sub", {"disabled": True})
    api.expect(200, "GET", "/v3/subusers/reputations")
    api.expect(204, "DELETE", "/v3/subusers/sub")
    step("a subuser is made, listed, disabled and deleted")


def routes(emulator, resources):
    """The emulator has the routes that the document says, which AWS imports whole."""
    body = template()["Resources"]["Api"]["Properties"]["DefinitionBody"]
    wanted = {
        "$default" if path == "/$default" else route_key(method, path)
        for path, item in body["paths"].items() for method in item if method != "parameters"
    }
    pages = client("apigatewayv2", emulator.url).get_paginator("get_routes").paginate(ApiId=resources["Api"])
    there = {route["RouteKey"] for page in pages for route in page["Items"]}
    if there != wanted:
        sys.exit(f"routes differ from the document: {sorted(there ^ wanted)}")
    step(f"{len(there)} routes, as the API's document says")


def unknown(api):
    for status, method, path in [
        (404, "GET", "/v3/nothing"),
        (405, "GET", "/v3/mail/send"),
        (405, "PUT", "/v3/mail/batch/abc"),
        (405, "POST", "/v3/scopes"),
        # A path of several methods is one route.
        (405, "PUT", "/v3/templates"),
    ]:
        body, _ = api.expect(status, method, path)
        if not body["errors"][0]["message"]:
            sys.exit(f"{method} {path} is refused in another shape: {body}")
    step("what no route takes is refused in the API's shape")


# Local parts of which a path becomes another one when it is parsed once too often.
ODD = ("a#b", "a?b", "%41", "a/b", "a+b", "a&b=c")


def paths(api):
    """Addresses in paths, which the gateway decodes, are those that the caller meant: each list loses that entry alone."""
    group, _ = api.expect(201, "POST", "/v3/asm/groups", {"name": "Odd", "description": "Odd addresses"})
    group = group["id"]
    plain = ["a@example.com", "A@example.com", "b@example.com"]
    odd = [f"{local}@example.com" for local in ODD]
    api.expect(201, "POST", "/v3/asm/suppressions/global", {"recipient_emails": plain + odd})
    api.expect(201, "POST", f"/v3/asm/groups/{group}/suppressions", {"recipient_emails": plain + odd})
    left = {one.lower() for one in plain + odd}
    for address in odd:
        encoded = urllib.parse.quote(address, safe="")
        found, _ = api.expect(200, "GET", f"/v3/asm/suppressions/global/{encoded}")
        if found != {"recipient_email": address.lower()}:
            sys.exit(f"GET of {address} found {found}")
        api.expect(204, "DELETE", f"/v3/asm/suppressions/global/{encoded}")
        api.expect(204, "DELETE", f"/v3/asm/groups/{group}/suppressions/{encoded}")
        left.remove(address.lower())
        listed, _ = api.expect(200, "GET", "/v3/suppression/unsubscribes?limit=100")
        grouped, _ = api.expect(200, "GET", f"/v3/asm/groups/{group}/suppressions")
        if {one["email"] for one in listed} != left or set(grouped) != left:
            sys.exit(f"{address} is deleted; left: {listed} and {grouped}, not {left}")
    # The erasure of these persons' data alone: jobs, which the sweep takes up every minute.
    erasures = [f"/v3/messages/recipients/{urllib.parse.quote(one, safe='')}?suppressions=true" for one in odd]
    for erasure in erasures:
        api.expect(202, "DELETE", erasure)
    for erasure in erasures:
        until(f"{erasure} has ended", lambda: api.call("DELETE", erasure)[0] == 204, 240)
    listed, _ = api.expect(200, "GET", "/v3/suppression/unsubscribes?limit=100")
    if {one["email"] for one in listed} != left:
        sys.exit(f"{odd} are erased; left: {listed}, not {left}")
    for address in plain:
        api.expect(204, "DELETE", f"/v3/asm/suppressions/global/{address}")
    api.expect(204, "DELETE", f"/v3/asm/groups/{group}")
    api.expect(404, "GET", "/v3/user/webhooks/parse/settings/a%23b.example.com")
    api.expect(400, "GET", "/v3/subusers/%2E%2E/credits")
    step(f"{len(odd)} addresses in paths that the gateway decodes are those that were meant")


def seen(api):
    """HEAD and GET on the routes of recipients are answered by their function."""
    for path in ("/wf/open", "/ls/click", "/asm/unsubscribe", "/asm/preferences"):
        answers = {method: api.call(method, path)[0] for method in ("GET", "HEAD")}
        if len(set(answers.values())) != 1 or set(answers.values()) & {403, 405, 500, 502, 503}:
            sys.exit(f"{path}: {answers}")
    step("HEAD on the routes of recipients is answered as GET is")


def sender(api, relay):
    body, _ = api.expect(403, "POST", "/v3/mail/send", mail("Too early"))
    fields = {
        "nickname": "news", "from_email": SENDER, "reply_to": SENDER, "address": "Main Street 1",
        "city": "Springfield", "country": "USA",
    }
    api.expect(201, "POST", "/v3/verified_senders", fields)
    sent = until("the mail with the link", lambda: relay.mails, 60)[0]
    text = sent.get_body(("plain", "html")).get_content()
    token = re.search(r"/senders/verify/([A-Za-z0-9._~-]+)", text).group(1)
    status, page, _ = api.call("POST", f"/senders/verify/{token}")
    if status not in (200, 204, 302, 303):
        sys.exit(f"the link of a sender: {status} {page}")
    step("a stranger is refused as a sender; one who follows the link may send")


def now(api, relay, key):
    _, headers = api.expect(202, "POST", "/v3/mail/send", mail("Now"), key)
    got = until("the mail sent now", lambda: relay.with_subject("Now"), 60)[0]
    if headers["x-message-id"] not in str(got["message-id"]):
        sys.exit(f"another message: {got['message-id']}")
    # Does not compress, so that it is above what a queue takes.
    noise = random.Random(1).randbytes(1_200_000)
    large = {"content": base64.b64encode(noise).decode(), "filename": "a.bin"}
    api.expect(202, "POST", "/v3/mail/send", mail("Large", attachments=[large]), key)
    got = until("the large mail", lambda: relay.with_subject("Large"), 60)[0]
    [part] = got.iter_attachments()
    if part.get_content() != noise:
        sys.exit("an attachment is not what was sent")
    step("mails sent now arrive, small ones by the queue and large ones by the bucket")


def suppressed(api, relay):
    """One who is on a list is not written to, the others of the same mail are."""
    listed = {"recipient_emails": ["gone@example.net"]}
    api.expect(201, "POST", "/v3/asm/suppressions/global", listed)
    both = [{"to": [{"email": name + "@example.net"}]} for name in ("gone", "there")]
    _, headers = api.expect(202, "POST", "/v3/mail/send", mail("Listed", personalizations=both))
    until("the copy of one who is not listed", lambda: relay.with_subject("Listed"), 60)

    def state():
        status, found, _ = api.call("GET", f"/v3/messages/{headers['x-message-id']}")
        return status == 200 and [event["event_name"] for event in found["events"]]

    until("the copy of one who is listed is dropped", lambda: "dropped" in (state() or []), 60)
    if [mail["to"] for mail in relay.with_subject("Listed")] != ["there@example.net"]:
        sys.exit("one who is on a list was written to")
    step("who is on a suppression list is dropped, who is not gets the mail")


def variables_of(emulator):
    """What the functions together have in their environment, less what says which of them one is."""
    variables = {}
    for function in client("lambda", emulator.url).list_functions()["Functions"]:
        variables |= function.get("Environment", {}).get("Variables", {})
    for name in ("AWS_SDK_UA_APP_ID", "AWS_ENDPOINT_URL_S3"):
        variables.pop(name, None)
    # Empty in the stack, whose gateway names itself; a process outside of it has no gateway.
    return variables | {"PUBLIC_URL": "https://api.example.com"}


def beyond_lambda(relay, emulator, binary, key):
    """What no Lambda takes goes through the one-process API, by the same bucket and queue."""
    host = AwsHost(binary, emulator.url, variables_of(emulator))
    content = base64.b64encode(bytes(range(256)) * 73_243).decode()
    large = {"content": content, "filename": "large.bin"}
    status, text, _ = host.post("/v3/mail/send", mail("Huge", attachments=[large]), key)
    if status != 202:
        sys.exit(f"a mail of 25 MB: {status} {text}")
    got = until("the mail of 25 MB", lambda: relay.with_subject("Huge"), 120)[0]
    [part] = got.iter_attachments()
    if part.get_content() != bytes(range(256)) * 73_243:
        sys.exit("a large attachment is not what was sent")
    submitted(relay, host, key)
    host.stop()
    step(f"a mail of {len(content) / 1e6:.0f} MB passes through posthaste --aws")


def submitted(relay, host, key):
    """The same process takes mail by SMTP, of the same keys and for the same queue."""
    message = f"From: {SENDER}\r\nTo: ada@example.net\r\nSubject: Submitted\r\n\r\nThe sun is up.\r\n"
    with smtplib.SMTP(*host.submission, timeout=60) as smtp:
        try:
            smtp.login("apikey", "SG." + "a" * 22 + "." + "b" * 43)
            sys.exit("a wrong key logs in by SMTP")
        except smtplib.SMTPAuthenticationError:
            pass
        smtp.login("apikey", key)
        smtp.sendmail(SENDER, ["ada@example.net"], message)
    got = until("the mail submitted by SMTP", lambda: relay.with_subject("Submitted"), 120)[0]
    if got.get_content().strip() != "The sun is up.":
        sys.exit("a mail submitted by SMTP is not what was sent")
    step("a mail submitted by SMTP passes through posthaste --aws")


def later(api, relay):
    batch, _ = api.expect(201, "POST", "/v3/mail/batch")
    batch = batch["batch_id"]
    at = int(time.time()) + 75
    api.expect(202, "POST", "/v3/mail/send", mail("Later", send_at=at))
    # What leaves within ten minutes can no longer be cancelled, so that this one is not waited for.
    far = mail("Never", send_at=at + 1200, batch_id=batch)
    api.expect(202, "POST", "/v3/mail/send", far)
    cancel = {"batch_id": batch, "status": "cancel"}
    api.expect(201, "POST", "/v3/user/scheduled_sends", cancel)
    api.expect(400, "POST", "/v3/user/scheduled_sends", cancel)
    state, _ = api.expect(200, "GET", f"/v3/user/scheduled_sends/{batch}")
    if [one["status"] for one in state] != ["cancel"]:
        sys.exit(f"a cancelled batch is not: {state}")
    until("the mail sent later", lambda: relay.with_subject("Later"), 200)
    left = time.time() - at
    if left < 0:
        sys.exit(f"a later send left {-left:.1f} s early")
    step("a batch is cancelled, once")
    step(f"a later send left {left:.1f} s after its time by the rule of every minute")
    return at


def webhook(api, relay, emulator, resources):
    """The guard lets no webhook reach this machine, so what is seen is that it is tried again."""
    hook = {"enabled": True, "url": "https://hooks.invalid/events", "delivered": True}
    api.expect(201, "POST", "/v3/user/webhooks/event/settings", hook)
    api.expect(202, "POST", "/v3/mail/send", mail("Told"))
    until("the mail that is told of", lambda: relay.with_subject("Told"), 60)
    queues = client("sqs", emulator.url)
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed",
             "ApproximateNumberOfMessagesNotVisible"]

    def waiting():
        url = resources["RetriesQueue"]
        found = queues.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(int(count) for count in found.values())

    until("the events of a webhook that does not answer", waiting, 90)
    step("events reach the fan-out; what a webhook does not take waits for another try")


def value_of(emulator, secret):
    return client("secretsmanager", emulator.url).get_secret_value(SecretId=secret)["SecretString"]


def owner(emulator):
    """The key that was made with the stack and the link into the console, from the secret that the outputs name."""
    outputs = client("cloudformation", emulator.url).describe_stacks(StackName="posthaste")["Stacks"][0]["Outputs"]
    outputs = {one["OutputKey"]: one["OutputValue"] for one in outputs}
    held = json.loads(value_of(emulator, outputs["OwnerKeyArn"]))
    step("the stack was made with its first account, whose key and link are in the secret of an output")
    return held["api_key"], held["console_link"]


def configuration(emulator, secrets):
    """No function's configuration shows a secret."""
    shown = client("lambda", emulator.url).list_functions()["Functions"]
    for function in shown:
        for name, value in function.get("Environment", {}).get("Variables", {}).items():
            if any(secret in value for secret in secrets):
                sys.exit(f"{function['FunctionName']} shows a secret in {name}")
    step(f"{len(shown)} functions, none of which shows the ring, the relay or the key in its variables")


def changed(emulator, parameters, key, api):
    """A deployment of another owner makes no account and no key, and the first stays."""
    change(emulator.url, {**parameters, "Owner": "other"})
    if owner(emulator)[0] != key:
        sys.exit("an update has made another key")
    api.expect(200, "GET", "/v3/scopes")
    step("an update makes no other account and no other key")


def figures(emulator, secrets):
    """The functions write figures where CloudWatch looks for them, and no secret."""
    logs = client("logs", emulator.url)
    found = set()
    for group in logs.describe_log_groups()["logGroups"]:
        name = group["logGroupName"]
        for event in logs.filter_log_events(logGroupName=name)["events"]:
            found |= set(re.findall(r'"Name":"([a-z_]+)"', event["message"]))
            if any(secret in event["message"] for secret in secrets):
                sys.exit(f"{name} has a secret in it")
    return found


def main():
    binaries, posthaste = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    record = Record()
    with surroundings() as (relay, emulator), contextlib.closing(Tap(emulator.port, seen=record.seen)) as tap:
        day = bad_day.if_wanted(emulator.port)
        tap.fault = day and day.fault
        parameters = {
            "Delivery": f"smtp://127.0.0.1:{relay.port}?tls=none",
            "HostnameOfService": "mail.example.com",
            "Owner": "owner",
        }
        resources = deploy(emulator.url, binaries, parameters, called=tap.url)
        step(f"deployed: {len(resources)} resources")
        key, link = owner(emulator)
        secrets = [key, link.rpartition("=")[2], parameters["Delivery"], value_of(emulator, resources["StackSecret"])]
        configuration(emulator, secrets)
        api = Api(emulator.port, resources["Api"], key)
        routes(emulator, resources)
        unknown(api)
        sends = keys(api)
        subusers(api)
        paths(api)
        seen(api)
        sender(api, relay)
        now(api, relay, sends)
        suppressed(api, relay)
        beyond_lambda(relay, emulator, posthaste, sends)
        webhook(api, relay, emulator, resources)
        step(received.received(api, emulator, resources))
        step(moving.moved(api, posthaste, emulator.url, variables_of(emulator)))
        for proven in console.followed(api, link, json.dumps(mail("Followed"))):
            step(proven)
        later(api, relay)
        record.save(pathlib.Path("target/stack/drive.json"), resources)
        changed(emulator, parameters, key, api)
        told = figures(emulator, secrets)
        if not {"accepted", "delivered"} <= told:
            sys.exit(f"figures are missing: {sorted(told)}")
        if day:
            step(f"on a bad day: {day.met}")
        step(f"figures in the logs: {', '.join(sorted(told))}")
    print("the deployed stack does what it must")
    return 0


if __name__ == "__main__":
    sys.exit(main())
