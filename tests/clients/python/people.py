"""Who gets what: recipients, copies, names in every script."""

from sendgrid.helpers.mail import (
    Bcc,
    Cc,
    Content,
    Email,
    From,
    Header,
    Mail,
    MimeType,
    Personalization,
    ReplyTo,
    Subject,
    Substitution,
    To,
)

from harness import case, same


def accepted(answer):
    same(answer.status_code, 202, "status")
    same(answer.body, b"", "body")
    message = answer.headers["X-Message-Id"]
    same(len(message), 22, "length of X-Message-Id")
    return message


@case("a plain mail arrives as it was written")
def plain(b):
    mail = Mail(
        from_email="from@sender.example",
        to_emails=b.address("ann"),
        subject="Sending with the client is fun",
        plain_text_content="and easy to do anywhere, even with Python\n",
        html_content="<strong>and easy to do anywhere, even with Python</strong>",
    )
    message = accepted(b.client.send(mail))
    (copy,) = b.copies(1).values()
    same(copy.people("From"), [("", "from@sender.example")], "From")
    same(copy.people("To"), [("", b.address("ann"))], "To")
    same(copy.subject, "Sending with the client is fun", "Subject")
    same(copy.text.rstrip("\n"), "and easy to do anywhere, even with Python", "text")
    same(copy.html, "<strong>and easy to do anywhere, even with Python</strong>", "html")
    assert copy.message["MessageID"].startswith(message), copy.message["MessageID"]
    same(copy.message["Attachments"] + copy.message["Inline"], [], "files")


@case("recipients of one mail see each other")
def together(b):
    people = [(b.address(name), name.title()) for name in ("ann", "bob", "carl")]
    mail = Mail("from@sender.example", people, "To all", "Hello all", is_multiple=False)
    accepted(b.client.send(mail))
    copies = b.copies(3)
    same(sorted(copies), sorted(address for address, _ in people), "recipients")
    for copy in copies.values():
        same(copy.people("To"), [(name, address) for address, name in people], "To")


@case("recipients of separate mails do not")
def apart(b):
    people = [To(b.address(name), name) for name in ("ann", "bob", "carl")]
    mail = Mail("from@sender.example", people, "To each", "Hello you", is_multiple=True)
    accepted(b.client.send(mail))
    copies = b.copies(3)
    for to in people:
        same(copies[to.email].people("To"), [(to.name, to.email)], "To")


@case("cc is seen by all and bcc by nobody")
def copied(b):
    mail = Mail("from@sender.example", b.address("to"), "Copies", "Hello")
    mail.add_cc(Cc(b.address("cc"), "Carbon"))
    mail.add_bcc(Bcc(b.address("hidden"), "Hidden"))
    mail.reply_to = ReplyTo("answers@sender.example", "Answers")
    accepted(b.client.send(mail))
    copies = b.copies(3)
    same(sorted(copies), sorted(map(b.address, ("to", "cc", "hidden"))), "recipients")
    for recipient, copy in copies.items():
        same(copy.people("To"), [("", b.address("to"))], "To")
        same(copy.people("Cc"), [("Carbon", b.address("cc"))], "Cc")
        same(copy.people("ReplyTo"), [("Answers", "answers@sender.example")], "ReplyTo")
        assert "Bcc" not in copy.headers, copy.headers
        hidden = [("", b.address("hidden"))] if recipient == b.address("hidden") else []
        same(copy.people("Bcc"), hidden, "Bcc")


@case("names in every script and with every mark survive")
def names(b):
    strange = [
        'Quote "inner" mark',
        "Comma, Inc.",
        "Semi; colon: <angle>",
        "Zoë Müller",
        "Party 🎉 Person",
        "يوسف الأحمد",
        "田中 文",
        "back\\slash",
    ]
    mail = Mail(From("from@sender.example", strange[4]), subject="سلام – 你好 – 🎉", html_content="<p>x</p>")
    for number, name in enumerate(strange):
        mail.add_to(To(b.address(f"n{number}"), name))
    accepted(b.client.send(mail))
    copies = b.copies(len(strange))
    want = [(name, b.address(f"n{number}")) for number, name in enumerate(strange)]
    for copy in copies.values():
        same(copy.people("To"), want, "To")
        same(copy.people("From"), [(strange[4], "from@sender.example")], "From")
        same(copy.subject, "سلام – 你好 – 🎉", "Subject")


@case("each personalization has its own subject, headers and substitutions")
def personal(b):
    mail = Mail(Email("from@sender.example"), subject="Common subject")
    mail.add_content(Content(MimeType.text, "Dear -name-, you owe -sum-."))
    mail.add_content(Content(MimeType.html, "<p>Dear <b>-name-</b>, you owe -sum-.</p>"))
    rows = [("ann", "Ann", "5 €", None), ("bob", "Bob & Co", "7 €", "Own subject for -name-")]
    for local, name, total, subject in rows:
        own = Personalization()
        own.add_to(To(b.address(local), name))
        own.add_substitution(Substitution("-name-", name))
        own.add_substitution(Substitution("-sum-", total))
        own.add_header(Header("X-Row", local))
        if subject:
            own.subject = Subject(subject).get()
        mail.add_personalization(own)
    accepted(b.client.send(mail))
    copies = b.copies(2)
    for local, name, total, subject in rows:
        copy = copies[b.address(local)]
        want = subject.replace("-name-", name) if subject else "Common subject"
        same(copy.subject, want, "Subject")
        same(copy.text, f"Dear {name}, you owe {total}.", "text")
        same(copy.html, f"<p>Dear <b>{name}</b>, you owe {total}.</p>", "html")
        same(copy.headers["X-Row"], [local], "X-Row")


@case("a thousand personalizations are a thousand mails")
def thousand(b):
    mail = Mail("from@sender.example", subject="Row -n-", plain_text_content="This is row -n-.")
    for number in range(1000):
        own = Personalization()
        own.add_to(To(b.address(f"r{number}")))
        own.add_substitution(Substitution("-n-", str(number)))
        mail.add_personalization(own)
    accepted(b.client.send(mail))
    found = b.mailbox.wait(f"rcpt:@{b.domain}", 1000, patience=120, light=True)
    same({line["Subject"] for line in found}, {f"Row {number}" for number in range(1000)}, "rows")
    same({line["Snippet"] for line in found}, {f"This is row {n}." for n in range(1000)}, "texts")
