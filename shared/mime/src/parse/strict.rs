//! Whether bytes are valid in the charset they are labelled with.
//!
//! Receivers decode the fields of a form strictly, by the tables of their language (Python, Java,
//! PHP). Those know less than browsers, whose tables the Encoding Standard holds: no vendor's
//! additions to the national sets, no GBK under the name of GB2312, and no control characters in
//! the gaps of Windows' code pages.

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, ISO_2022_JP, SHIFT_JIS, UTF_16BE, UTF_16LE,
    WINDOWS_874, WINDOWS_1252, WINDOWS_1254, WINDOWS_1255,
};

/// Whether every decoder of this name takes the bytes. Names that are not checked here are sound
/// for ASCII only.
pub(super) fn is_sound(label: &str, bytes: &[u8]) -> bool {
    let label = label.to_ascii_lowercase();
    if is_rare(&label) {
        return false;
    }
    let Some(charset) = Encoding::for_label(label.as_bytes()) else {
        let is_plain = bytes.is_ascii() && can_be_joined(&label);
        return is_plain || COMPLETE.contains(&label.as_str());
    };
    match charset {
        _ if charset == UTF_16LE || charset == UTF_16BE => is_utf_16(charset, &label, bytes),
        _ if charset == ISO_2022_JP => decodes(charset, bytes) && is_iso_2022_jp(bytes),
        _ if bytes.is_ascii() => true,
        _ if charset.is_single_byte() => is_single(charset, &label, bytes),
        _ if charset == GBK && label.contains("2312") => pairs(bytes, is_gb2312),
        _ if charset == GBK => decodes(charset, bytes) && pairs(bytes, is_gbk),
        _ if charset == GB18030 => is_gb18030(bytes),
        _ if charset == BIG5 && label == "big5" => pairs(bytes, is_big5),
        _ if charset == EUC_KR => decodes(charset, bytes) && pairs(bytes, is_euc_kr),
        _ if charset == EUC_JP => decodes(charset, bytes) && is_euc_jp(bytes),
        _ if charset == SHIFT_JIS => decodes(charset, bytes) && is_shift_jis(bytes),
        _ => false,
    }
}

/// Whether ASCII letters and line ends represent themselves, so that two texts can be joined.
pub(crate) fn can_be_joined(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    let wide = [
        "utf-16",
        "utf16",
        "utf-32",
        "utf32",
        "ucs",
        "iso-10646",
        "unicode",
        "csunicode",
    ];
    !wide.iter().any(|start| label.starts_with(start))
}

/// Names that browsers know and Python does not.
const RARE: [&str; 24] = [
    "cn-big5",
    "dos-874",
    "gb_2312",
    "gb_2312-80",
    "iso-10646-ucs-2",
    "iso-8859-6-e",
    "iso-8859-6-i",
    "iso-8859-8-e",
    "iso-8859-8-i",
    "iso-ir-149",
    "koi",
    "koi8",
    "koi8-ru",
    "ks_c_5601-1989",
    "ksc_5601",
    "logical",
    "mac",
    "sun_eu_greek",
    "ucs-2",
    "unicode",
    "visual",
    "windows-31j",
    "windows-874",
    "windows-949",
];

/// Code pages of DOS: every byte is a character in them, and browsers do not know them.
const COMPLETE: [&str; 12] = [
    "cp437", "cp850", "cp852", "cp855", "cp858", "cp860", "cp861", "cp862", "cp863", "cp865",
    "ibm437", "ibm850",
];

/// Whether receivers may not know the name: it is one of those, or of a single vendor.
fn is_rare(label: &str) -> bool {
    let joined = label
        .strip_prefix("iso8859")
        .is_some_and(|n| !n.starts_with('-'));
    joined || label.starts_with("x-") || label.starts_with("cs") || RARE.contains(&label)
}

/// GB18030 contains GBK, which contains GB2312.
pub(super) fn is_gb18030(bytes: &[u8]) -> bool {
    // Browsers take a lone 0x80 for the euro sign.
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        let length = match (byte, tail.first()) {
            (0..=0x7f, _) => 0,
            (0x81..=0xfe, Some(b'0'..=b'9')) => 3,
            (0x81..=0xfe, Some(_)) => 1,
            _ => return false,
        };
        rest = tail.get(length..).unwrap_or_default();
    }
    decodes(GB18030, bytes)
}

/// Whether the name is one of the family of GB18030.
pub(super) fn is_chinese(label: &str) -> bool {
    let charset = Encoding::for_label(label.as_bytes());
    charset.is_some_and(|charset| charset == GBK || charset == GB18030)
}

