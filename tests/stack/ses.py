#!/usr/bin/env python3
"""Delivery by SES: the template deployed with it, onto an emulator of SES v2 whose calls are tapped.

What is seen on the wire is what AWS would get; what comes back is the emulator's own answer, or one of
AWS's that it cannot be made to give. At the end the same stack is told to deliver by SMTP, and the same
requests must make the same mails.
"""

import contextlib
import json
import pathlib
import re
import subprocess
import sys

from drive import step
from feedback import Feedback
from outbound import REJECTED, THROTTLED, Ses
from parts import Api, credentials, first_key, surroundings, until
from rights import Record
from samples import PLAIN, SAMPLES, SENDER, plain, recipients, request, same, shape
from stack import change, client, deploy

HOSTNAME = "mail.example.com"
LETTER = "Please confirm your sender address"
EVENTS = {"SEND", "DELIVERY", "DELIVERY_DELAY", "BOUNCE", "COMPLAINT", "REJECT", "RENDERING_FAILURE"}


def check(holds, what):
    if not holds:
        sys.exit(what)


class Mails:
    """Sends requests and asks what became of them."""

    def __init__(self, api):
        self.api = api

    def send(self, wanted):
        _, headers = self.api.expect(202, "POST", "/v3/mail/send", wanted)
        return headers["x-message-id"]

    def told(self, message):
        """Status and events of a mail to one recipient."""
        status, found, _ = self.api.call("GET", f"/v3/messages/{message}")
        if status != 200:
            return None, []
        return found["status"], [(event["event_name"], event.get("reason", "")) for event in found["events"]]

    def until(self, message, status, *names):
        """The events, once the mail stands there and exactly these were told."""
        def there():
            now, events = self.told(message)
            return now == status and sorted(name for name, _ in events) == sorted(names) and events

        return until(f"{message} is {status}, with {names}", there, 90)


def configuration_set(ses, resources):
    """The set that the template makes: SES's own list off, its events on their way to the topic."""
    name = resources["MailSet"]
    made = ses.get_configuration_set(ConfigurationSetName=name)
    check(made["SuppressionOptions"] == {"SuppressedReasons": []}, f"SES keeps a list: {made}")
    found = ses.get_configuration_set_event_destinations(ConfigurationSetName=name)
    [destination] = found["EventDestinations"]
    topic = destination["SnsDestination"]["TopicArn"]
    check(topic == resources["MailEventsTopic"], f"SES publishes elsewhere: {topic}")
    check(set(destination["MatchingEventTypes"]) == EVENTS, f"of other events: {destination}")
    step("the stack's configuration set publishes its events and keeps no list of its own")
    return name


def sender(api, ses, outbound):
    """A sender's link leaves by SES too, and only then does SES hear of the sender."""
    api.expect(403, "POST", "/v3/mail/send", request("Too early", PLAIN))
    fields = {"nickname": "news", "from_email": SENDER, "reply_to": SENDER, "address": "Main Street 1",
              "city": "Springfield", "country": "USA"}
    api.expect(201, "POST", "/v3/verified_senders", fields)
    refused = until("SES refuses a stranger", lambda: outbound.sent(LETTER, taken=False), 60)[0]
    check("not verified" in refused.why, f"SES refused for another reason: {refused.why}")
    # What the operator does once.
    ses.create_email_identity(EmailIdentity=HOSTNAME)
    letter = until("SES takes the link", lambda: outbound.sent(LETTER, taken=True), 90)[0]
    token = re.search(r"/senders/verify/([A-Za-z0-9._~-]+)", letter.mail.get_content()).group(1)
    known = lambda: {one["IdentityName"] for one in ses.list_email_identities()["EmailIdentities"]}
    check(known() == {HOSTNAME}, f"SES hears of a sender too early: {known()}")
    status, page, _ = api.call("POST", f"/senders/verify/{token}")
    check(status in (200, 204, 302, 303), f"the link of a sender: {status} {page}")
    check(known() == {HOSTNAME, SENDER}, f"SES does not hear of a sender: {known()}")
    step("a domain that SES does not know waits; a sender who follows the link is made known to SES")


def preflight(posthaste, table, endpoint):
    """The operator's command sees what SES knows."""
    asked = ["ses", "preflight", HOSTNAME, "unknown.example.org", "--aws", "--table", table, "--json"]
    said = subprocess.run([posthaste, *asked], env=credentials(endpoint), capture_output=True, text=True, check=False)
    check(said.stdout.startswith("{"), f"preflight: {said.stdout}{said.stderr}")
    found = json.loads(said.stdout)
    known = {one["domain"]: one["verified"] for one in found["domains"]}
    check(known == {HOSTNAME: True, "unknown.example.org": False} and not found["ready"], f"preflight: {found}")
    check(found["sent_in_a_day"] >= 1 and not found["sandbox"], f"preflight: {found}")
    step(f"preflight tells a domain that SES knows from one that it does not; {found['sent_in_a_day']:.0f} sent today")


