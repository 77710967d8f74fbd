"""Bodies in every common charset: the bytes stay, the name goes with them."""

import codecs

from kit import Case, Text, b64, mail

# Label in the mail, codec to write it with (None: bytes below), transfer encoding, text.
TEXTS = [
    ("iso-8859-1", "latin-1", "8bit", "Grüße, ¿qué tal? Æther"),
    ("iso-8859-2", "iso8859_2", "quoted-printable", "Příliš žluťoučký kůň, łódź"),
    ("iso-8859-3", "iso8859_3", "base64", "Ĉu vi ŝatas ĵaŭdon? Ħaġra"),
    ("iso-8859-4", "iso8859_4", "8bit", "Ķēniņš ģērbjas, šūpoles"),
    ("iso-8859-5", "iso8859_5", "quoted-printable", "Привет, мир"),
    ("iso-8859-6", "iso8859_6", "base64", "مرحبا بالعالم"),
    ("iso-8859-7", "iso8859_7", "8bit", "Γειά σου Κόσμε"),
    ("iso-8859-8", "iso8859_8", "quoted-printable", "שלום עולם"),
    ("iso-8859-9", "iso8859_9", "base64", "İyi günler, ığdır şehri"),
    ("iso-8859-10", "iso8859_10", "8bit", "Þetta er íslenska, ŋ"),
    ("iso-8859-11", "iso8859_11", "base64", "สวัสดีชาวโลก"),
    ("iso-8859-13", "iso8859_13", "8bit", "Ąžuolas ėjo į šilą"),
    ("iso-8859-14", "iso8859_14", "quoted-printable", "Ŵyneb ŷd, ḃán"),
    ("iso-8859-15", "iso8859_15", "8bit", "100 € für Œuvres, Šumava"),
    ("iso-8859-16", "iso8859_16", "base64", "Țară și știință"),
    ("windows-1250", "cp1250", "8bit", "Žluťoučký „kůň“"),
    ("windows-1251", "cp1251", "quoted-printable", "Съешь «этих» булок…"),
    ("windows-1252", "cp1252", "8bit", "“Smart” – 100 €"),
    ("windows-1253", "cp1253", "base64", "Καλημέρα Ώρα"),
    ("windows-1254", "cp1254", "8bit", "Şişli’de ışık"),
    ("windows-1255", "cp1255", "base64", "שָׁלוֹם ₪"),
    ("windows-1256", "cp1256", "quoted-printable", "پيام فارسي چ"),
    ("windows-1257", "cp1257", "8bit", "Žvėrių „ąžuolas“"),
    ("windows-1258", "cp1258", "base64", "Ti\u00ea\u0301ng Vi\u00ea\u0323t"),
    ("KOI8-R", "koi8_r", "8bit", "Съешь ещё этих булок"),
    ("koi8-u", "koi8_u", "quoted-printable", "Їжак ґрунт є"),
    ("Shift_JIS", "shift_jis", "8bit", "日本語表示能力"),
    ("EUC-JP", "euc_jp", "base64", "日本語のメール"),
    ("ISO-2022-JP", "iso2022_jp", "7bit", "日本語のメール、テスト"),
    ("gb2312", "gb2312", "base64", "你好，世界"),
    ("GBK", "gbk", "8bit", "繁體與简体，镕"),
    ("gb18030", "gb18030", "quoted-printable", "㐀㐁 你好 🎉"),
    ("big5", "big5", "8bit", "許功蓋：你好"),
    ("euc-kr", "euc_kr", "base64", "안녕하세요 세계"),
    ("ks_c_5601-1987", "euc-kr", "8bit", "안녕하세요 방각"),
    ("utf-7", "utf_7", "7bit", "Grüße +1 – 日本"),
    ("utf-8", "utf_8", "8bit", "Grüße 日本 🎉"),
    ("utf-16", "utf_16", "base64", "Grüße 日本 🎉"),
    ("utf-16le", "utf_16_le", "base64", "zwei\r\nZeilen"),
    ("macintosh", "mac_roman", "8bit", "Déjà vu – naïve"),
    ("cp850", "cp850", "8bit", "Größe ½ ñandú"),
    ("ibm866", "cp866", "quoted-printable", "Привет из DOS"),
    ("TIS-620", "tis_620", "8bit", "ภาษาไทย"),
]


def encoded(encoding, data):
    if encoding == "base64":
        return b64(data)
    if encoding == "quoted-printable":
        out = codecs.encode(data.replace(b"\r\n", b"\n"), "quopri")
        return out.replace(b"\n", b"\r\n")
    return data


def cases():
    for label, codec, encoding, text in TEXTS:
        data = (text + "\r\n").encode(codec)
        name = label.lower().replace("-", "_")
        yield Case(
            f"charset_{name}",
            f"a body in {label}, {encoding}",
            mail(
                f"Content-Type: text/plain; charset={label}\nContent-Transfer-Encoding: {encoding}",
                encoded(encoding, data),
            ),
            text=Text(data, label),
        )
    yield from odd()


