"""Names of files: RFC 2231, and what is sent instead of it."""

from kit import Case, File, Text, mail, multi, part

DATA = b"%PDF-1.7\n"
B64 = b"JVBERi0xLjcK\r\n"


def named(name, feature, type_line, disposition, want, type="application/pdf", **more):
    header = f"{type_line}\n{disposition}\nContent-Transfer-Encoding: base64".replace("\n\n", "\n").strip("\n")
    body = multi(part("Content-Type: text/plain", "Hi"), part(header, B64))
    raw = mail("Content-Type: multipart/mixed; boundary=b1", body)
    return Case(f"name_{name}", feature, raw, text=Text(b"Hi"), files=[File(DATA, want, type)], **more)


def raw_name(name, feature, filename, want, **more):
    case = named(name, feature, "Content-Type: application/pdf", 'Content-Disposition: attachment; filename="@@"', want, **more)
    case.raw = case.raw.replace(b"@@", filename)
    return case


def cases():
    pdf = "Content-Type: application/pdf"

    def disposition(name, feature, params, want, **more):
        return named(name, feature, pdf, f"Content-Disposition: attachment; {params}", want, **more)

    yield disposition("quoted", "a quoted name", 'filename="my report.pdf"', "my report.pdf")
    yield disposition("token", "a name without quotes", "filename=report.pdf", "report.pdf")
    yield disposition("token_with_spaces", "a name with spaces and without quotes", "filename=my report.pdf", "my report.pdf")
    yield disposition("escapes", "escaped quotes and backslashes", 'filename="a \\"b\\" \\\\c.pdf"', 'a "b" \\c.pdf')
    yield disposition("semicolon", "a semicolon inside quotes", 'filename="a;b=c.pdf"; size=9', "a;b=c.pdf")
    yield disposition("rfc2231", "RFC 2231", "filename*=UTF-8''%C3%9Cbersicht%20f%C3%BCr%20M%C3%A4rz.pdf", "Übersicht für März.pdf")
    yield disposition("rfc2231_latin1", "RFC 2231 in ISO-8859-1 with a language", "filename*=iso-8859-1'de'%DCbersicht.pdf", "Übersicht.pdf")
    yield disposition("rfc2231_sections", "RFC 2231 continuations", 'filename*0="a long ";\n filename*1="name in ";\n filename*2="pieces.pdf"', "a long name in pieces.pdf")
    yield disposition("rfc2231_encoded_sections", "encoded and plain sections mixed", "filename*0*=utf-8''%C3%9Cber;\n filename*1=\" 100%.\";\n filename*2*=p%64f", "Über 100%.pdf")
    yield disposition("rfc2231_split", "a character cut between two sections", "filename*0*=utf-8''%C3;\n filename*1*=%9C.pdf", "Ü.pdf")
    yield disposition("rfc2231_order", "sections in the wrong order", "filename*1=b.pdf;\n filename*0=a", "ab.pdf")
    yield disposition("rfc2231_gap", "a missing section ends the name", "filename*0=a.pdf;\n filename*2=c", "a.pdf", python="Python joins across the gap")
    yield disposition("rfc2231_and_plain", "both forms: the encoded one counts", "filename=\"Ubersicht.pdf\"; filename*=utf-8''%C3%9Cbersicht.pdf", "Übersicht.pdf", python="Python takes the first")
    yield disposition("rfc2231_no_charset", "RFC 2231 without a charset", "filename*=%C3%9C.pdf", "Ü.pdf", python="Python does not decode it")
    yield disposition("rfc2231_bad_escape", "a percent sign that escapes nothing", "filename*=utf-8''100%25%zz.pdf", "100%%zz.pdf")
    yield disposition("word", "an encoded word inside quotes", 'filename="=?utf-8?Q?=C3=9Cbersicht.pdf?="', "Übersicht.pdf")
    yield disposition("words", "encoded words over two lines", 'filename="=?utf-8?B?w5xiZXI=?=\n =?utf-8?B?c2ljaHQucGRm?="', "Übersicht.pdf")
    yield disposition("sjis_word", "an encoded word in ISO-2022-JP", 'filename="=?iso-2022-jp?B?GyRCPXFOYBsoQi5wZGY=?="', "書類.pdf")
    yield disposition("windows_path", "a path of Windows stays a name", 'filename="C:\\temp\\report.pdf"', "C:\\temp\\report.pdf")
    yield disposition("traversal", "a path upwards stays as it is: receivers choose their own names", 'filename="../../etc/passwd"', "../../etc/passwd")
    yield disposition("long", "a long name", f'filename="{"x" * 300}.pdf"', "x" * 300 + ".pdf")
    yield disposition("duplicate", "the first of two names counts", "filename=a.pdf; filename=b.pdf", "a.pdf")
    yield disposition("control", "control characters become spaces", "filename*=utf-8''a%0D%0Ab%00.pdf", "a  b .pdf", python="Python keeps them")
    yield disposition("empty", "an empty name is replaced", 'filename=""', "attachment1.pdf", python="Python gives an empty name")
    yield named("in_type", "the name only in the type", 'Content-Type: application/pdf; name="in type.pdf"', "Content-Disposition: attachment", "in type.pdf")
    yield named("in_both", "two names: the disposition's counts", 'Content-Type: application/pdf; name="type.pdf"', 'Content-Disposition: attachment; filename="disposition.pdf"', "disposition.pdf")
    yield named("missing", "no name at all", pdf, "Content-Disposition: attachment", "attachment1.pdf")
    yield named("missing_image", "an image without a name", "Content-Type: image/png", "", "attachment1.png", "image/png")
    yield named("type_only_word", "an encoded word as the name in the type", 'Content-Type: application/pdf; name="=?iso-8859-1?Q?=DC.pdf?="', "", "Ü.pdf")
    yield raw_name("raw_utf8", "raw UTF-8 in a name", "Übersicht.pdf".encode(), "Übersicht.pdf", python="Python replaces the bytes")
    yield raw_name("raw_latin1", "raw ISO-8859-1 in a name", "Übersicht.pdf".encode("latin-1"), "Übersicht.pdf", python="Python keeps lone surrogates")
    yield raw_name("rtl_override", "a mark that turns the reading direction stays visible to the receiver", "a\u202efdp.exe".encode(), "a\u202efdp.exe", python="Python replaces the bytes")
