"""Mails that break the rules, and mails that attack."""

from kit import Case, File, Text, head, mail, multi, part

TEXT = part("Content-Type: text/plain; charset=us-ascii", "Hi")
HTML = part("Content-Type: text/html; charset=us-ascii", "<p>Hi</p>")
HI, P = Text(b"Hi"), Text(b"<p>Hi</p>")


def damaged(name, feature, raw, **want):
    return Case(f"damage_{name}", feature, raw, **want)


def mixed(body, boundary="b1"):
    return mail(f"Content-Type: multipart/mixed; boundary={boundary}", body)


def headers():
    yield damaged("empty", "a mail of no bytes", b"", header=b"", to="", sender="", subject="", text=Text(b""))
    yield damaged("one_line_end", "a mail of one line end", b"\r\n", header=b"", to="", sender="", subject="", text=Text(b""))
    yield damaged("no_header", "a body without a header", b"Hello there\r\nhow are you\r\n", header=b"", to="", sender="", subject="", text=Text(b"Hello there\r\nhow are you\r\n"))
    yield damaged("no_body", "a header without a body", head(), text=Text(b""))
    yield damaged("no_end", "a header without a last line end", b"Subject: Hello", to="", sender="", text=Text(b""), header=b"Subject: Hello")
    yield damaged("no_from", "no From", b"To: inbox@parse.example\r\nSubject: Hello\r\n\r\nHi\r\n", sender="", text=Text(b"Hi\r\n"))
    yield damaged("no_to", "no To", b"From: Ann <ann@example.com>\r\nSubject: Hello\r\n\r\nHi\r\n", to="", text=Text(b"Hi\r\n"))
    yield damaged("no_subject", "no Subject", b"From: Ann <ann@example.com>\r\nTo: inbox@parse.example\r\n\r\nHi\r\n", subject="", text=Text(b"Hi\r\n"))
    yield damaged("empty_subject", "an empty Subject", mail("", "Hi\n", subject=""), subject="", text=Text(b"Hi\r\n"))
    yield damaged("two_subjects", "two Subjects: the first counts", mail("Subject: Again", "Hi\n"), text=Text(b"Hi\r\n"))
    yield damaged("two_froms", "two Froms: the first counts", mail("From: Eve <eve@evil.example>", "Hi\n"), text=Text(b"Hi\r\n"))
    yield damaged("two_tos", "two Tos: nobody is lost", mail("To: second@parse.example", "Hi\n"), to="inbox@parse.example, second@parse.example", text=Text(b"Hi\r\n"))
    yield damaged("two_types", "two types: the first counts", mail("Content-Type: text/plain\nContent-Type: text/html", "Hi\n"), text=Text(b"Hi\r\n"))
    yield damaged("bad_type", "a type without a slash is text", mail("Content-Type: text", "Hi\n"), text=Text(b"Hi\r\n"))
    yield damaged("worse_type", "a type that is none is text", mail("Content-Type: ;;;===", "Hi\n"), text=Text(b"Hi\r\n"))
    yield damaged("type_without_semicolon", "a parameter without its semicolon", mail("Content-Type: text/plain; charset=utf-8 format=flowed\nContent-Transfer-Encoding: 8bit", "ü\n"), text=Text("ü\r\n".encode(), "utf-8"), python="Python takes both for the charset")
    yield damaged("odd_type", "a type with characters that are forbidden in it", mail("Content-Type: text/<html>", "Hi\n"), text=Text(b"Hi\r\n"), python="Python takes it as it is")
    yield damaged("no_space", "no space after the colon", mail("", "Hi\n").replace(b"Subject: ", b"Subject:"), text=Text(b"Hi\r\n"))
    yield damaged("space_before_colon", "a space before the colon, as in old mails", mail("", "Hi\n").replace(b"Subject: ", b"Subject : "), text=Text(b"Hi\r\n"), python="Python takes it for the body")
    yield damaged("letter_case", "names of fields in any case", mail("", "Hi\n").replace(b"Subject", b"sUBJECT"), text=Text(b"Hi\r\n"))
    yield damaged("blank_fold", "a folded line of nothing but white space", mail("", "Hi\n", subject="Hello\n \n there"), subject="Hello  there", text=Text(b"Hi\r\n"))
    ends = "Python ends the header there"
    yield damaged("junk_line", "a line that is no field, and a field after it", mail("this is no field\nX: y", "Hi\n"), text=Text(b"Hi\r\n"), python=ends)
    yield damaged("junk_line_last", "a line that is no field begins the body when no field follows", head() + b"this is no field\r\n\r\nHi\r\n", header=head(), text=Text(b"this is no field\r\n\r\nHi\r\n"))
    yield damaged("junk_line_first", "a line that is no field before all fields", b"P8Fxcut\r\n" + mail("", "Hi\n"), text=Text(b"Hi\r\n"), python=ends)
    subject = mail("", "Hi\n").replace(b"Subject: ", b"Fr om: x@y.example,\r\n\tz@y.example\r\nSubject: ")
    yield damaged("broken_name", "a field whose name holds a blank is skipped with its folds", subject, text=Text(b"Hi\r\n"), python=ends)
    wrapped = mail("X-Note: a long\nvalue that nobody indented\nContent-Type: multipart/mixed; boundary=b1", multi(TEXT))
    yield damaged("unindented", "a continuation without its blank hides no field after it", wrapped, text=HI, python=ends)
    cut = mail("Content-Type: multipart/alternative;\nboundary=b1\nX: y", multi(TEXT, HTML))
    yield damaged("unindented_boundary", "a parameter without its blank still belongs to its field", cut, text=HI, html=P, python=ends)
    middle = mail("Content-Type: multipart/alternative;\nP8Fxcut\n boundary=b1\nX: y", multi(TEXT, HTML))
    yield damaged("cut_in_field", "a line that was cut into a folded field", middle, text=HI, html=P, python=ends)
    inside = part("Content-Type: text/html; charset=us-ascii\nP8Fxcut\nContent-Transfer-Encoding: base64", b"PHA+SGk8L3A+\r\n")
    yield damaged("junk_line_in_part", "a line that is no field in the header of a part", mixed(multi(TEXT, inside)), text=HI, html=P, python=ends)
    yield damaged("late_mbox_line", "a From line of an mbox among the fields", mail("From ann@example.com Fri Nov 27 23:01:22 2026\nX: y", "Hi\n"), text=Text(b"Hi\r\n"))
    yield damaged("byte_order_mark", "a byte order mark before the first field", b"\xef\xbb\xbf" + mail("", "Hi\n"), header=head(), text=Text(b"Hi\r\n"), python="Python takes it for a part of the name")
    note = b"Hello Ann,\r\nPlease note: no header here.\r\nNote: really none.\r\n\r\nBob\r\n"
    yield damaged("prose", "a letter without a header, though a line of it looks like a field", note, header=b"", to="", sender="", subject="", text=Text(note))
    yield damaged("mbox_line", "a From line of an mbox", b"From ann@example.com Fri Nov 27 23:01:22 2026\r\n" + mail("", "Hi\n"), text=Text(b"Hi\r\n"))
    yield damaged("bare_lf", "every line ends in LF only", mail("", "Hi\n").replace(b"\r\n", b"\n"), header=head().replace(b"\r\n", b"\n"), text=Text(b"Hi\n"))
    yield damaged("bare_lf_parts", "a multipart with LF only", mixed(multi(TEXT, HTML)).replace(b"\r\n", b"\n"), header=head("Content-Type: multipart/mixed; boundary=b1\n").replace(b"\r\n", b"\n"), text=HI, html=P)
    yield damaged("mixed_line_ends", "a header in CRLF and a body in LF", mixed(multi(TEXT, HTML).replace(b"\r\n", b"\n")), text=HI, html=P)
    yield damaged("nul", "NUL in header and body", mail("", b"a\0b\r\n", subject="a\0b"), subject="a b", text=Text(b"a\0b\r\n"), python="Python keeps it")
    many = "".join(f"X-Many-{n}: {n}\n" for n in range(10_000))
    yield damaged("ten_thousand_headers", "ten thousand fields", mail(many, "Hi\n"), text=Text(b"Hi\r\n"))
    tos = ", ".join(f"reader{n}@parse.example" for n in range(2000))
    yield damaged("two_thousand_recipients", "two thousand addresses in To", mail("", "Hi\n", to=tos.replace(", ", ",\n ")), to=tos, text=Text(b"Hi\r\n"))
    yield damaged("long_header", "a header line of 100,000 characters", mail("", "Hi\n", subject="x" * 100_000), subject="x" * 100_000, text=Text(b"Hi\r\n"))
    yield damaged("cc", "Cc, and Bcc which is nobody's business", mail("Cc: =?utf-8?Q?J=C3=B6rg?= <j@example.com>\nBcc: secret@example.com", "Hi\n"), cc="Jörg <j@example.com>", text=Text(b"Hi\r\n"))


