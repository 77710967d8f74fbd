"""How parts stand in each other, and which of them is text, HTML or a file."""

from kit import Case, File, Text, crlf, mail, multi, part

TEXT = part("Content-Type: text/plain; charset=us-ascii", "Hi")
HTML = part("Content-Type: text/html; charset=us-ascii", "<p>Hi</p>")
HI, P = Text(b"Hi"), Text(b"<p>Hi</p>")
PNG = b"\x89PNG\r\n\x1a\n"
PNG64 = b"iVBORw0KGgo=\r\n"


def image(name="dot.png", cid="", disposition="inline"):
    header = f"Content-Type: image/png; name={name}\nContent-Transfer-Encoding: base64\n"
    header += f"Content-Disposition: {disposition}; filename={name}\n"
    return part(header + (f"Content-ID: <{cid}>" if cid else ""), PNG64)


def png(name="dot.png", cid=None):
    return File(PNG, name, "image/png", cid)


def shape(name, feature, kind, parts, boundary="b1", **want):
    body = parts if isinstance(parts, bytes) else multi(*parts, boundary=boundary)
    quoted = f'"{boundary}"'
    raw = mail(f"Content-Type: multipart/{kind}; boundary={quoted}", body)
    return Case(f"shape_{name}", feature, raw, **want)


def nested(kind, *parts, boundary, extra=""):
    return part(f"Content-Type: multipart/{kind}; boundary={boundary}{extra}", multi(*parts, boundary=boundary))


