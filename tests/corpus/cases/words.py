"""Header text: encoded words, raw bytes, folding."""

import base64

from kit import Case, FROM, Text, TO, mail

BODY = "Hi\r\n"


def q(data):
    return "".join(f"={b:02X}" for b in data)


def b(data):
    return base64.b64encode(data).decode()


def subject(name, feature, value, want, **more):
    raw = mail("", BODY, subject=value)
    return Case(f"word_{name}", feature, raw, subject=want, text=Text(BODY.encode()), **more)


def people(name, feature, sender, want, **more):
    raw = mail("", BODY, sender=sender)
    return Case(f"word_{name}", feature, raw, sender=want, text=Text(BODY.encode()), **more)


def raw(name, feature, header, charset, text, **want):
    """A mail whose header holds bytes that are no ASCII."""
    data = mail(f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit", text.encode(charset))
    data = data.replace(b"Subject: Hello", header)
    return Case(f"word_{name}", feature, data, text=Text(text.encode(charset), charset), **want)


def cases():
    yield subject("q", "the Q encoding", "=?utf-8?Q?Gr=C3=BC=C3=9Fe_aus_K=C3=B6ln?=", "Grüße aus Köln")
    yield subject("b", "the B encoding", f"=?utf-8?B?{b('日本 🎉'.encode())}?=", "日本 🎉")
    yield subject("letter_case", "charset and encoding in the other case", "=?UTF-8?q?=c3=bc?= =?Utf-8?b?w7w=?=", "üü")
    yield subject("between_words", "white space between two words goes", "=?utf-8?Q?a?=  =?utf-8?Q?b?=", "ab")
    yield subject("beside_text", "white space between a word and text stays", "x =?utf-8?Q?=C3=BC?= y", "x ü y")
    yield subject("underscore", "an underscore is a space, =5F an underscore", "=?utf-8?Q?a_b=5Fc?=", "a b_c")
    yield subject("empty", "an empty word", "a =?utf-8?Q??= b", "a  b")
    yield subject("unended", "a word without an end stays as it is", "=?utf-8?Q?abc", "=?utf-8?Q?abc")
    yield subject("unknown_encoding", "an unknown encoding stays as it is", "=?utf-8?X?abc?=", "=?utf-8?X?abc?=")
    yield subject("unknown_charset", "an unknown charset is read as what it can be", "=?x-klingon?Q?=C3=BC?=", "ü", python="Python does not decode it")
    yield subject("language", "a language tag (RFC 2231, section 5)", "=?utf-8*de?Q?=C3=BC?=", "ü", python="Python does not know it")
    yield subject("spaces_inside", "spaces inside a Q word", "=?utf-8?Q?J=C3=B6rg M=C3=BCller?=", "Jörg Müller")
    yield subject("inside_a_token", "a word without white space around it", "Re:=?utf-8?Q?=C3=BC?=!", "Re:ü!")
    yield subject("split_utf8_q", "a character cut between two Q words", "=?utf-8?Q?Gr=C3?= =?utf-8?Q?=BC=C3=9Fe?=", "Grüße")
    yield subject("split_utf8_b", "a character cut between two B words", f"=?utf-8?B?{b('日本'.encode()[:4])}?=\n =?utf-8?B?{b('日本'.encode()[4:])}?=", "日本")
    yield subject("split_sjis", "a double byte cut between two words", f"=?shift_jis?B?{b('日本'.encode('shift_jis')[:3])}?= =?shift_jis?B?{b('日本'.encode('shift_jis')[3:])}?=", "日本")
    yield subject("two_charsets", "neighbours in different charsets", "=?iso-8859-1?Q?=FC?= =?koi8-r?Q?=F0=D2=C9?=", "üПри")
    yield subject("iso_2022_jp", "ISO-2022-JP", f"=?ISO-2022-JP?B?{b('日本語の件名'.encode('iso2022_jp'))}?=", "日本語の件名")
    yield subject("gb2312", "GB2312", f"=?gb2312?B?{b('你好，世界'.encode('gb2312'))}?=", "你好，世界")
    yield subject("big5", "Big5", f"=?big5?Q?{q('許功蓋'.encode('big5'))}?=", "許功蓋")
    yield subject("euc_kr", "EUC-KR", f"=?euc-kr?B?{b('안녕하세요'.encode('euc_kr'))}?=", "안녕하세요")
    yield subject("windows_1252", "Windows-1252 with what ISO-8859-1 lacks", "=?windows-1252?Q?=8420=80=93?=", "„20€“")
    yield subject("utf_7", "UTF-7", "=?utf-7?Q?Gr+APwA3w-e?=", "Grüße")
    yield subject("q_with_equals", "a Q word with an equals sign that escapes nothing", "=?utf-8?Q?50=off?=", "50=off")
    yield subject("b_without_padding", "a B word without its padding", "=?utf-8?B?w7w?=", "ü")
    yield subject("b_with_line_end", "a line end inside a word becomes a space", "=?utf-8?Q?a=0D=0ABcc:_x?=", "a  Bcc: x", python="Python keeps the line end")
    yield subject("control", "other control characters too", "=?utf-8?Q?a=00b=1Bc?=", "a b c", python="Python keeps them")
    yield subject("long_folded", "words over many lines", "\n ".join(f"=?utf-8?Q?Zeile_{n}_=C3=BC,_?=" for n in range(30)), "".join(f"Zeile {n} ü, " for n in range(30)).strip())
    yield subject("folded_text", "plain text folded with a tab", "one\n\ttwo\n three", "one two three", python="Python keeps the tab")
    yield subject("literal", "question marks that begin no word", "what =? and ?= mean", "what =? and ?= mean")
    yield subject("overlong", "a word far longer than RFC 2047 allows", f"=?utf-8?Q?{'=C3=BC' * 300}?=", "ü" * 300)

    yield people("name", "a name", "=?utf-8?Q?J=C3=B6rg?= <j@example.com>", "Jörg <j@example.com>")
    yield people("name_with_comma", "a decoded comma does not cut the name in two", "=?utf-8?Q?M=C3=BCller=2C_J=C3=B6rg?= <j@example.com>", '"Müller, Jörg" <j@example.com>')
    yield people("name_with_address", "a decoded name cannot pose as an address", "=?utf-8?Q?boss=40example.com_=3Cboss=40example.com=3E?= <x@evil.example>", '"boss@example.com <boss@example.com>" <x@evil.example>')
    yield people("name_in_quotes", "a word inside a quoted string, as many programs write it", '"=?utf-8?Q?M=C3=BCller=2C_=22J=C3=B6rg=22?=" <j@example.com>', '"Müller, \\"Jörg\\"" <j@example.com>')
    yield people("name_quoted", "a quoted name with escapes stays", '"Ann \\"A\\" B, C" <j@example.com>', '"Ann \\"A\\" B, C" <j@example.com>')
    yield people("name_in_comment", "a word in a comment (RFC 2047, section 8)", "j@example.com (=?utf-8?Q?J=C3=B6rg?=)", "j@example.com (Jörg)")
    yield people("name_rtl", "a name written from right to left", f"=?utf-8?B?{b('مرحبا'.encode())}?= <j@example.com>", "مرحبا <j@example.com>")
    yield people("name_half", "a word and a plain one", "=?utf-8?Q?J=C3=B6rg?= Smith <j@example.com>", "Jörg Smith <j@example.com>")

    yield raw("raw_utf8", "raw UTF-8 in the header (RFC 6532)", "Subject: Grüße 🎉".encode(), "utf-8", "Hi\r\n", subject="Grüße 🎉")
    yield raw("raw_latin1", "raw ISO-8859-1 in the header", "Subject: Grüße".encode("latin-1"), "iso-8859-1", "Grüße\r\n", subject="Grüße", python="Python keeps lone surrogates")
    yield raw("raw_koi8", "raw bytes in the charset the body names", "Subject: Привет".encode("koi8-r"), "koi8-r", "Привет\r\n", subject="Привет", python="Python keeps lone surrogates")
    yield raw("raw_sjis", "raw Shift_JIS in the header", "Subject: 日本語".encode("shift_jis"), "shift_jis", "日本語\r\n", subject="日本語", python="Python keeps lone surrogates")
    yield raw("raw_and_encoded", "raw UTF-8 beside an encoded word", "Subject: ü =?utf-8?Q?=C3=BC?=".encode(), "utf-8", "Hi\r\n", subject="ü ü")
    body = "Hi\r\n"
    eai = mail("", body, sender="Pelé <pelé@exämple.example>", to="用户@例子.example")
    yield Case("word_smtputf8", "addresses in raw UTF-8 (RFC 6532)", eai, sender="Pelé <pelé@exämple.example>", to="用户@例子.example", text=Text(body.encode()))
