"""Mails that machines write about mails, and what must be read from them."""

from kit import Case, File, Text, crlf, multi, part

RETURNED = "From: News <news@example.com>\nTo: ann@remote.example\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\nMessage-ID: <0123@mail.example.com>\n"
ORIGINAL = {"message_id": "0123@mail.example.com", "subject": "Grüße"}


def made(name, feature, header, parts, boundary="r1", **want):
    body = parts if isinstance(parts, bytes) else multi(*parts, boundary=boundary)
    header = crlf(header.strip("\n") + "\n")
    return Case(f"report_{name}", feature, header + b"\r\n" + body, header=header, **want)


def head(kind, sender="MAILER-DAEMON@mx.remote.example", subject="Undelivered Mail Returned to Sender", more=""):
    return f"Return-Path: <>\nFrom: {sender}\nTo: inbox@parse.example\nSubject: {subject}\nDate: Fri, 27 Nov 2026 23:01:22 +0000\nMIME-Version: 1.0\nContent-Type: {kind}\n{more}"


def delivery(name, feature, status, recipients, text="I'm sorry.\n", returned=None, original=ORIGINAL, kind="message/delivery-status", extra="", **more):
    returned = returned or part("Content-Type: text/rfc822-headers", RETURNED)
    body = status if isinstance(status, bytes) else crlf(status)
    parts = [part("Content-Type: text/plain; charset=us-ascii", text), part(f"Content-Type: {kind}{extra}", body), returned]
    report = {"kind": "delivery", "recipients": recipients, "original": original}
    sent_back = File(crlf(RETURNED), "attachment2.txt", "text/rfc822-headers")
    files = more.pop("files", [File(body, "attachment1.txt", kind), sent_back])
    return made(name, feature, head('multipart/report; report-type=delivery-status; boundary="r1"'), parts, sender="MAILER-DAEMON@mx.remote.example", subject="Undelivered Mail Returned to Sender", text=Text(crlf(text)), files=files, auto_reply=True, report=report, **more)


def failed(address, status="5.1.1", diagnostic=None, original=None, action="failed", remote=None):
    return {"address": address, "original": original, "action": action, "status": status, "diagnostic": diagnostic, "remote_mta": remote}