def boundaries():
    yield damaged("no_boundary", "a multipart without a boundary is text", mail("Content-Type: multipart/mixed", multi(TEXT)), text=Text(multi(TEXT)))
    yield damaged("empty_boundary", "an empty boundary", mail('Content-Type: multipart/mixed; boundary=""', "--\nHi\n"), text=Text(b"--\r\nHi\r\n"), python="Python accepts it")
    yield damaged("boundary_missing", "a boundary that never comes", mixed(b"Hi\r\n", "other"), text=Text(b"Hi\r\n"))
    yield damaged("not_closed", "the closing delimiter is missing", mixed(multi(TEXT, HTML).replace(b"--b1--\r\n", b"")), text=HI, html=Text(b"<p>Hi</p>\r\n"), python="Python leaves the last line end out")
    yield damaged("cut_in_header", "the mail ends inside a part's header", mixed(b"--b1\r\nContent-Type: text/html\r\n"), html=Text(b""))
    yield damaged("cut_in_delimiter", "the mail ends inside a delimiter", mixed(b"--b1\r\n\r\nHi\r\n--b"), text=Text(b"Hi\r\n--b"))
    yield damaged("no_parts", "a multipart without parts", mixed(b"--b1--\r\n"))
    yield damaged("empty_parts", "parts without content", mixed(b"--b1\r\n\r\n\r\n--b1\r\nContent-Type: text/html\r\n\r\n\r\n--b1--\r\n"), text=Text(b""), html=Text(b""))
    yield damaged("preamble", "preamble and epilogue are not content", mixed(multi(TEXT, before=b"This is a multi-part message.\r\n", after=b"the end\r\n--b1\r\n\r\nnot this\r\n")), text=HI)
    yield damaged("prefix", "a boundary that begins another", mail("Content-Type: multipart/mixed; boundary=b1", multi(part("Content-Type: multipart/alternative; boundary=b11", multi(TEXT, HTML, boundary="b11")))), text=HI, html=P)
    yield damaged("same_boundary", "a multipart inside with the same boundary ends the outer one", mixed(multi(part("Content-Type: multipart/alternative; boundary=b1", multi(TEXT)))), text=Text(b"Hi", pieces=[b"", b"Hi"]), python="Python reads the inner one")
    yield damaged("boundary_in_line", "a boundary inside a line is text", mixed(multi(part("", "see --b1 and\n --b1\n--b1x\nHi"))), text=Text(b"see --b1 and\r\n --b1\r\n--b1x\r\nHi"))
    yield damaged("boundary_spaces", "white space after the delimiters", mixed(multi(TEXT).replace(b"--b1\r\n", b"--b1 \t\r\n").replace(b"--b1--", b"--b1-- ")), text=HI)
    odd = "'()+_,-./:=? x"
    yield damaged("boundary_specials", "every character a boundary may hold", mail(f'Content-Type: multipart/mixed; boundary="{odd}"', multi(TEXT, boundary=odd)), text=HI)
    yield damaged("boundary_unquoted", "an unquoted boundary with forbidden characters", mail("Content-Type: multipart/mixed; boundary=----=_Part:1", multi(TEXT, boundary="----=_Part:1")), text=HI)
    yield damaged("boundary_long", "a boundary longer than 70 characters", mail(f"Content-Type: multipart/mixed; boundary={'x' * 200}", multi(TEXT, boundary="x" * 200)), text=HI)
    yield damaged("boundary_rfc2231", "a boundary in sections (RFC 2231)", mail("Content-Type: multipart/mixed; boundary*0=b; boundary*1=1", multi(TEXT)), text=HI)
    coded = mail("Content-Type: multipart/mixed; boundary=b1\nContent-Transfer-Encoding: base64", multi(TEXT, HTML))
    yield damaged("multipart_base64", "a multipart that calls itself base64 is not", coded, text=HI, html=P)


