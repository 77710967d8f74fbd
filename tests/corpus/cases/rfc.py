"""The examples that the standards give of themselves, in their own words where words matter."""

from kit import Case, File, Text, crlf, multi, part


def example(name, feature, header, body, **want):
    header = crlf(header.strip("\n") + "\n")
    body = body if isinstance(body, bytes) else crlf(body)
    want.setdefault("text", Text(body))
    return Case(f"rfc{name}", feature, header + b"\r\n" + body, header=header, **want)


JOHN = "John Doe <jdoe@machine.example>"
MARY = "Mary Smith <mary@example.net>"
SAYING = "This is a message just to say hello.\nSo, \"Hello\".\n"
HELLO = "Saying Hello"


def rfc5322():
    def one(name, feature, header, body=SAYING, sender=JOHN, to=MARY, subject=HELLO, **want):
        return example(f"5322_{name}", f"RFC 5322, {feature}", header, body, sender=sender, to=to, subject=subject, **want)

    date = "Date: Fri, 21 Nov 1997 09:55:06 -0600\nMessage-ID: <1234@local.machine.example>"
    base = f"From: {JOHN}\nTo: {MARY}\nSubject: {HELLO}\n{date}"
    yield one("a11", "A.1.1: a simple mail", base)
    sender = "From: John Doe <jdoe@machine.example>\nSender: Michael Jones <mjones@machine.example>"
    yield one("a11_sender", "A.1.1: another sender", f"{sender}\nTo: {MARY}\nSubject: {HELLO}\n{date}")
    to = "Mary Smith <mary@x.test>, jdoe@example.org, Who? <one@y.test>"
    cc = '<boss@nil.test>, "Giant; \\"Big\\" Box" <sysservices@example.net>'
    yield one("a12", "A.1.2: mailboxes of every kind", f'From: "Joe Q. Public" <john.q.public@example.com>\nTo: {to}\nCc: {cc}\nDate: Tue, 1 Jul 2003 10:52:37 +0200\nMessage-ID: <5678.21-Nov-1997@example.com>', "Hi everyone.\n", sender='"Joe Q. Public" <john.q.public@example.com>', to=to, cc=cc, subject="")
    group = "A Group:Ed Jones <c@a.test>,joe@where.test,John <jdoe@one.test>;"
    yield one("a13", "A.1.3: groups", f"From: Pete <pete@silly.example>\nTo: {group}\nCc: Undisclosed recipients:;\nDate: Thu, 13 Feb 1969 23:32:54 -0330\nMessage-ID: <testabcd.1234@silly.example>", "Testing.\n", sender="Pete <pete@silly.example>", to=group, cc="Undisclosed recipients:;", subject="")
    yield one("a2", "A.2: a reply", f'From: {MARY}\nTo: {JOHN}\nReply-To: "Mary Smith: Personal Account" <smith@home.example>\nSubject: Re: Saying Hello\nDate: Fri, 21 Nov 1997 10:01:10 -0600\nMessage-ID: <3456@example.net>\nIn-Reply-To: <1234@local.machine.example>\nReferences: <1234@local.machine.example>', "This is a reply to your hello.\n", sender=MARY, to=JOHN, subject="Re: Saying Hello")
    yield one("a3", "A.3: resent", f"Resent-From: Mary Smith <mary@example.net>\nResent-To: Jane Brown <j-brown@other.example>\nResent-Date: Mon, 24 Nov 1997 14:22:01 -0800\nResent-Message-ID: <78910@example.net>\n{base}")
    yield one("a4", "A.4: trace fields", f"Received: from x.y.test\n by example.net\n via TCP\n with ESMTP\n id ABC12345\n for <mary@example.net>;  21 Nov 1997 10:05:43 -0600\nReceived: from node.example by x.y.test; 21 Nov 1997 10:01:22 -0600\n{base}")
    pete = "Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>"
    people = "A Group(Some people)\n     :Chris Jones <c@(Chris's host.)public.example>,\n         joe@example.org,\n  John <jdoe@one.test> (my dear friend); (the end of the group)"
    unfolded = people.replace("\n", "")
    hidden = "(Empty list)(start)Hidden recipients  :(nobody(that I know))  ;"
    yield one("a5", "A.5: white space and comments everywhere", f"From: {pete}\nTo: {people}\nCc:{hidden}\nDate: Thu,\n      13\n        Feb\n          1969\n      23:32\n               -0330 (Newfoundland Time)\nMessage-ID:              <testabcd.1234@silly.test>", "Testing.\n", sender=pete, to=unfolded, cc=hidden, subject="")
    old = "Mary Smith <@node.test:mary@example.net>, , jdoe@test  . example"
    yield one("a61", "A.6.1: obsolete addresses", f"From: Joe Q. Public <john.q.public@example.com>\nTo: {old}\nDate: Tue, 1 Jul 2003 10:52:37 +0200\nMessage-ID: <5678.21-Nov-1997@example.com>", "Hi everyone.\n", sender="Joe Q. Public <john.q.public@example.com>", to=old, subject="")
    yield one("a63", "A.6.3: obsolete white space", f"From  : John Doe <jdoe@machine(comment).  example>\nTo    : Mary Smith\n  \n          <mary@example.net>\nSubject     : Saying Hello\nDate  : Fri, 21 Nov 1997 09(comment):   55  :  06 -0600\nMessage-ID  : <1234   @   local(blah)  .machine .example>", sender="John Doe <jdoe@machine(comment).  example>", to="Mary Smith            <mary@example.net>", python="Python takes it for the body")