fn decodes(charset: &'static Encoding, bytes: &[u8]) -> bool {
    let decoded = charset.decode_without_bom_handling_and_without_replacement(bytes);
    decoded.is_some()
}

/// Without a byte order, one is assumed that differs.
fn is_utf_16(charset: &'static Encoding, label: &str, bytes: &[u8]) -> bool {
    let marked = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    match label {
        "utf-16le" | "utf-16be" => decodes(charset, bytes),
        "utf-16" if marked => {
            let big = bytes.starts_with(b"\xfe\xff");
            decodes(if big { UTF_16BE } else { UTF_16LE }, bytes)
        }
        _ => false,
    }
}

/// The standard takes ISO-8859-1, -9 and -11 for the code pages that fill their gaps.
fn is_single(charset: &'static Encoding, label: &str, bytes: &[u8]) -> bool {
    let filled = charset == WINDOWS_1252 && !label.contains("1252")
        || charset == WINDOWS_1254 && !label.contains("1254");
    if filled {
        return true;
    }
    if charset == WINDOWS_874 && !label.contains("874") {
        return !bytes.iter().any(|byte| (0x80..=0xa0).contains(byte)) && decodes(charset, bytes);
    }
    let text = charset.decode_without_bom_handling_and_without_replacement(bytes);
    let controls = label.starts_with("iso-8859-");
    // The standard has a vowel there that others do not.
    if charset == WINDOWS_1255 && bytes.contains(&0xca) {
        return false;
    }
    text.is_some_and(|text| controls || !text.contains(|c| ('\u{80}'..='\u{9f}').contains(&c)))
}

/// Whether the bytes are ASCII and pairs that a set has.
fn pairs(bytes: &[u8], has: impl Fn(u8, u8) -> bool) -> bool {
    let mut rest = bytes.iter();
    while let Some(&lead) = rest.next() {
        if lead >= 0x80 && !rest.next().is_some_and(|&trail| has(lead, trail)) {
            return false;
        }
    }
    true
}

fn is_gb2312(lead: u8, trail: u8) -> bool {
    match lead {
        0xa1 | 0xa3 | 0xb0..=0xd6 | 0xd8..=0xf7 => matches!(trail, 0xa1..=0xfe),
        0xa2 => matches!(trail, 0xb1..=0xe2 | 0xe5..=0xee | 0xf1..=0xfc),
        0xa4 => matches!(trail, 0xa1..=0xf3),
        0xa5 => matches!(trail, 0xa1..=0xf6),
        0xa6 => matches!(trail, 0xa1..=0xb8 | 0xc1..=0xd8),
        0xa7 => matches!(trail, 0xa1..=0xc1 | 0xd1..=0xf1),
        0xa8 => matches!(trail, 0xa1..=0xba | 0xc5..=0xe9),
        0xa9 => matches!(trail, 0xa4..=0xef),
        0xd7 => matches!(trail, 0xa1..=0xf9),
        _ => false,
    }
}

/// The rows of characters; those for private use and the additions of GB18030 are not in it.
fn is_gbk(lead: u8, trail: u8) -> bool {
    match lead {
        0xa1..=0xa7 => is_gb2312(lead, trail) || lead == 0xa2 && matches!(trail, 0xa1..=0xaa),
        0x81..=0xa0 | 0xb0..=0xd6 | 0xd8..=0xf7 => trail >= 0x40,
        0xd7 => matches!(trail, 0x40..=0xf9),
        0xaa..=0xaf | 0xf8..=0xfd => matches!(trail, 0x40..=0xa0),
        0xfe => false,
        _ => is_gb2312(lead, trail),
    }
}

fn is_big5(lead: u8, trail: u8) -> bool {
    let trailing = matches!(trail, 0x40..=0x7e | 0xa1..=0xfe);
    trailing
        && match lead {
            0xa1..=0xa2 | 0xa4..=0xc5 | 0xc9..=0xf8 => (lead, trail) >= (0xa1, 0x40),
            0xa3 => trail <= 0xbf,
            0xc6 => trail <= 0x7e,
            0xf9 => trail <= 0xd5,
            _ => false,
        }
}

fn is_euc_kr(lead: u8, trail: u8) -> bool {
    // The filler announces a syllable of several pairs.
    let filler = (lead, trail) == (0xa4, 0xd4);
    !filler && matches!(lead, 0xa1..=0xfe) && matches!(trail, 0xa1..=0xfe)
}

/// JIS X 0208 has the rows 1 to 8 and 16 to 84; vendors put theirs between and after them.
fn is_jis_row(lead: u8) -> bool {
    matches!(lead, 0x21..=0x28 | 0x30..=0x74)
}