def deliveries():
    postfix = "Reporting-MTA: dns; mx.remote.example\nX-Postfix-Queue-ID: 1\nArrival-Date: Fri, 27 Nov 2026 23:01:22 +0000 (UTC)\n\nFinal-Recipient: rfc822; ann@remote.example\nOriginal-Recipient: rfc822;ann@remote.example\nAction: failed\nStatus: 5.1.1\nRemote-MTA: dns; mx2.remote.example\nDiagnostic-Code: smtp; 550 5.1.1 <ann@remote.example>: Recipient address\n    rejected: User unknown\n"
    yield delivery("postfix", "Postfix: an unknown user", postfix, [failed("ann@remote.example", diagnostic="550 5.1.1 <ann@remote.example>: Recipient address    rejected: User unknown", original="ann@remote.example", remote="mx2.remote.example")])
    two = "Reporting-MTA: dns; cs.utk.example\n\nOriginal-Recipient: rfc822;arathib@vnet.ibm.example\nFinal-Recipient: rfc822;arathib@vnet.ibm.example\nAction: failed\nStatus: 5.0.0 (permanent failure)\nDiagnostic-Code: smtp; 550 'arathib@vnet.IBM.COM' is not a registered gateway user\nRemote-MTA: dns; vnet.ibm.example\n\nFinal-Recipient: rfc822;johnh@hpnjld.njd.hp.example\nAction: delayed\nStatus: 4.0.0 (hpnjld.njd.jp.com: host name lookup failure)\n\nFinal-Recipient: rfc822;wsnell@sdcc13.ucsd.example\nAction: delivered\nStatus: 2.1.5\n"
    yield delivery("several", "RFC 3464, appendix E.2: several recipients", two, [failed("arathib@vnet.ibm.example", "5.0.0", "550 'arathib@vnet.IBM.COM' is not a registered gateway user", "arathib@vnet.ibm.example", remote="vnet.ibm.example"), failed("johnh@hpnjld.njd.hp.example", "4.0.0", action="delayed"), failed("wsnell@sdcc13.ucsd.example", "2.1.5", action="delivered")])
    tight = "Reporting-MTA: dns; a.example\nFinal-Recipient: rfc822; <ann@remote.example>\nAction: FAILED\nStatus: 5.7.1\nDiagnostic-Code: 554 blocked; see https://remote.example/x\n"
    yield delivery("no_groups", "no empty line, capitals, angle brackets, an untyped diagnostic", tight, [failed("ann@remote.example", "5.7.1", "554 blocked; see https://remote.example/x")])
    odd = "Reporting-MTA: dns; a.example\n\nFinal-Recipient: rfc822; ann@remote.example\nAction: failed\nStatus: unknown\n\nAction: failed\nStatus: 5.0.0\n\nFinal-Recipient: rfc822; bob@remote.example\nAction: exploded\n"
    yield delivery("incomplete", "groups without an address or a known action are skipped", odd, [failed("ann@remote.example", None)])
    eai = "Reporting-MTA: dns; a.example\n\nFinal-Recipient: utf-8; Jörg@remote.example\nAction: failed\nStatus: 5.1.1\n"
    yield delivery("international", "RFC 6533: an international address", eai, [failed("Jörg@remote.example")], kind="message/global-delivery-status")
    coded = b"UmVwb3J0aW5nLU1UQTogZG5zOyBhDQoNCkZpbmFsLVJlY2lwaWVudDogcmZjODIyOyBhbm5AYg0KQWN0aW9uOiBmYWlsZWQNClN0YXR1czogNS4wLjANCg==\r\n"
    decoded = crlf("Reporting-MTA: dns; a\n\nFinal-Recipient: rfc822; ann@b\nAction: failed\nStatus: 5.0.0\n")
    sent_back = File(crlf(RETURNED), "attachment2.txt", "text/rfc822-headers")
    yield delivery("base64", "a status in base64, which RFC 3464 forbids", coded, [failed("ann@b", "5.0.0")], extra="\nContent-Transfer-Encoding: base64", files=[File(decoded, "attachment1.txt", "message/delivery-status"), sent_back], python="Python does not decode it")
    whole = crlf(RETURNED + "\nThe whole mail\n")
    status = "Reporting-MTA: dns; a.example\n\nFinal-Recipient: rfc822; ann@remote.example\nAction: failed\nStatus: 5.2.2\n"
    yield delivery("whole_mail", "the whole mail is returned", status, [failed("ann@remote.example", "5.2.2")], returned=part("Content-Type: message/rfc822", whole), files=[File(crlf(status), "attachment1.txt", "message/delivery-status"), File(whole, "attachment2.eml", "message/rfc822")])
    lost = {"message_id": None, "subject": None}
    yield delivery("nothing_returned", "nothing is returned", status, [failed("ann@remote.example", "5.2.2")], returned=part("Content-Type: application/octet-stream", b"x"), original=lost, files=[File(crlf(status), "attachment1.txt", "message/delivery-status"), File(b"x", "attachment2.bin")])


