//! The fields of a header block, found on demand: nothing is stored, so ten thousand of them cost
//! as little as ten.

use std::borrow::Cow;

/// The fields of one header block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeaderFields<'a>(&'a [u8]);

impl<'a> HeaderFields<'a> {
    pub(crate) fn new(header: &'a [u8]) -> Self {
        Self(header)
    }

    /// Each field's name and its value, still folded.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            loop {
                let mut end = 0;
                for (at, line) in lines(rest).enumerate() {
                    if at > 0 && !is_folded(line) {
                        break;
                    }
                    end += line.len();
                }
                let (field, next) = rest.split_at_checked(end).filter(|_| end > 0)?;
                rest = next;
                let colon = memchr::memchr(b':', field);
                if let Some((name, value)) = colon.and_then(|at| field.split_at_checked(at)) {
                    let value = value.get(1..).unwrap_or_default();
                    return Some((name.trim_ascii_end(), value.trim_ascii()));
                }
            }
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

/// Lines with their line ends.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, next) = rest.split_at_checked(end).filter(|_| end > 0)?;
        rest = next;
        Some(line)
    })
}

fn is_folded(line: &[u8]) -> bool {
    line.starts_with(b" ") || line.starts_with(b"\t")
}

/// Whether a line begins a field, with white space before the colon allowed as in old mails, or
/// continues one.
pub(super) fn belongs(line: &[u8], is_first: bool) -> bool {
    if is_folded(line) {
        return !is_first;
    }
    let Some(colon) = memchr::memchr(b':', line) else {
        return false;
    };
    let name = line.get(..colon).unwrap_or_default().trim_ascii_end();
    name.iter().all(u8::is_ascii_graphic)
}

/// The value on one line: the line ends of its folds are removed, their white space stays.
pub(crate) fn unfolded(value: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'\r', b'\n', value).is_none() {
        return Cow::Borrowed(value);
    }
    let ends = |b: &u8| *b == b'\r' || *b == b'\n';
    Cow::Owned(value.iter().copied().filter(|b| !ends(b)).collect())
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
}
