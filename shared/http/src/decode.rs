//! A decoder of JSON that reports every field that does not fit, and names JSON's types only.
//!
//! A derived `Deserialize` stops at the first value that does not fit. Here such a value is noted
//! under its path and left out, and the text is read again, until the rest fits, or [`MOST`]
//! problems are known, or [`MOST_READ`] bytes were read. No tree is built, whatever the caller sends.

mod checked;

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use posthaste_model::Problem;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use checked::Checked;

/// How many problems an answer lists.
const MOST: usize = 50;

/// How many bytes are read in all, before the last reading. Of a long text not every problem
/// is listed.
const MOST_READ: usize = 16 << 20;

/// How much of a message that repeats a value is written, in characters.
const LONGEST: usize = 200;

/// Why a text was not decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DecodeError {
    /// It is not JSON.
    Syntax,
    /// Values that do not fit, in the order of the text.
    Fields(Vec<Problem>),
}

/// Decodes a JSON text.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    let mut problems = Vec::new();
    let mut context = Context::default();
    let mut read: usize = 0;
    loop {
        read = read.saturating_add(bytes.len());
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let root = Checked {
            inner: &mut json,
            at: FieldPath::Root,
            context: &context,
        };
        let decoded = T::deserialize(root).and_then(|value| json.end().map(|()| value));
        let error = match decoded {
            Ok(value) if problems.is_empty() => return Ok(value),
            Ok(_) => return Err(DecodeError::Fields(problems)),
            Err(error) => error,
        };
        if error.classify() != Category::Data {
            return Err(DecodeError::Syntax);
        }
        let fault = context.fault.take();
        let fault = fault.unwrap_or_else(|| Fault::of(&FieldPath::Root, &error));
        // What was left out because it does not fit is missing for that reason only.
        if !context.left_out.contains(&fault.place) {
            problems.push(fault.problem());
        }
        let next = fault
            .without
            .filter(|_| problems.len() < MOST && read < MOST_READ);
        if !next.is_some_and(|value| context.left_out.insert(value)) {
            return Err(DecodeError::Fields(problems));
        }
    }
}

/// What the steps of one reading share.
#[derive(Debug, Default)]
struct Context {
    /// Digests of the paths of the values that are left out. Two paths with one digest do no harm:
    /// the request is refused in any case.
    left_out: HashSet<u64>,
    /// The first value that does not fit: errors on the way back to the root follow from it.
    fault: RefCell<Option<Fault>>,
}

impl Context {
    fn note(&self, fault: impl FnOnce() -> Fault) {
        self.fault.borrow_mut().get_or_insert_with(fault);
    }

    fn leaves_out(&self, at: &FieldPath<'_>) -> bool {
        !self.left_out.is_empty() && self.left_out.contains(&at.digest())
    }
}

/// A value that does not fit.
#[derive(Debug)]
struct Fault {
    /// Empty for the whole body.
    field: String,
    /// The digest of the path in `field`.
    place: u64,
    message: String,
    /// The digest of the path of the value that is left out next time; none when nothing can be.
    without: Option<u64>,
}

impl Fault {
    fn new(at: &FieldPath<'_>, message: String) -> Self {
        Self {
            field: at.to_string(),
            place: at.digest(),
            message,
            without: at.value(),
        }
    }

    /// A type that is not the expected one, in the words of mail/send (API facts 2.3).
    fn wrong_type(at: &FieldPath<'_>, expected: &str, given: &str) -> Self {
        let message = format!("Invalid type. Expected: {expected}, given: {given}.");
        Self::new(at, message)
    }