def odd():
    def plain(name, feature, content_type, data, charset, **more):
        extra = f"{content_type}\nContent-Transfer-Encoding: 8bit" if content_type else ""
        return Case(name, feature, mail(extra, data), text=Text(data, charset), **more)

    utf8, latin = "Grüße\r\n".encode(), "Grüße\r\n".encode("latin-1")
    corrected = "the declared charset cannot be right, so another is named"
    yield plain("charset_none_ascii", "no charset, ASCII bytes", "", b"plain\r\n", "us-ascii")
    yield plain("charset_none_utf8", "no charset, UTF-8 bytes", "", utf8, "UTF-8", python=corrected)
    yield plain("charset_none_latin1", "no charset, other 8-bit bytes", "", latin, "windows-1252", python=corrected)
    line = "Content-Type: text/plain; charset="
    yield plain("charset_ascii_is_utf8", "us-ascii declared, UTF-8 sent", line + "us-ascii", utf8, "UTF-8", python=corrected)
    yield plain("charset_ascii_is_latin1", "us-ascii declared, 8-bit sent", line + "US-ASCII", latin, "windows-1252", python=corrected)
    yield plain("charset_unknown", "a charset nobody knows", line + "x-klingon-7", b"plain\r\n", "us-ascii", python=corrected)
    yield plain("charset_unknown_8bit", "an unknown charset with UTF-8 bytes", line + "default_charset", utf8, "UTF-8", python=corrected)
    yield plain("charset_quoted", "a quoted charset in capitals", line + '"UTF-8"', utf8, "UTF-8")
    yield plain("charset_single_quotes", "a charset in single quotes, which are no quotes", line + "'utf-8'", utf8, "UTF-8", python=corrected)
    yield plain("charset_empty", "an empty charset", line + '""', utf8, "UTF-8", python=corrected)
    yield plain("charset_utf8_alias", "the wrong name utf8", line + "utf8", utf8, "utf8")
    again = "receivers could not decode it: posted as UTF-8"

    def posted(name, feature, label, data, text):
        return Case(f"charset_{name}", feature, mail(f"{line}{label}\nContent-Transfer-Encoding: 8bit", data), text=Text(text.encode(), "UTF-8"), python=again)

    yield posted("utf8_broken", "UTF-8 declared, and one byte too few", "utf-8", "ü ".encode() + b"\xc3\r\n", "ü \ufffd\r\n")
    yield plain("charset_utf8_is_latin1", "UTF-8 declared, 8-bit sent", line + "utf-8", latin, "windows-1252", python=corrected)
    yield plain("charset_gb2312_is_gbk", "GB2312 declared, characters of GBK sent", line + "gb2312", "你好，鎔基。\r\n".encode("gbk"), "gb18030", python=corrected)
    yield posted("1252_gap", "Windows-1252 declared, a byte that it does not have", "windows-1252", b"a\x81\x93b\x94\r\n", "a\ufffd“b”\r\n")
    yield posted("sjis_vendor", "Shift_JIS declared, a character of NEC's", "shift_jis", "①\r\n".encode("cp932"), "①\r\n")
    yield posted("jis_vendor", "ISO-2022-JP declared, a character of NEC's", "iso-2022-jp", b"\x1b$B-!\x1b(B\r\n", "①\r\n")
    yield posted("euckr_is_cp949", "EUC-KR declared, a syllable of CP949 sent", "euc-kr", "똠\r\n".encode("cp949"), "똠\r\n")
    yield posted("big5_hkscs", "Big5 declared, a character of Hong Kong's", "big5", "喺\r\n".encode("big5hkscs"), "喺\r\n")
    yield posted("vendor_name", "a name that only browsers know", "x-sjis", "日本\r\n".encode("shift_jis"), "日本\r\n")
    yield plain("charset_utf8_bom", "a byte order mark stays", line + "utf-8", b"\xef\xbb\xbfHi\r\n", "utf-8")
    yield plain("charset_injection", "a charset with a line end encoded in it", line + '"utf-8\\\r\n X-Evil: 1"', utf8, "UTF-8", python=corrected)
    yield plain("charset_iso_2022_kr", "a charset without a decoder here", line + "iso-2022-kr", b"\x1b$)C\x0e>H3g\x0f\r\n", "iso-2022-kr")
    yield plain("charset_hz", "HZ, which is 7-bit Chinese", line + "hz-gb-2312", b"~{<:Ky2;S{~}\r\n", "hz-gb-2312")
    html = '<meta charset="iso-8859-1"><p>Grüße</p>\r\n'.encode("latin-1")
    yield Case(
        "charset_html_meta", "the charset of HTML comes from the header, not from its meta tag",
        mail("Content-Type: text/html; charset=windows-1252\nContent-Transfer-Encoding: 8bit", html),
        html=Text(html, "windows-1252"),
    )
    both = [("text", "iso-8859-1", "Grüße\r\n"), ("html", "koi8-r", "<p>Привет</p>\r\n")]
    from kit import multi, part
    parts = [
        part(f"Content-Type: text/{'plain' if kind == 'text' else kind}; charset={label}\nContent-Transfer-Encoding: 8bit", text.encode(label))
        for kind, label, text in both
    ]
    yield Case(
        "charset_two_in_one_mail", "text and HTML in different charsets",
        mail("Content-Type: multipart/alternative; boundary=b1", multi(*parts)),
        text=Text(both[0][2].encode("latin-1"), "iso-8859-1"),
        html=Text(both[1][2].encode("koi8-r"), "koi8-r"),
    )