fn is_euc_jp(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        let length = match byte {
            0..=0x7f => 0,
            0x8e => 1,
            0x8f => 2,
            lead if is_jis_row(lead & 0x7f) => 1,
            _ => return false,
        };
        rest = tail.get(length..).unwrap_or_default();
    }
    true
}

fn is_shift_jis(bytes: &[u8]) -> bool {
    let mut rest = bytes.iter();
    while let Some(&lead) = rest.next() {
        if matches!(lead, 0..=0x7f | 0xa1..=0xdf) {
            continue;
        }
        // Two rows for each lead byte, the second from the trail byte 0x9f.
        let base = if lead < 0xa0 { 0x81 } else { 0xc1 };
        let second = u8::from(rest.next().is_some_and(|trail| *trail >= 0x9f));
        let row = lead.checked_sub(base).map(|n| 0x21 + 2 * n + second);
        if !row.is_some_and(is_jis_row) {
            return false;
        }
    }
    true
}

fn is_iso_2022_jp(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let mut double = false;
    while let Some((&byte, tail)) = rest.split_first() {
        let length = match (byte, tail) {
            (0x1b, [b'$', b'@' | b'B', ..]) => {
                double = true;
                2
            }
            (0x1b, [b'(', b'B' | b'J', ..]) => {
                double = false;
                2
            }
            (0x1b, _) => return false,
            (b'\r' | b'\n', _) => 0,
            (lead, _) if double => {
                if !is_jis_row(lead) {
                    return false;
                }
                1
            }
            _ => 0,
        };
        rest = tail.get(length..).unwrap_or_default();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_sound_when_strict_decoders_take_the_bytes() {
        for (label, bytes, want) in [
            ("gb2312", &b"\xc4\xe3\xba\xc3"[..], true),
            ("GB2312", b"\x96|", false),
            ("gb2312", b"\xd7\xfa", false),
            ("gb2312", b"\xc4", false),
            ("gbk", b"\x96|", true),
            ("gbk", b"\x80", false),
            ("gbk", b"\x810\x810", false),
            ("gb18030", b"\x96|\x810\x810", true),
            ("gb18030", b"\x80", false),
            ("windows-1252", b"\x80\x93", true),
            ("windows-1252", b"\x81", false),
            ("cp1252", b"\x9d", false),
            ("iso-8859-1", b"\x81", true),
            ("iso-8859-9", b"\x81", true),
            ("iso-8859-2", b"\x81\xa1", true),
            ("iso-8859-7", b"\xff", false),
            ("windows-1251", b"\x98", false),
            ("windows-1251", b"\xef\xf0", true),
            ("koi8-r", b"\x80\xff", true),
            ("windows-1255", b"\xca", false),
            ("windows-874", b"a", false),
            ("iso88591", b"a", false),
            ("iso8859-1", b"\xe4", true),
            ("tis-620", b"\xa1", true),
            ("tis-620", b"\x85", false),
            ("big5", b"\xa7A\xa6n", true),
            ("big5", b"\xf9\xd6", false),
            ("big5", b"\xc6\xa1", false),
            ("euc-kr", b"\xbe\xc8", true),
            ("ks_c_5601-1987", b"\x81A", false),
            ("euc-jp", b"\xc6\xfc\x8e\xb1", true),
            ("euc-jp", b"\xad\xa1", false),
            ("shift_jis", b"\x93\xfa\xb1", true),
            ("shift_jis", b"\x87@", false),
            ("shift_jis", b"\x93", false),
            ("iso-2022-jp", b"\x1b$BF|K\\\x1b(B", true),
            ("iso-2022-jp", b"\x1b(I1\x1b(B", false),
            ("iso-2022-jp", b"\x1b$B-!\x1b(B", false),
            ("utf-16", b"\xff\xfea\0", true),
            ("utf-16", b"a\0", false),
            ("utf-16le", b"a\0", true),
            ("utf-16le", b"a", false),
            ("utf-16be", b"\xd8\0\0a", false),
            ("x-sjis", b"a", false),
            ("utf-7", b"+AOQ-", true),
            ("utf-32", b"a\0\0\0", false),
            ("cp437", b"\x81", true),
            ("ibm850", b"\x81", true),
            ("cp1026", b"\x81", false),
        ] {
            assert_eq!(is_sound(label, bytes), want, "{label} {bytes:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_judged(label in "(gb2312|gbk|gb18030|big5|euc-jp|shift_jis|iso-2022-jp|euc-kr|utf-16)", bytes: Vec<u8>) {
            is_sound(&label, &bytes);
        }
    }
}