    /// The decoder's own error about the value at `at`. Texts of `serde` name types of the program
    /// and are replaced; others are written for callers.
    fn of(at: &FieldPath<'_>, error: &impl fmt::Display) -> Self {
        let text = error.to_string();
        let text = text
            .rsplit_once(" at line ")
            .map_or(text.as_str(), |(reason, _)| reason);
        let quoted = |prefix| text.strip_prefix(prefix)?.split('`').next();
        if let Some(field) = quoted("missing field `") {
            return Self {
                without: at.value(),
                ..Self::new(&at.key(field), format!("{field} is required"))
            };
        }
        if let Some(field) = quoted("duplicate field `") {
            return Self::new(&at.key(field), format!("{field} is given more than once"));
        }
        const OF_SERDE: [&str; 5] = [
            "invalid type",
            "invalid value",
            "invalid length",
            "unknown ",
            "data did not match",
        ];
        if OF_SERDE.iter().any(|prefix| text.starts_with(prefix)) {
            return Self::new(at, "Invalid value.".to_owned());
        }
        Self::new(at, shortened(text))
    }

    fn problem(&self) -> Problem {
        match self.field.as_str() {
            "" => Problem::plain(&self.message),
            field => Problem::on(field, &self.message),
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// The path of a value, which lives on the stack: each step borrows the one before, and continues
/// its digest, so that a path is compared without being written.
#[derive(Clone, Copy, Debug)]
enum FieldPath<'p> {
    Root,
    Key(&'p FieldPath<'p>, &'p str, u64),
    Index(&'p FieldPath<'p>, usize, u64),
}

impl FieldPath<'_> {
    fn key<'b>(&'b self, key: &'b str) -> FieldPath<'b> {
        FieldPath::Key(self, key, self.digest_with(&key))
    }

    fn index(&self, index: usize) -> FieldPath<'_> {
        FieldPath::Index(self, index, self.digest_with(&index))
    }

    fn digest(&self) -> u64 {
        match self {
            Self::Root => 0,
            Self::Key(_, _, digest) | Self::Index(_, _, digest) => *digest,
        }
    }

    fn digest_with(&self, step: &impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.digest(), step).hash(&mut hasher);
        hasher.finish()
    }

