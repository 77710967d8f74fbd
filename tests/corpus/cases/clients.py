"""The habits of common mail programs, written after their shape; nobody's mail."""

import base64

from kit import Case, File, Text, crlf, multi, part

PNG = b"\x89PNG\r\n\x1a\n"
PNG64 = b"iVBORw0KGgo=\r\n"
PDF, PDF64 = b"%PDF-1.7\n", b"JVBERi0xLjcK\r\n"


def sent(name, feature, header, body, **want):
    header = crlf(header.strip("\n") + "\n")
    return Case(f"client_{name}", feature, header + b"\r\n" + body, header=header, **want)


def base(kind, mailer="", subject="Hello", to="inbox@parse.example"):
    lines = ["Return-Path: <ann@example.com>", "Received: from mail.example.com (mail.example.com [192.0.2.1])\n\tby mx.parse.example with ESMTPS id 1;\n\tFri, 27 Nov 2026 23:01:23 +0000", "From: Ann <ann@example.com>", f"To: {to}", f"Subject: {subject}", "Date: Fri, 27 Nov 2026 23:01:22 +0000", "Message-ID: <1@example.com>", "MIME-Version: 1.0", f"Content-Type: {kind}"]
    return "\n".join(lines + ([mailer] if mailer else []))


def cases():
    gmail = '"000000000000a1b2c305f0e1d2c3"'
    bound = gmail.strip('"')
    text = part('Content-Type: text/plain; charset="UTF-8"\nContent-Transfer-Encoding: quoted-printable', "Gr=C3=BC=C3=9Fe\n\nOn Fri, Nov 27, 2026 Bob wrote:\n\n> Hi\n")
    html = part('Content-Type: text/html; charset="UTF-8"\nContent-Transfer-Encoding: quoted-printable', '<div dir=3D"ltr">Gr=C3=BC=C3=9Fe</div><br>\n')
    plain = Text(crlf("Grüße\n\nOn Fri, Nov 27, 2026 Bob wrote:\n\n> Hi\n"), "UTF-8")
    rich = Text(crlf('<div dir="ltr">Grüße</div><br>\n'), "UTF-8")
    yield sent("gmail_reply", "Gmail: a reply", base(f"multipart/alternative; boundary={gmail}"), multi(text, html, boundary=bound), text=plain, html=rich)
    inner = part('Content-Type: multipart/alternative; boundary="0000alt"', multi(text, html, boundary="0000alt"))
    image = part('Content-Type: image/png; name="image.png"\nContent-Disposition: inline; filename="image.png"\nContent-Transfer-Encoding: base64\nX-Attachment-Id: ii_l9z1\nContent-ID: <ii_l9z1>', PNG64)
    yield sent("gmail_inline", "Gmail: a picture in the text", base(f"multipart/related; boundary={gmail}"), multi(inner, image, boundary=bound), text=plain, html=rich, files=[File(PNG, "image.png", "image/png", "ii_l9z1")])
    word = base64.b64encode("Übersicht.pdf".encode()).decode()
    pdf = part(f'Content-Type: application/pdf; name="=?UTF-8?B?{word}?="\nContent-Disposition: attachment; \n\tfilename="=?UTF-8?B?{word}?="\nContent-Transfer-Encoding: base64\nContent-ID: <f_l9z2>\nX-Attachment-Id: f_l9z2', PDF64)
    yield sent("gmail_attachment", "Gmail: an attachment with an id that nothing shows", base(f"multipart/mixed; boundary={gmail}"), multi(inner, pdf, boundary=bound), text=plain, html=rich, files=[File(PDF, "Übersicht.pdf", "application/pdf", "f_l9z2")])

    outlook = "----=_NextPart_000_0012_01D9"
    text = part('Content-Type: text/plain;\n\tcharset="iso-8859-1"\nContent-Transfer-Encoding: quoted-printable', "Gr=FC=DFe,\n\nAnn\n")
    html = part('Content-Type: text/html;\n\tcharset="iso-8859-1"\nContent-Transfer-Encoding: quoted-printable', '<html xmlns:o=3D"urn:schemas-microsoft-com:office:office"><p class=3DMsoNormal>Gr=FC=DFe</p></html>\n')
    plain = Text(crlf("Grüße,\n\nAnn\n".encode("latin-1")), "iso-8859-1")
    rich = Text(crlf('<html xmlns:o="urn:schemas-microsoft-com:office:office"><p class=MsoNormal>Grüße</p></html>\n'.encode("latin-1")), "iso-8859-1")
    mailer = "X-Mailer: Microsoft Outlook 16.0\nThread-Index: AQHZ\nContent-Language: de"
    alternative = part('Content-Type: multipart/alternative;\n\tboundary="----=_NextPart_001"', multi(text, html, boundary="----=_NextPart_001"))
    image = part('Content-Type: image/png;\n\tname="image001.png"\nContent-Transfer-Encoding: base64\nContent-ID: <image001.png@01D9F0A1.B2C3D4E0>', PNG64)
    yield sent("outlook", "Outlook: a picture in the signature", base(f'multipart/related;\n\tboundary="{outlook}"', mailer), multi(alternative, image, boundary=outlook, before=b"This is a multipart message in MIME format.\r\n\r\n"), text=plain, html=rich, files=[File(PNG, "image001.png", "image/png", "image001.png@01D9F0A1.B2C3D4E0")])
    tnef = part('Content-Type: application/ms-tnef;\n\tname="winmail.dat"\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment;\n\tfilename="winmail.dat"', b"eJ8+IgEA\r\n")
    yield sent("outlook_rich", "Outlook: rich text", base(f'multipart/mixed;\n\tboundary="{outlook}"', mailer + "\nX-MS-TNEF-Correlator: 1"), multi(text, tnef, boundary=outlook), text=plain, files=[File(b"\x78\x9f\x3e\x22\x01\x00", "winmail.dat", "application/ms-tnef")])
    ics = crlf("BEGIN:VCALENDAR\nPRODID:-//Microsoft Corporation//Outlook 16.0 MIMEDIR//EN\nMETHOD:REQUEST\nEND:VCALENDAR\n")
    meeting = part('Content-Type: text/calendar; charset="utf-8"; method=REQUEST\nContent-Transfer-Encoding: base64', base64.encodebytes(ics).replace(b"\n", b"\r\n"))
    yield sent("outlook_meeting", "Outlook: a meeting request", base(f'multipart/alternative;\n\tboundary="{outlook}"', mailer + "\nContent-Class: urn:content-classes:calendarmessage"), multi(text, html, meeting, boundary=outlook), text=plain, html=rich, files=[File(ics, "attachment1.ics", "text/calendar", charset="utf-8")])

    apple = "Apple-Mail=_0A1B2C3D-0000-4000-8000-000000000000"
    text = part("Content-Transfer-Encoding: quoted-printable\nContent-Type: text/plain;\n\tcharset=utf-8", "Before =E2=80=A6\n")
    first = part("Content-Transfer-Encoding: 7bit\nContent-Type: text/html;\n\tcharset=us-ascii", "<html><body>Before<br></body></html>")
    pdf = part('Content-Disposition: inline;\n\tfilename=report.pdf\nContent-Type: application/pdf;\n\tx-unix-mode=0644;\n\tname="report.pdf"\nContent-Transfer-Encoding: base64', PDF64)
    last = part("Content-Transfer-Encoding: 7bit\nContent-Type: text/html;\n\tcharset=us-ascii", "<html><body>After</body></html>")
    mixed = part(f'Content-Type: multipart/mixed;\n\tboundary="{apple}2"', multi(first, pdf, last, boundary=apple + "2"))
    pieces = [b"<html><body>Before<br></body></html>", b"<html><body>After</body></html>"]
    yield sent("apple_mail", "Apple Mail: a file between two pieces of HTML", base(f'multipart/alternative;\n\tboundary="{apple}"', "X-Mailer: Apple Mail (2.3774.300.61.1.2)"), multi(text, mixed, boundary=apple), text=Text(crlf("Before …\n"), "utf-8"), html=Text(b"\r\n".join(pieces), pieces=pieces), files=[File(PDF, "report.pdf", "application/pdf")])
    jpeg = part("Content-Type: image/jpeg;\n\tname=IMG_0001.jpeg;\n\tx-apple-part-url=1\nContent-Disposition: inline;\n\tfilename=IMG_0001.jpeg\nContent-Transfer-Encoding: base64", b"/9j/\r\n")
    phone = [part("Content-Type: text/plain;\n\tcharset=us-ascii\nContent-Transfer-Encoding: 7bit", "\n\n"), jpeg, part("Content-Type: text/plain;\n\tcharset=us-ascii\nContent-Transfer-Encoding: 7bit", "\n\nSent from my iPhone")]
    yield sent("iphone", "iPhone: a photo and its signature", base("multipart/mixed; boundary=Apple-Mail-1", "X-Mailer: iPhone Mail (20A380)\nContent-Transfer-Encoding: 7bit"), multi(*phone, boundary="Apple-Mail-1"), text=Text(crlf("\n\n\n\nSent from my iPhone"), pieces=[b"\r\n\r\n", b"\r\n\r\nSent from my iPhone"]), files=[File(b"\xff\xd8\xff", "IMG_0001.jpeg", "image/jpeg")])

    bird = "------------a1B2c3D4e5F6g7H8i9J0"
    text = part("Content-Type: text/plain; charset=UTF-8; format=flowed\nContent-Transfer-Encoding: 8bit", "Grüße \naus Köln\n")
    pdf = part("Content-Type: application/pdf; name=\"=?UTF-8?Q?=C3=9Cbersicht_f=C3=BCr_M=C3=A4rz=2Epdf?=\"\nContent-Disposition: attachment;\n filename*0*=UTF-8''%C3%9Cbersicht%20f%C3%BCr%20M%C3%A4rz;\n filename*1*=%2E%70%64%66\nContent-Transfer-Encoding: base64", PDF64)
    mailer = "User-Agent: Mozilla Thunderbird\nContent-Language: de-DE"
    yield sent("thunderbird", "Thunderbird: flowed text, a name in RFC 2231", base(f'multipart/mixed; boundary="{bird}"', mailer), multi(text, pdf, boundary=bird, before=b"This is a multi-part message in MIME format.\r\n"), text=Text(crlf("Grüße \naus Köln\n"), "UTF-8"), files=[File(PDF, "Übersicht für März.pdf", "application/pdf")])
    inner = crlf("From: Bob <bob@example.org>\nTo: ann@example.com\nSubject: Original\n\nHi Ann\n")
    forwarded = part("Content-Type: message/rfc822; charset=UTF-8; name=\"Original.eml\"\nContent-Disposition: attachment; filename=\"Original.eml\"\nContent-Transfer-Encoding: 7bit", inner)
    yield sent("thunderbird_forward", "Thunderbird: forwarded as an attachment", base(f'multipart/mixed; boundary="{bird}"', mailer, "Fwd: Original"), multi(text, forwarded, boundary=bird), subject="Fwd: Original", text=Text(crlf("Grüße \naus Köln\n"), "UTF-8"), files=[File(inner, "Original.eml", "message/rfc822")])

    yahoo = "----=_Part_1234_5678.1700000000000"
    text = part("Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 7bit", " Hi\n")
    html = part("Content-Type: text/html; charset=UTF-8\nContent-Transfer-Encoding: 7bit", '<div class="yahoo-style-wrap">Hi</div>\n')
    yield sent("yahoo", "Yahoo: a boundary that only quotes allow", base(f'multipart/alternative; \n\tboundary="{yahoo}"', "X-Mailer: WebService/1.1 YMailNorrin"), multi(text, html, boundary=yahoo), text=Text(b" Hi\r\n", "UTF-8"), html=Text(b'<div class="yahoo-style-wrap">Hi</div>\r\n', "UTF-8"))
    jis = "Content-Type: text/plain; charset=ISO-2022-JP"
    body = crlf("いつもお世話になっております。\n".encode("iso2022_jp"))
    subject = "=?ISO-2022-JP?B?" + base64.b64encode("打ち合わせの件".encode("iso2022_jp")).decode() + "?="
    yield sent("japan", "a phone in Japan: ISO-2022-JP throughout", base(jis.split(": ", 1)[1], "Content-Transfer-Encoding: 7bit", subject), body, subject="打ち合わせの件", text=Text(body, "ISO-2022-JP"))
    china = "你好".encode("gb18030")
    name = base64.b64encode("报告.pdf".encode("gb18030")).decode()
    text = part('Content-Type: text/plain;\n\tcharset="gb18030"\nContent-Transfer-Encoding: base64', base64.encodebytes(china).replace(b"\n", b"\r\n"))
    pdf = part(f'Content-Type: application/octet-stream;\n\tcharset="gb18030";\n\tname="=?gb18030?B?{name}?="\nContent-Disposition: attachment; filename="=?gb18030?B?{name}?="\nContent-Transfer-Encoding: base64', PDF64)
    yield sent("qq", "QQ Mail: GB18030 throughout, a PDF as octets", base('multipart/mixed;\n\tboundary="----=_NextPart_65"', "X-Mailer: QQMail 2.x"), multi(text, pdf, boundary="----=_NextPart_65", before=b"This is a multi-part message in MIME format.\r\n\r\n"), text=Text(china, "gb18030"), files=[File(PDF, "报告.pdf")])
    yield sent("script", "a script: no Message-ID, no Date, LF only inside", "From: root@host.example\nTo: inbox@parse.example\nSubject: Cron <root@host> run-parts", b"/etc/cron.daily:\nok\n", sender="root@host.example", subject="Cron <root@host> run-parts", text=Text(b"/etc/cron.daily:\nok\n"))
