//! The fields of a header block, found on demand: nothing is stored, so ten thousand of them cost
//! as little as ten.

use std::borrow::Cow;

use super::lines::{HeaderPiece, is_folded, is_parameter, lines, pieces};

/// The fields of one header block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeaderFields<'a>(&'a [u8]);

impl<'a> HeaderFields<'a> {
    pub(crate) fn new(header: &'a [u8]) -> Self {
        Self(header)
    }

    /// Each field's name and its value, still folded. Lines that are no field are skipped.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        pieces(self.0).filter_map(|piece| {
            let HeaderPiece::Field(field) = piece else {
                return None;
            };
            let colon = memchr::memchr(b':', field)?;
            let (name, value) = field.split_at_checked(colon)?;
            let value = value.get(1..).unwrap_or_default();
            Some((name.trim_ascii_end(), value.trim_ascii()))
        })
    }

    /// The first value of each name, whose letter case does not count, in one pass. RFC 5322
    /// allows one field of most names; of several, readers show the first.
    pub(crate) fn pick<const N: usize>(&self, names: [&str; N]) -> [Option<&'a [u8]>; N] {
        let mut found = [None; N];
        let mut missing = N;
        for (name, value) in self.iter() {
            for (slot, wanted) in found.iter_mut().zip(names) {
                if slot.is_none() && name.eq_ignore_ascii_case(wanted.as_bytes()) {
                    *slot = Some(value);
                    missing -= 1;
                }
            }
            if missing == 0 {
                break;
            }
        }
        found
    }
}

/// The value on one line: the line ends of its folds are removed, their white space stays. Lines
/// that are neither folds nor parameters are no part of it (see [`piece`]).
pub(crate) fn unfolded(value: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'\r', b'\n', value).is_none() {
        return Cow::Borrowed(value);
    }
    let mut line = Vec::with_capacity(value.len());
    for (at, next) in lines(value).enumerate() {
        if at == 0 || is_folded(next) || is_parameter(next) {
            line.extend(next.iter().copied().filter(|b| !matches!(b, b'\r' | b'\n')));
        }
    }
    Cow::Owned(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_whatever_their_case_and_folding() {
        let header = b"From x\r\nSubject: one\r\n two\r\nX:\r\n: empty\r\nsubject : again\r\nA:b:c";
        let fields = HeaderFields::new(header);
        let found = fields.pick(["SUBJECT", "x", "none", "a"]);
        let want = [Some(&b"one\r\n two"[..]), Some(b""), None, Some(b"b:c")];
        assert_eq!(found, want);
        assert_eq!(*unfolded(b"one\r\n two"), *b"one two");
        assert_eq!(fields.iter().count(), 5);
    }

    #[track_caller]
    fn check(header: &str, want: &[(&str, &str)]) {
        let fields = HeaderFields::new(header.as_bytes());
        let one = |bytes: &[u8]| String::from_utf8_lossy(&unfolded(bytes)).into_owned();
        let got: Vec<_> = fields.iter().map(|(n, v)| (one(n), one(v))).collect();
        let want: Vec<_> = want
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect();
        assert_eq!(got, want, "{header:?}");
    }

    #[test]
    fn a_line_that_is_no_field_takes_its_folds_with_it() {
        check("A: b\nP8Fxcut\nC: d\n", &[("A", "b"), ("C", "d")]);
        check("A: b\nFr om: x,\n y\nC: d\n", &[("A", "b"), ("C", "d")]);
        check("A: b\n c\nand more\nC: d", &[("A", "b c"), ("C", "d")]);
        check("From ann Mon 10:11:12\nA: b\n", &[("A", "b")]);
        check("A: b\n\n folded\nC: d\n", &[("A", "b"), ("C", "d")]);
        check(" first\nA: b\n", &[("A", "b")]);
    }

    #[test]
    fn a_parameter_without_its_blank_continues_a_mime_field() {
        let kind = "Content-Type: multipart/mixed;";
        let want = [
            ("Content-Type", "multipart/mixed;boundary=\"a:b\""),
            ("C", "d"),
        ];
        check(&format!("{kind}\r\nboundary=\"a:b\"\r\nC: d\r\n"), &want);
        let want = [("Content-Type", "multipart/mixed;\tboundary=x"), ("C", "d")];
        check(&format!("{kind}\nP8Fxcut\n\tboundary=x\nC: d\n"), &want);
        let want = [("Content-Type", "multipart/mixed;"), ("C", "d")];
        check(&format!("{kind}\nP8Fxcut\nC: d\n"), &want);
        check(&format!("{kind}\nC: d\n"), &want);
        check("X: a;\nb=c\nC: d\n", &[("X", "a;"), ("C", "d")]);
        check(
            "Content-Type: a/b\nb=c\nC: d\n",
            &[("Content-Type", "a/b"), ("C", "d")],
        );
    }
}