def attacks():
    collision = b"--xYzZY\r\nContent-Disposition: form-data; name=\"SPF\"\r\n\r\npass\r\n--xYzZY--\r\n"
    yield damaged("form_boundary", "a text that holds the form's boundary", mail("", collision), text=Text(collision))
    yield damaged("form_boundary_number", "a file that holds the next boundary too", mixed(multi(TEXT, part("Content-Type: application/octet-stream; name=a", b"--xYzZY --xYzZY00000000 --xYzZY00000001"))), text=HI, files=[File(b"--xYzZY --xYzZY00000000 --xYzZY00000001", "a")])
    yield damaged("form_filename", "a name that would end the form's header", mixed(multi(TEXT, part("Content-Type: image/png; name*=utf-8''a%22%0D%0AX-Evil%3A%201.png", b"x"))), text=HI, files=[File(b"x", 'a"  X-Evil: 1.png', "image/png")], python="Python keeps the line end")
    yield damaged("json_cid", "a content id that would end the JSON", mixed(multi(TEXT, part('Content-Type: image/png; name=a.png\nContent-ID: <"},"x":{">', b"x"))), text=HI, files=[File(b"x", "a.png", "image/png", '"},"x":{"')])


def cases():
    for group in (headers, boundaries, attacks):
        yield from group()