def texts():
    yield Case("shape_html_only", "HTML without text", mail("Content-Type: text/html", "<p>Hi</p>\n"), html=Text(b"<p>Hi</p>\r\n"))
    yield Case("shape_no_type", "a mail without a type is text", mail("", "Hi\n"), text=Text(b"Hi\r\n"))
    yield shape("alternative", "text and HTML", "alternative", [TEXT, HTML], text=HI, html=P)
    yield shape("alternative_reversed", "HTML before text", "alternative", [HTML, TEXT], text=HI, html=P)
    two = part("Content-Type: text/plain", "two")
    yield shape("alternative_twice", "two alternatives of one kind: the second is a file", "alternative", [TEXT, two, HTML], text=HI, html=P, files=[File(b"two", "attachment1.txt", "text/plain")])
    yield shape("mixed_texts", "texts around a file are joined", "mixed", [TEXT, image(), two], text=Text(b"Hi\r\ntwo", pieces=[b"Hi", b"two"]), files=[png()])
    ue = part("Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit", "ü")
    latin = part("Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: 8bit", b"\xfc")
    yield shape("mixed_charsets", "texts in different charsets cannot be joined", "mixed", [ue, latin, ue], text=Text("ü\r\nü".encode(), "utf-8", ["ü".encode()] * 2), files=[File(b"\xfc", "attachment1.txt", "text/plain", charset="iso-8859-1")])
    wide = part("Content-Type: text/plain; charset=utf-16le\nContent-Transfer-Encoding: base64", b"SABpAA==")
    yield shape("mixed_utf16", "texts in UTF-16 cannot be joined by an ASCII line end", "mixed", [wide, wide], text=Text(b"H\0i\0", "utf-16le"), files=[File(b"H\0i\0", "attachment1.txt", "text/plain", charset="utf-16le")])
    yield shape("mixed_html", "HTML around a file is joined", "mixed", [HTML, image(), HTML], html=Text(b"<p>Hi</p>\r\n<p>Hi</p>", pieces=[b"<p>Hi</p>"] * 2), files=[png()])
    attached = part("Content-Type: text/plain\nContent-Disposition: attachment; filename=a.txt", "file")
    yield shape("text_file", "an attached text is a file", "mixed", [TEXT, attached], text=HI, files=[File(b"file", "a.txt", "text/plain")])
    inline = part("Content-Type: text/html; name=a.html\nContent-Disposition: inline", "<i>file</i>")
    yield shape("named_text", "an inline text with a name is a file", "mixed", [TEXT, inline], text=HI, files=[File(b"<i>file</i>", "a.html", "text/html")])
    outlook = [part(f"Content-Type: text/{kind}; charset=us-ascii; name=\"body.{end}\"", body) for kind, end, body in (("plain", "txt", "Hi"), ("html", "html", "<p>Hi</p>"))]
    yield shape("named_alternative", "Outlook: the body's texts have names", "alternative", outlook, text=HI, html=P)
    yield shape("named_alternative_half", "one text of an alternative has a name", "alternative", [TEXT, outlook[1]], text=HI, html=P)
    yield shape("named_body", "a text with a name, and a file", "mixed", [image(), outlook[0], image("b.png")], text=HI, files=[png(), png("b.png")])
    yield shape("named_twice", "of two texts with names the first is the body", "mixed", [outlook[0], part("Content-Type: text/plain; name=b.txt", "two")], text=HI, files=[File(b"two", "b.txt", "text/plain")])
    yield shape("named_below", "a text with a name beside a body in a part", "mixed", [nested("alternative", TEXT, HTML, boundary="b2"), part("Content-Type: text/plain; name=log.txt", "log")], text=HI, html=P, files=[File(b"log", "log.txt", "text/plain")])
    yield shape("named_and_footer", "a list's footer under a body with names", "mixed", [nested("alternative", *outlook, boundary="b2"), part("Content-Type: text/plain; charset=us-ascii", "footer")], text=Text(b"Hi\r\nfooter", pieces=[b"Hi", b"footer"]), html=P)
    yield shape("named_numbers", "files are numbered without the body", "mixed", [outlook[0], part("Content-Type: image/png\nContent-Transfer-Encoding: base64", PNG64)], text=HI, files=[File(PNG, "attachment1.png", "image/png")])
    only = part("Content-Type: text/plain; name=a.txt\nContent-Disposition: attachment", "file")
    yield shape("named_attachment", "an attached text is no body, even if it is alone", "mixed", [only], files=[File(b"file", "a.txt", "text/plain")])
    shown = part("Content-Type: text/plain\nContent-Disposition: inline; filename=a.txt", "file")
    yield shape("named_disposition", "nor is one that the disposition names", "mixed", [shown], files=[File(b"file", "a.txt", "text/plain")])
    yield Case("shape_named_root", "a name does not make the whole mail a file", mail("Content-Type: text/plain; name=a.txt", "Hi\n"), text=Text(b"Hi\r\n"))
    yield Case("shape_attached_root", "a mail that is one attachment", mail("Content-Type: text/plain\nContent-Disposition: attachment; filename=a.txt", "Hi\n"), files=[File(b"Hi\r\n", "a.txt", "text/plain")])
    yield Case("shape_pdf_root", "a mail that is one PDF", mail("Content-Type: application/pdf\nContent-Transfer-Encoding: base64", b"JVBERi0xLjcK\r\n"), files=[File(b"%PDF-1.7\n", "attachment1.pdf", "application/pdf")])
    amp = part("Content-Type: text/x-amp-html", "<html amp4email>")
    yield shape("amp", "AMP is a file", "alternative", [TEXT, amp, HTML], text=HI, html=P, files=[File(b"<html amp4email>", "attachment1.txt", "text/x-amp-html")])
    enriched = part("Content-Type: text/enriched", "<bold>Hi</bold>")
    yield shape("enriched", "other texts are files", "alternative", [TEXT, enriched], text=HI, files=[File(b"<bold>Hi</bold>", "attachment1.txt", "text/enriched")])
    footer = part("Content-Type: text/plain; charset=us-ascii", "-- \nlist footer")
    yield shape("list_footer", "a list's footer joins the text", "mixed", [TEXT, footer], text=Text(b"Hi\r\n-- \r\nlist footer", pieces=[b"Hi", b"-- \r\nlist footer"]))
    yield shape("inline_pgp", "PGP inside the text stays text", "mixed", [part("", "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nHi\n-----BEGIN PGP SIGNATURE-----\nAAAA\n-----END PGP SIGNATURE-----")], text=Text(crlf("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nHi\n-----BEGIN PGP SIGNATURE-----\nAAAA\n-----END PGP SIGNATURE-----")))