def rfc2046():
    date = "Date: Sun, 21 Mar 1993 23:56:48 -0800 (PST)"
    base = f"From: Nathaniel Borenstein <nsb@bellcore.example>\nTo: Ned Freed <ned@innosoft.example>\n{date}\nSubject: Sample message\nMIME-Version: 1.0"
    who = {"sender": "Nathaniel Borenstein <nsb@bellcore.example>", "to": "Ned Freed <ned@innosoft.example>"}

    def one(name, feature, kind, body, subject="Sample message", **want):
        return example(f"2046_{name}", f"RFC 2046, {feature}", f"{base}\n{kind}", body, subject=subject, **who, **want)

    first = "This is implicitly typed plain US-ASCII text.\nIt does NOT end with a linebreak."
    second = "This is explicitly typed plain US-ASCII text.\nIt DOES end with a linebreak.\n"
    joined = crlf(first) + b"\r\n" + crlf(second)
    body = multi(part("", first), part("Content-type: text/plain; charset=us-ascii", second), boundary="simple boundary", before=crlf("This is the preamble.  It is to be ignored.\n\n"), after=crlf("\nThis is the epilogue.  It is also to be ignored.\n"))
    yield one("multipart", "5.1.1: the first multipart", 'Content-type: multipart/mixed; boundary="simple boundary"', body, text=Text(joined, pieces=[crlf(first), crlf(second)]))
    audio = part("Content-Type: audio/basic\nContent-Transfer-Encoding: base64", b"LnNuZA==\r\n")
    picture = part("Content-Type: image/jpeg\nContent-Transfer-Encoding: base64", b"/9j/\r\n")
    yield one("parallel", "5.1.6: multipart/parallel, which nobody knows", "Content-Type: multipart/parallel; boundary=unique-boundary-2", multi(audio, picture, boundary="unique-boundary-2"), text=None, files=[File(b".snd", "attachment1.bin", "audio/basic"), File(b"\xff\xd8\xff", "attachment2.jpg", "image/jpeg")])
    yield one("unknown_multipart", "5.1.3: an unknown multipart is mixed", "Content-Type: multipart/x-new; boundary=b", multi(part("", "Hi"), boundary="b"), text=Text(b"Hi"))
    outside = part("Content-Type: message/external-body; access-type=local-file; name=\"/u/nsb/Me.jpeg\"", "Content-type: image/jpeg\nContent-ID: <id42@guppylake.example>\n\nTHIS IS NOT REALLY THE BODY!\n")
    yield one("external", "5.2.3: message/external-body", "Content-Type: multipart/mixed; boundary=b", multi(part("", "Hi"), outside, boundary="b"), text=Text(b"Hi"), files=[File(crlf("Content-type: image/jpeg\nContent-ID: <id42@guppylake.example>\n\nTHIS IS NOT REALLY THE BODY!\n"), "/u/nsb/Me.jpeg", "message/external-body")])
    yield one("partial", "5.2.2: one piece of a message/partial", 'Content-Type: message/partial; number=2; total=3; id="oc=jpbe0M2Yt4s@thumper.example"', "second half of encoded audio data\n", text=None, files=[File(b"second half of encoded audio data\r\n", "attachment1.txt", "message/partial")])


