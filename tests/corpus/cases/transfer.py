"""Transfer encodings, sound and broken."""

from kit import Case, Text, mail


def body(name, feature, encoding, data, want, charset="us-ascii", **more):
    raw = mail(f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}", data)
    return Case(f"transfer_{name}", feature, raw, text=Text(want, charset), **more)


def cases():
    ue = "ü".encode()
    yield body("7bit", "7bit", "7bit", b"plain\r\n.\r\n..\r\n", b"plain\r\n.\r\n..\r\n")
    yield body("8bit", "8bit", "8bit", ue + b"\r\n", ue + b"\r\n", "utf-8")
    yield body("binary", "binary with NUL and lone line ends", "binary", b"a\0b\rc\nd", b"a\0b\rc\nd")
    yield body("qp", "quoted-printable with soft line ends", "quoted-printable", b"a =\r\nb=C3=BC=\r\n=3D\r\n", b"a b" + ue + b"=\r\n", "utf-8")
    yield body("qp_lower", "escapes in lower case", "quoted-printable", b"=c3=bc\r\n", ue + b"\r\n", "utf-8")
    yield body("qp_trailing_space", "white space at the end of a line was added on the way", "quoted-printable", b"a  \r\nb=20\r\nc=\t \r\nd", b"a\r\nb \r\ncd", python="Python keeps it")
    yield body("qp_bad", "escapes that are none stay", "quoted-printable", b"=ZZ a=b =\xe9\r\n=4", b"=ZZ a=b =\xe9\r\n=4", "windows-1252")
    yield body("qp_long_line", "a line longer than allowed", "quoted-printable", b"x" * 2000 + b"=3D\r\n", b"x" * 2000 + b"=\r\n")
    yield body("qp_end", "a soft line end at the very end", "quoted-printable", b"end=\r\n", b"end")
    yield body("qp_dots", "dots at the start of lines", "quoted-printable", b".\r\n=2E.\r\n", b".\r\n..\r\n")
    yield body("base64", "base64", "base64", b"aGVsbG8=\r\n", b"hello")
    yield body("base64_lf", "base64 in lines that end in LF", "base64", b"aGVs\nbG8=\n", b"hello")
    yield body("base64_unpadded", "base64 without padding", "base64", b"aGVsbG8\r\n", b"hello")
    yield body("base64_one_line", "base64 on one long line", "base64", b"aGVsbG8g" * 500, b"hello " * 500)
    yield body("base64_junk", "foreign characters inside base64", "base64", b"aG-Vs*bG 8=\r\n", b"hello")
    yield body("base64_pieces", "pieces that were each padded", "base64", b"aGk=\r\naGVsbG8=\r\n", b"hihello", python="Python stops at the first padding")
    yield body("base64_footer", "a list's plain footer behind base64", "base64", b"aGVsbG8=\r\n_______________\r\nThis list is run by us\r\n", b"hello")
    yield body("base64_cut", "base64 that was cut off", "base64", b"aGVsbG8gd29ybGQ", b"hello world")
    yield body("base64_empty", "nothing in base64", "base64", b"\r\n", b"")
    yield body("capitals", "the name of the encoding in capitals", "BASE64", b"aGVsbG8=\r\n", b"hello")
    yield body("comment", "a comment after the name", "base64 (of course)", b"aGVsbG8=\r\n", b"hello", python="Python does not know the name then")
    yield body("unknown", "an unknown encoding is left alone", "x-rot13", b"uryyb\r\n", b"uryyb\r\n")
    yield body("uuencode", "uuencode is left alone", "x-uuencode", b"begin 644 a\r\n%:&5L;&\\\r\n`\r\nend\r\n", b"begin 644 a\r\n%:&5L;&\\\r\n`\r\nend\r\n", python="Python decodes it")
    yield body("empty", "an encoding without a name", "", b"plain =41\r\n", b"plain =41\r\n")
    yield body("bare_lf", "lines that end in LF only stay", "7bit", b"one\ntwo\n", b"one\ntwo\n")
    yield body("bare_cr", "a lone CR is no line end", "7bit", b"one\rtwo\r\n", b"one\rtwo\r\n")
    yield body("long_line", "a line of 100,000 characters", "7bit", b"x" * 100_000 + b"\r\n", b"x" * 100_000 + b"\r\n")