def files():
    both = nested("alternative", TEXT, HTML, boundary="b2")
    yield shape("related_outside", "related around alternative", "related", [both, image(cid="dot@x")], text=HI, html=P, files=[png(cid="dot@x")])
    inner = nested("related", HTML, image(cid="dot@x"), boundary="b2")
    yield shape("related_inside", "related inside alternative", "alternative", [TEXT, inner], text=HI, html=P, files=[png(cid="dot@x")])
    yield shape("images", "several images, one without an id", "related", [HTML, image("a.png", "a"), image("b.png"), image("c.png", "c")], html=P, files=[png("a.png", "a"), png("b.png"), png("c.png", "c")])
    frame = part("Content-Type: text/html\nContent-ID: <frame>", "<p>frame</p>")
    yield shape("related_html", "HTML that HTML shows is a file", "related", [HTML, frame], html=P, files=[File(b"<p>frame</p>", "attachment1.html", "text/html", "frame")])
    plain_id = part("Content-Type: image/png\nContent-Transfer-Encoding: base64\nContent-ID: no-brackets", PNG64)
    yield shape("cid_without_brackets", "a content id without brackets", "related", [HTML, plain_id], html=P, files=[File(PNG, "attachment1.png", "image/png", "no-brackets")])
    located = part("Content-Type: image/png\nContent-Transfer-Encoding: base64\nContent-Location: http://example.com/dot.png", PNG64)
    yield shape("content_location", "MHTML: an image by its location (RFC 2557)", "related", [HTML, located], html=P, files=[File(PNG, "attachment1.png", "image/png")])
    ics = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nEND:VCALENDAR\n"
    invite = part("Content-Type: text/calendar; charset=utf-8; method=REQUEST", ics)
    calendar = File(crlf(ics), "attachment1.ics", "text/calendar", charset="utf-8")
    yield shape("invite", "a calendar invitation as an alternative", "alternative", [TEXT, HTML, invite], text=HI, html=P, files=[calendar])
    card = part("Content-Type: text/vcard; charset=utf-8\nContent-Disposition: attachment; filename=ann.vcf", "BEGIN:VCARD\nFN:Ann\nEND:VCARD\n")
    yield shape("vcard", "a visiting card", "mixed", [TEXT, card], text=HI, files=[File(crlf("BEGIN:VCARD\nFN:Ann\nEND:VCARD\n"), "ann.vcf", "text/vcard", charset="utf-8")])
    tnef = b"\x78\x9f\x3e\x22\x01\x00"
    winmail = part("Content-Type: application/ms-tnef; name=winmail.dat\nContent-Disposition: attachment; filename=winmail.dat\nContent-Transfer-Encoding: base64", b"eJ8+IgEA\r\n")
    yield shape("winmail", "winmail.dat is passed on unopened", "mixed", [TEXT, winmail], text=HI, files=[File(tnef, "winmail.dat", "application/ms-tnef")])
    signature = part("Content-Type: application/pkcs7-signature; name=smime.p7s\nContent-Disposition: attachment; filename=smime.p7s\nContent-Transfer-Encoding: base64", b"MIIB\r\n")
    yield shape("smime_signed", "S/MIME, signed in clear", 'signed; protocol="application/pkcs7-signature"; micalg=sha-256', [TEXT, signature], text=HI, files=[File(b"0\x82\x01", "smime.p7s", "application/pkcs7-signature")])
    yield Case("shape_smime_opaque", "S/MIME, encrypted", mail("Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\nContent-Transfer-Encoding: base64", b"MIIB\r\n"), files=[File(b"0\x82\x01", "smime.p7m", "application/pkcs7-mime")])
    pgp = part("Content-Type: application/pgp-signature; name=signature.asc", "-----BEGIN PGP SIGNATURE-----\n")
    yield shape("pgp_signed", "PGP/MIME, signed (RFC 3156)", "signed; micalg=pgp-sha256; protocol=\"application/pgp-signature\"", [TEXT, pgp], text=HI, files=[File(b"-----BEGIN PGP SIGNATURE-----\r\n", "signature.asc", "application/pgp-signature")])
    version = part("Content-Type: application/pgp-encrypted", "Version: 1\n")
    secret = part("Content-Type: application/octet-stream; name=encrypted.asc", "-----BEGIN PGP MESSAGE-----\n")
    yield shape("pgp_encrypted", "PGP/MIME, encrypted", 'encrypted; protocol="application/pgp-encrypted"', [version, secret], files=[File(b"Version: 1\r\n", "attachment1.bin", "application/pgp-encrypted"), File(b"-----BEGIN PGP MESSAGE-----\r\n", "encrypted.asc")])