def taken(mails, outbound, name):
    """The samples: one call for each recipient, by the set, with our ids; the bytes for later."""
    raw = {}
    for sample in SAMPLES:
        subject, everybody = sample["subject"], recipients(sample)
        message = mails.send(sample)
        until(f"SES has {subject}", lambda: len(outbound.sent(subject, taken=True)) == len(everybody), 60)
        for number, one in enumerate(sorted(outbound.sent(subject), key=lambda one: tag(one, "recipient"))):
            check(len(one.to) == 1 and not one.others, f"one call for {one.to} and {one.others}")
            check(one.set == name, f"{subject} by the set {one.set}")
            check(tag(one, "message") == message, f"{subject} has the tags {one.tags}")
            check(tag(one, "recipient") == str(number) and tag(one, "account"), f"the tags {one.tags}")
            raw[subject, one.to[0]] = plain(one.raw, message)
        check({one.to[0] for one in outbound.sent(subject)} == everybody, f"{subject} to others")
        record = {(mail["MessageId"], *mail["To"]) for mail in outbound.recorded(subject)}
        check(record == {(one.id, *one.to) for one in outbound.sent(subject)}, f"SES's record: {record}")
        mails.until(message, "processed", "processed")
    step(f"{len(SAMPLES)} mails handed over for {len(raw)} recipients, with set and tags; the emulator has them")
    return raw


def tag(sent, name):
    return sent.tags.get(f"posthaste-{name}", "")


def throttled(mails, outbound):
    subject = "Throttled"
    outbound.go_wrong(subject, THROTTLED, THROTTLED)
    message = mails.send(request(subject, PLAIN, to={"to": [{"email": "slow@example.net"}]}))
    until("a mail that was throttled twice", lambda: outbound.sent(subject, taken=True), 90)
    mails.until(message, "processed", "processed")
    check([one.status for one in outbound.sent(subject)] == [429, 429, 200], "tried otherwise")
    step("what SES throttles is offered again until it is taken, and reported as processed alone")


def rejected(mails, outbound, api):
    subject, who = "Rejected", "strict@example.net"
    outbound.go_wrong(subject, REJECTED)
    message = mails.send(request(subject, PLAIN, to={"to": [{"email": who}]}))
    events = mails.until(message, "not_delivered", "processed", "bounced")
    check("MessageRejected: Transaction failed" in dict(events)["bounced"], f"bounced for {events}")
    check(len(outbound.sent(subject)) == 1, "a mail that SES rejects is sent again")
    # The mail is to blame, not the address.
    check(listed(api, "blocks") == {who} and not listed(api, "bounces"), "listed otherwise")
    step("what SES rejects is bounced at once and blocked, its recipient not suppressed")


def listed(api, kind):
    found, _ = api.expect(200, "GET", f"/v3/suppression/{kind}")
    return {one["email"] for one in found}


def unanswered(mails, outbound, feedback):
    """SES took the mail and the answer was lost: nobody knows, so that it is sent again."""
    subject = "Unanswered"
    outbound.lose(subject, 1)
    message = mails.send(request(subject, PLAIN, to={"to": [{"email": "twice@example.net"}]}))
    # The next attempt waits for two minutes, for SES's event.
    until("it is sent again", lambda: outbound.sent(subject, taken=True), 240)
    events = mails.until(message, "processed", "processed", "deferred")
    check("no answer from SES" in dict(events)["deferred"], f"deferred for {events}")
    check([one.status for one in outbound.sent(subject)] == [0, 200], "tried otherwise")
    check(len(outbound.recorded(subject)) == 2, "the emulator did not take it twice")
    for one in outbound.sent(subject):
        feedback.tell("delivery", one)
    mails.until(message, "delivered", "processed", "deferred", "delivered")
    step("an answer that is lost defers the mail; it goes out twice, and is told as one delivery")


def heard_of(mails, outbound, feedback, waiting):
    """The same, but SES's event comes before the next attempt: then there is none."""
    subject = "Heard of"
    outbound.lose(subject)
    message = mails.send(request(subject, PLAIN, to={"to": [{"email": "once@example.net"}]}))
    lost = until("SES takes it", lambda: outbound.sent(subject), 60)[0]
    until("it is deferred", lambda: any(name == "deferred" for name, _ in mails.told(message)[1]), 60)
    feedback.tell("delivery", lost)
    until("it is delivered", lambda: mails.told(message)[0] == "delivered", 60)
    tries = len(outbound.sent(subject))
    until("the next attempt has come", lambda: not waiting(), 240)
    check(len(outbound.sent(subject)) == tries, "a mail that SES has told of is sent again")
    outbound.mend(subject)
    step(f"what SES tells of after {tries} lost answer(s) is not sent again")