def others():
    base = "From: Ann <ann@example.com>\nTo: inbox@parse.example\nMIME-Version: 1.0"
    names = [
        ("from", "=?US-ASCII?Q?Keith_Moore?= <moore@cs.utk.example>", "Keith Moore <moore@cs.utk.example>"),
        ("to", "=?ISO-8859-1?Q?Keld_J=F8rn_Simonsen?= <keld@dkuug.example>", "Keld Jørn Simonsen <keld@dkuug.example>"),
        ("cc", "=?ISO-8859-1?Q?Andr=E9?= Pirard <PIRARD@vm1.ulg.example>", "André Pirard <PIRARD@vm1.ulg.example>"),
        ("subject", "=?ISO-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?=\n =?ISO-8859-2?B?dSB1bmRlcnN0YW5kIHRoZSBleGFtcGxlLg==?=", "If you can read this you understand the example."),
    ]
    want = {"sender" if name == "from" else name: text for name, _, text in names}
    yield example("2047_8", "RFC 2047, section 8: the examples", "\n".join(f"{name.title()}: {value}" for name, value, _ in names), "Hi\n", **want)
    for n, (value, text) in enumerate([("(=?ISO-8859-1?Q?a?=)", "(a)"), ("(=?ISO-8859-1?Q?a?= b)", "(a b)"), ("(=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=)", "(ab)"), ("(=?ISO-8859-1?Q?a_b?=)", "(a b)"), ("(=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=)", "(a b)")]):
        yield example(f"2047_8_{n + 1}", f"RFC 2047, section 8: line {n + 1} of the table", f"{base}\nSubject: {value}", "Hi\n", subject=text)
    url = "message/external-body; access-type=URL;\n URL*0=\"ftp://\";\n URL*1=\"cs.utk.example/pub/moore/bulk-mailer/bulk-mailer.tar\""
    yield example("2231_3", "RFC 2231, section 3: a parameter in sections", f"{base}\nSubject: Hello\nContent-Type: {url}", "Content-Type: application/octet-stream\n\n", text=None, files=[File(b"Content-Type: application/octet-stream\r\n\r\n", "attachment1.txt", "message/external-body")])
    title = "application/x-stuff;\n name*0*=us-ascii'en'This%20is%20even%20more%20;\n name*1*=%2A%2A%2Afun%2A%2A%2A%20;\n name*2=\"isn't it!\""
    yield example("2231_41", "RFC 2231, section 4.1: sections and encoding together", f"{base}\nSubject: Hello\nContent-Type: {title}", "x\n", text=None, files=[File(b"x\r\n", "This is even more ***fun*** isn't it!", "application/x-stuff")])
    yield example("3676", "RFC 3676: format=flowed keeps its spaces", f"{base}\nSubject: Hello\nContent-Type: text/plain; charset=us-ascii; format=flowed; delsp=yes", "Some lines go on \nhere.\n -- \n> quoted \n> text\n")
    bulk = "List-Id: News <news.lists.example>\nList-Unsubscribe: <https://lists.example/u>\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\nPrecedence: list"
    yield example("2369", "RFC 2369 and 8058: a mailing list", f"{base}\nSubject: Hello\n{bulk}", "Hi\n", auto_reply=True)
    related = multi(part("Content-Type: Application/X-FixedRecord\nContent-ID: <950120.aaCC@XIson.example>", "25\n10\n34"), part("Content-Type: Application/octet-stream\nContent-Transfer-Encoding: base64\nContent-ID: <950120.aaCB@XIson.example>", b"T2xkIE1hY0RvbmFsZA==\r\n"), boundary="example-1")
    yield example("2387", "RFC 2387: related parts without HTML", f"{base}\nSubject: Hello\nContent-Type: Multipart/Related; boundary=example-1\n start=\"<950120.aaCC@XIson.example>\"; type=\"Application/X-FixedRecord\"", related, text=None, files=[File(crlf("25\n10\n34"), "attachment1.bin", "application/x-fixedrecord", "950120.aaCC@XIson.example"), File(b"Old MacDonald", "attachment2.bin", cid="950120.aaCB@XIson.example")], python="Python takes the next parameter into the boundary")


def cases():
    yield from rfc5322()
    yield from rfc2046()
    yield from others()