    /// The digest of the path of a value that can be left out: any but the whole body.
    fn value(&self) -> Option<u64> {
        match self {
            Self::Root => None,
            Self::Key(..) | Self::Index(..) => Some(self.digest()),
        }
    }
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parent, step): (&FieldPath<'_>, &dyn fmt::Display) = match self {
            Self::Root => return Ok(()),
            Self::Key(parent, key, _) => (parent, key),
            Self::Index(parent, index, _) => (parent, index),
        };
        match parent {
            FieldPath::Root => write!(f, "{step}"),
            FieldPath::Key(..) | FieldPath::Index(..) => write!(f, "{parent}.{step}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Outer {
        name: Option<String>,
        count: Option<u8>,
        on: bool,
        share: f64,
        ips: Vec<Inner>,
        tags: BTreeMap<String, String>,
        color: Option<Color>,
        word: Option<Word>,
        any: serde_json::Value,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        ip: String,
        port: u16,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Color {
        Red,
        Blue,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(try_from = "String")]
    struct Word(String);

    impl TryFrom<String> for Word {
        type Error = String;

        fn try_from(text: String) -> Result<Self, String> {
            if text.contains(' ') {
                Err("a word has no space".to_owned())
            } else {
                Ok(Self(text))
            }
        }
    }

    fn problems(body: &str) -> Vec<(String, String)> {
        match decode::<Outer>(body.as_bytes()) {
            Err(DecodeError::Fields(problems)) => {
                let pair = |problem: Problem| (problem.field.unwrap_or_default(), problem.message);
                problems.into_iter().map(pair).collect()
            }
            other => panic!("{body}: {other:?}"),
        }
    }

    #[test]
    fn every_value_that_does_not_fit_is_named_at_once_in_words_of_json() {
        let body = r#"{"name":7,"count":"x","on":null,"share":{},"ips":[{"ip":"a","port":1},7,{"ip":[],"port":-1}],
            "tags":{"a":"b","c":1},"color":"green","word":"a b","any":[{}]}"#;
        let wrong = |field: &str, expected, given| {
            let message = format!("Invalid type. Expected: {expected}, given: {given}.");
            (field.to_owned(), message)
        };
        let own = |field: &str, message: &str| (field.to_owned(), message.to_owned());
        let want = [
            wrong("name", "string", "integer"),
            wrong("count", "integer", "string"),
            wrong("on", "boolean", "null"),
            wrong("share", "number", "object"),
            wrong("ips.1", "object", "integer"),
            wrong("ips.2.ip", "string", "array"),
            own("ips.2.port", "Invalid value."),
            wrong("tags.c", "string", "integer"),
            own("color", "Invalid value. Expected one of: red, blue."),
            own("word", "a word has no space"),
        ];
        assert_eq!(problems(body), want);
    }

    #[test]
    fn what_is_missing_or_given_twice_is_named() {
        for (body, field, message) in [
            (r#"{"ips":[{"ip":"a"}]}"#, "ips.0.port", "port is required"),
            (
                r#"{"on":true,"on":true}"#,
                "on",
                "on is given more than once",
            ),
            (r#"{"count":300}"#, "count", "Invalid value."),
            (
                r#"{"count":1.5}"#,
                "count",
                "Invalid type. Expected: integer, given: number.",
            ),
            ("[]", "", "Invalid type. Expected: object, given: array."),
            ("7", "", "Invalid type. Expected: object, given: integer."),
            (
                r#"{"ips":"a"}"#,
                "ips",
                "Invalid type. Expected: array, given: string.",
            ),
            (
                r#"{"ips":[["a",1]]}"#,
                "ips.0",
                "Invalid type. Expected: object, given: array.",
            ),
            (
                r#"{"color":{"Red":1}}"#,
                "color",
                "Invalid type. Expected: string, given: object.",
            ),
        ] {
            assert_eq!(
                problems(body),
                [(field.to_owned(), message.to_owned())],
                "{body}"
            );
        }
        // What else an object lacks is reported when its values fit.
        let both = problems(r#"{"ips":[{"ip":7}]}"#);
        let fields: Vec<_> = both.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(fields, ["ips.0.ip"]);
    }

    #[test]
    fn an_answer_lists_so_many_problems_and_no_more() {
        let many = format!(r#"{{"ips":[{}7]}}"#, "7,".repeat(1_000));
        assert_eq!(problems(&many).len(), MOST);
    }

    #[test]
    fn what_is_not_json_is_that_alone() {
        let deep = "[".repeat(100_000);
        for body in [
            "",
            "{",
            "{}x",
            "nul",
            "{'ips':[]}",
            r#"{"name":7"#,
            r#"{"name":7,"share":1e999}"#,
            "{\"a\":\"\u{1}\"}",
            &format!("{{\"x\":{deep}"),
        ] {
            let short: String = body.chars().take(30).collect();
            let error = decode::<Outer>(body.as_bytes());
            assert_eq!(error, Err(DecodeError::Syntax), "{short}");
        }
        // A member that is not known is skipped without recursion, however deep it is.
        let deep = format!("{{\"x\":{deep}{}}}", "]".repeat(100_000));
        assert!(decode::<Outer>(deep.as_bytes()).is_ok());
    }

    #[test]
    fn what_fits_is_read_as_it_is_without_the_checks() {
        let body = r#"{"name":null,"count":255,"share":1,"ips":[{"ip":"ä\n","port":80}],
            "tags":{"a":"b"},"color":"blue","word":"w","any":{"x":[1,2.5,null]},"other":{}}"#;
        let plain: Outer = serde_json::from_str(body).unwrap();
        assert_eq!(decode::<Outer>(body.as_bytes()), Ok(plain));
        assert_eq!(decode::<Vec<u8>>(b"[1,2]"), Ok(vec![1, 2]));
    }
}