def complaints():
    def one(name, feature, fields, report, more=""):
        body = crlf(fields)
        parts = [part("Content-Type: text/plain; charset=us-ascii", "This is an abuse report.\n"), part("Content-Type: message/feedback-report", body), part("Content-Type: message/rfc822", RETURNED + "\nHi\n")]
        report = {"kind": "complaint", "original": ORIGINAL, "recipients": [], "mail_from": None, "source_ip": None, "user_agent": None, **report}
        files = [File(body, "attachment1.txt", "message/feedback-report"), File(crlf(RETURNED + "\nHi\n"), "attachment2.eml", "message/rfc822")]
        return made(name, feature, head('multipart/report; report-type=feedback-report; boundary="r1"', "<abuse@isp.example>", "FW: Earn money", more), parts, sender="<abuse@isp.example>", subject="FW: Earn money", text=Text(b"This is an abuse report.\r\n"), files=files, auto_reply=True, report=report)

    yield one("arf", "RFC 5965, appendix B.1: the least report", "Feedback-Type: abuse\nUser-Agent: SomeGenerator/1.0\nVersion: 1\n", {"feedback_type": "abuse", "user_agent": "SomeGenerator/1.0"})
    full = "Feedback-Type: Abuse\nUser-Agent: SomeGenerator/1.0\nVersion: 1\nOriginal-Mail-From: <bounce@example.com>\nOriginal-Rcpt-To: <ann@remote.example>\nOriginal-Rcpt-To: bob@remote.example\nReceived-Date: Thu, 8 Mar 2005 14:00:00 EDT\nSource-IP: 192.0.2.2\nReported-Domain: example.com\n"
    yield one("arf_full", "RFC 5965, appendix B.2: every field", full, {"feedback_type": "abuse", "user_agent": "SomeGenerator/1.0", "recipients": ["ann@remote.example", "bob@remote.example"], "mail_from": "bounce@example.com", "source_ip": "192.0.2.2"})
    yield one("not_spam", "a complaint taken back", "Feedback-Type: not-spam\nUser-Agent: x\nVersion: 1\n", {"feedback_type": "not-spam", "user_agent": "x"})


def replies():
    def one(name, feature, extra, auto=True, sender="Ann <ann@example.com>"):
        header = f"From: {sender}\nTo: inbox@parse.example\nSubject: Out of office\nMIME-Version: 1.0\n{extra}"
        return made(name, feature, header, b"I am away.\r\n", sender=sender, subject="Out of office", text=Text(b"I am away.\r\n"), auto_reply=auto)

    yield one("auto_replied", "RFC 3834: Auto-Submitted", "Auto-Submitted: auto-replied (vacation)")
    yield one("auto_no", "Auto-Submitted: no is a person's mail", "Auto-Submitted: No", auto=False)
    yield one("precedence", "Precedence: bulk", "Precedence: Bulk")
    yield one("precedence_other", "Precedence of no meaning", "Precedence: first-class", auto=False)
    yield one("autoreply", "X-Autoreply", "X-Autoreply: yes")
    yield one("person", "a person who writes about being out of office", "X-Mailer: hand", auto=False)
    mdn = [part("Content-Type: text/plain", "Your message was displayed.\n"), part("Content-Type: message/disposition-notification", "Final-Recipient: rfc822; ann@example.com\nDisposition: manual-action/MDN-sent-manually; displayed\n")]
    yield made("read", "RFC 8098: a read receipt is no delivery report", head('multipart/report; report-type=disposition-notification; boundary="r1"', "Ann <ann@example.com>", "Read: Hello"), mdn, sender="Ann <ann@example.com>", subject="Read: Hello", text=Text(b"Your message was displayed.\r\n"), files=[File(crlf("Final-Recipient: rfc822; ann@example.com\nDisposition: manual-action/MDN-sent-manually; displayed\n"), "attachment1.txt", "message/disposition-notification")], auto_reply=True)
    inner = crlf("From: a@b\nContent-Type: multipart/report; boundary=i\n\n--i\n\nx\n--i\nContent-Type: message/delivery-status\n\nFinal-Recipient: rfc822; x@y\nAction: failed\n--i--\n")
    yield made("forwarded", "a bounce that a person forwards is no report", head('multipart/mixed; boundary="r1"', "Ann <ann@example.com>", "Fwd: bounce"), [part("Content-Type: text/plain", "See below"), part("Content-Type: message/rfc822", inner)], sender="Ann <ann@example.com>", subject="Fwd: bounce", text=Text(b"See below"), files=[File(inner, "attachment1.eml", "message/rfc822")])


def cases():
    yield from deliveries()
    yield from complaints()
    yield from replies()
