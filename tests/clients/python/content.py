"""What a mail holds: files, pictures, long lines, newsletters, everything at once."""

import base64
import secrets

from sendgrid.helpers.mail import (
    Attachment,
    Category,
    ClickTracking,
    Content,
    CustomArg,
    Disposition,
    FileContent,
    FileName,
    FileType,
    FooterHtml,
    FooterSettings,
    FooterText,
    Header,
    Mail,
    MailSettings,
    MimeType,
    OpenTracking,
    TrackingSettings,
)

from harness import case, same
from people import accepted

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def attached(data, name, kind, disposition="attachment", content_id=None):
    coded = base64.b64encode(data).decode()
    return Attachment(
        FileContent(coded), FileName(name), FileType(kind), Disposition(disposition), content_id
    )


@case("attachments keep name, type and every byte")
def files(b):
    sent = {
        "notes.txt": ("text/plain", "Zeile eins\nZeile zwei – ü\n".encode()),
        "latin.csv": ("text/csv", "größe;1\r\n".encode("latin-1")),
        "every byte.bin": ("application/octet-stream", bytes(range(256)) * 3),
        "größe 🎉.pdf": ("application/pdf", b"%PDF-1.4\n" + secrets.token_bytes(2000)),
        "empty.dat": ("application/octet-stream", b"\0"),
        "page.html": ("text/html", b"<script>alert(1)</script>\n"),
    }
    mail = Mail("from@sender.example", b.address("ann"), "Files", "See the files.")
    mail.attachment = [attached(data, name, kind) for name, (kind, data) in sent.items()]
    accepted(b.client.send(mail))
    (copy,) = b.copies(1).values()
    got = {name: (kind, data) for name, (kind, _, data) in copy.files().items()}
    same(sorted(got), sorted(sent), "names")
    for name, (kind, data) in sent.items():
        same(got[name][0], kind, name)
        same(got[name][1], data, name)
    same(copy.html or copy.text, "See the files.", "body")


@case("five megabytes of PDF and ten of picture arrive whole")
def large(b):
    document = b"%PDF-1.7\n" + secrets.token_bytes(5 << 20)
    picture = PNG + secrets.token_bytes(10 << 20)
    mail = Mail("from@sender.example", b.address("ann"), "Large", "Two large files.")
    mail.attachment = [
        attached(document, "report.pdf", "application/pdf"),
        attached(picture, "photo.png", "image/png"),
    ]
    accepted(b.client.send(mail))
    (copy,) = b.copies(1).values()
    got = copy.files()
    same(got["report.pdf"][2], document, "the PDF")
    same(got["photo.png"][2], picture, "the picture")


@case("an inline picture is found by its content id")
def inline(b):
    mail = Mail(
        "from@sender.example",
        b.address("ann"),
        "Inline",
        html_content='<p>Look: <img src="cid:logo-1" alt="logo"></p>',
    )
    mail.attachment = attached(PNG, "logo.png", "image/png", "inline", "logo-1")
    accepted(b.client.send(mail))
    (copy,) = b.copies(1).values()
    same(copy.files("Inline"), {"logo.png": ("image/png", "logo-1", PNG)}, "inline files")
    same(copy.message["Attachments"], [], "attachments")
    same(copy.html, '<p>Look: <img src="cid:logo-1" alt="logo"></p>', "html")
    with b.mailbox.open(f"/view/{copy.id}.html") as page:
        assert b"/part/" in page.read()


@case("a subject of 900 letters and lines of 5,000 with lone dots survive")
def long(b):
    subject = ("A rather long subject – mit Ümlaut 🎉 " * 30)[:900].strip()
    text = "\n".join([".", "..", "x" * 5000, ".x", "", "From here", "ü" * 5000, "."])
    html = "<p>" + "word " * 1000 + "</p>\n.\n" + "<b>" + "y" * 5000 + "</b>"
    mail = Mail("from@sender.example", b.address("ann"), subject, text, html)
    accepted(b.client.send(mail))
    (copy,) = b.copies(1).values()
    same(copy.subject, subject, "Subject")
    same(copy.text.rstrip("\n"), text, "text")
    same(copy.html, html, "html")