def events(mails, outbound, feedback, api):
    """What SES says later decides how a mail stands."""
    def handed(subject, who):
        message = mails.send(request(subject, PLAIN, to={"to": [{"email": who}]}))
        return message, until(f"SES has {subject}", lambda: outbound.sent(subject, taken=True), 60)[0]

    message, sent = handed("Fine", "fine@example.net")
    feedback.strangers(sent)
    feedback.tell("send", sent)
    feedback.tell("delay", sent)
    mails.until(message, "processed", "processed", "deferred")
    feedback.tell("delivery", sent)
    told = mails.until(message, "delivered", "processed", "deferred", "delivered")
    check("250 2.0.0 OK" in dict(told)["delivered"], f"delivered with {told}")
    feedback.tell("complaint", sent)
    until("the complaint is listed", lambda: listed(api, "spam_reports") == {"fine@example.net"}, 60)

    message, sent = handed("Gone", "gone@example.net")
    feedback.tell("bounce", sent)
    told = mails.until(message, "not_delivered", "processed", "bounced")
    check("user unknown" in dict(told)["bounced"], f"bounced with {told}")
    until("the bounce is listed", lambda: listed(api, "bounces") == {"gone@example.net"}, 60)
    again = mails.send(request("Gone again", PLAIN, to={"to": [{"email": "gone@example.net"}]}))
    mails.until(again, "not_delivered", "dropped")
    check(not outbound.sent("Gone again"), "an address that SES bounced is written to")
    step("what SES publishes becomes states: deferred, delivered, bounced and listed, complained of")


def by_smtp(mails, relay, emulator, raw):
    """The same stack with another parameter: every mail must be the one that SES got. The stack's resources then."""
    resources = change(emulator.url, {"Delivery": f"smtp://127.0.0.1:{relay.port}?tls=none"})
    for sample in SAMPLES:
        subject, everybody = sample["subject"], recipients(sample)
        message = mails.send(sample)
        mine = lambda: [one for one in relay.raw if message.encode() in one[1]]
        until(f"the relay has {subject}", lambda: len(mine()) == len(everybody), 90)
        for [who], bytes_ in mine():
            found = plain(bytes_, message)
            check(shape(found) == shape(raw[subject, who]), f"{subject} has another shape")
            same(subject, raw[subject, who], found)
        mails.until(message, "delivered", "processed", "delivered")
    size = sum(map(len, raw.values()))
    step(f"told to deliver by SMTP, the stack makes the same {len(raw)} mails: {size} bytes, but for ids and dates")
    return resources


def jobs(endpoint, resources):
    """How many messages the send queue holds, whatever state they are in."""
    queues, url = client("sqs", endpoint), resources["SendQueue"]
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed",
             "ApproximateNumberOfMessagesNotVisible"]

    def waiting():
        found = queues.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(int(count) for count in found.values())

    return waiting


def main():
    binaries, posthaste = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    record = Record()
    with surroundings() as (relay, emulator):
        outbound = Ses(emulator, record)
        with contextlib.closing(outbound.tap):
            parameters = {"Delivery": "ses", "HostnameOfService": HOSTNAME}
            resources = deploy(emulator.url, binaries, parameters, called=outbound.url)
            step(f"deployed with SES: {len(resources)} resources")
            api = Api(emulator.port, resources["Api"], first_key(posthaste, resources["Table"], emulator.url))
            ses = client("sesv2", emulator.url)
            name = configuration_set(ses, resources)
            mails, feedback = Mails(api), Feedback(emulator.url, resources)
            sender(api, ses, outbound)
            preflight(posthaste, resources["Table"], emulator.url)
            raw = taken(mails, outbound, name)
            throttled(mails, outbound)
            rejected(mails, outbound, api)
            unanswered(mails, outbound, feedback)
            heard_of(mails, outbound, feedback, jobs(emulator.url, resources))
            events(mails, outbound, feedback, api)
            check(not relay.raw, "the relay got a mail meanwhile")
            resources |= by_smtp(mails, relay, emulator, raw)
            record.save(pathlib.Path("target/stack/ses.json"), resources)
    if outbound.day:
        step(f"on a bad day: {outbound.day.met}")
    print("the stack delivers by SES as it must")
    return 0


if __name__ == "__main__":
    sys.exit(main())