def messages():
    inner = mail("", "inner\n", subject="Inner")
    yield shape("message", "an attached mail stays whole", "mixed", [TEXT, part("Content-Type: message/rfc822", inner)], text=HI, files=[File(inner, "attachment1.eml", "message/rfc822")])
    own = mail('Content-Type: multipart/mixed; boundary="in"', multi(TEXT, image(), boundary="in"))
    yield shape("message_with_files", "the files of an attached mail stay in it", "mixed", [TEXT, part("Content-Type: message/rfc822; name=in.eml", own)], text=HI, files=[File(own, "in.eml", "message/rfc822")])
    coded = part("Content-Type: message/rfc822\nContent-Transfer-Encoding: base64", b"U3ViamVjdDogSQ0KDQpIaQ0K\r\n")
    yield shape("message_base64", "an attached mail in base64, which RFC 2046 forbids", "mixed", [TEXT, coded], text=HI, files=[File(b"Subject: I\r\n\r\nHi\r\n", "attachment1.eml", "message/rfc822")], python="Python does not decode it")
    digest = [part("", mail("", f"{n}\n", subject=f"No {n}")) for n in (1, 2)]
    yield shape("digest", "a digest's parts are mails without saying so", "digest", digest, files=[File(mail("", f"{n}\n", subject=f"No {n}"), f"attachment{n}.eml", "message/rfc822") for n in (1, 2)])
    body = mail("Content-Type: message/rfc822", inner)
    yield Case("shape_message_root", "a mail that is another mail", body, files=[File(inner, "attachment1.eml", "message/rfc822")])


def depth():
    inside = TEXT
    for n in range(5):
        inside = nested("mixed", inside, boundary=f"n{n}")
    yield shape("five_deep", "five levels", "mixed", [inside], text=HI)
    inside = TEXT
    for n in range(40):
        inside = nested("mixed", inside, boundary=f"n{n}")
    # The mail's own level and 31 below it are opened; the next is handed over shut.
    cut = TEXT
    for n in range(8):
        cut = nested("mixed", cut, boundary=f"n{n}")
    cut = multi(cut, boundary="n8")
    yield shape("forty_deep", "forty levels: what lies deeper than 32 is one file", "mixed", [inside], files=[File(cut, "attachment1.bin")], python="Python goes on")
    parts = [part("Content-Type: application/octet-stream", str(n)) for n in range(1000)]
    yield shape("thousand_parts", "a thousand parts", "mixed", parts, files=[File(str(n).encode(), f"attachment{n + 1}.bin") for n in range(1000)])
    parts = [part("Content-Type: application/octet-stream", str(n)) for n in range(1200)]
    kept = [File(str(n).encode(), f"attachment{n + 1}.bin") for n in range(1099)]
    rest = multi(*parts[1099:])[len(b"--b1\r\n"):]
    yield shape("twelve_hundred_parts", "beyond the limit the rest is one file", "mixed", parts, files=[*kept, File(rest, "attachment1100.bin")], python="Python goes on")


def cases():
    for group in (texts, files, messages, depth):
        yield from group()