def newsletter():
    """A hundred kilobytes of nested tables with inline styles, as the tools of the field make."""
    style = "font-family:Ubuntu,Helvetica,Arial,sans-serif;font-size:13px;line-height:1.5"
    row = (
        '<!--[if mso | IE]><table align="center" border="0" style="width:600px;"><tr><td><![endif]-->'
        '<div style="margin:0px auto;max-width:600px;"><table align="center" border="0" '
        'cellpadding="0" cellspacing="0" role="presentation" style="width:100%;"><tbody><tr>'
        '<td style="direction:ltr;font-size:0px;padding:20px 0;text-align:center;">'
        '<div style="{style};text-align:left;color:#000000;">Story {n}: grüße &amp; 花 '
        '<a href="https://news.example/story/{n}?utm_source=mail&amp;x={n}">read on</a></div>'
        "</td></tr></tbody></table></div><!--[if mso | IE]></td></tr></table><![endif]-->\n"
    )
    head = "<!doctype html><html><head><title>News</title><style>@media only screen and " \
        "(min-width:480px) { .mj-column-per-100 { width:100% !important; } }</style></head><body>\n"
    rows = "".join(row.replace("{style}", style).replace("{n}", str(n)) for n in range(170))
    return head + rows + "</body></html>"


@case("a newsletter of 100 KB arrives to the letter")
def news(b):
    html = newsletter()
    assert len(html.encode()) > 100_000, len(html.encode())
    mail = Mail("from@sender.example", b.address("ann"), "News", "Story 0: read on", html)
    accepted(b.client.send(mail))
    (copy,) = b.copies(1).values()
    same(copy.html, html, "html")


@case("the kitchen sink: settings, headers, categories, further content")
def kitchen_sink(b):
    mail = Mail("from@sender.example", b.address("ann"), "Kitchen sink")
    mail.content = [
        Content(MimeType.text, "Hello plain world!"),
        Content(MimeType.html, "<p>Hello HTML world!</p>"),
        Content("text/calendar", "BEGIN:VCALENDAR\nEND:VCALENDAR"),
    ]
    mail.attachment = attached(b"some text\n", "some-attachment.txt", "text/plain")
    mail.category = [Category("transactional"), Category("sale & more")]
    mail.custom_arg = [CustomArg("user_id", "343"), CustomArg("batch", "3")]
    mail.header = [Header("X-Test1", "test1"), Header("X-Ünicode".replace("Ü", "U"), "wert ä")]
    settings = MailSettings()
    settings.footer_settings = FooterSettings(
        True, FooterText("the text footer"), FooterHtml("<p>the HTML footer</p>")
    )
    mail.mail_settings = settings
    tracking = TrackingSettings()
    tracking.click_tracking = ClickTracking(False, False)
    tracking.open_tracking = OpenTracking(False)
    mail.tracking_settings = tracking
    message = accepted(b.client.send(mail))
    (copy,) = b.copies(1).values()
    same(copy.headers["X-Test1"], ["test1"], "X-Test1")
    assert copy.text.startswith("Hello plain world!"), copy.text
    assert copy.text.rstrip().endswith("the text footer"), copy.text
    assert copy.html.startswith("<p>Hello HTML world!</p>"), copy.html
    assert "<p>the HTML footer</p>" in copy.html, copy.html
    calendar = [part for part in copy.message["Inline"] if part["ContentType"] == "text/calendar"]
    same(len(calendar), 1, "calendar parts")
    got = copy.part(calendar[0]["PartID"]).replace(b"\r\n", b"\n").rstrip()
    same(got, b"BEGIN:VCALENDAR\nEND:VCALENDAR", "calendar")
    same(copy.files()["some-attachment.txt"][2], b"some text\n", "attachment")
    raw = b.mailbox.open(f"/api/v1/message/{copy.id}/raw").read().decode()
    assert "user_id" not in raw and "transactional" not in raw, "arguments are not for recipients"
    assert message in raw
