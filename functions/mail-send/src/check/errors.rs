//! The problems found so far.

use posthaste_model::Problem;

use super::JsonPath;

/// The maximum number of problems reported: the response must not be larger than the request.
/// Lambda limits a response to 6 MB.
const MOST: usize = 5_000;

/// How much of a caller's own value an answer repeats, in characters.
const LONGEST_QUOTE: usize = 1_000;

/// Every problem found, each with its field and where to read about it.
#[derive(Debug, Default)]
pub(crate) struct ValidationErrors(Vec<Problem>);

impl ValidationErrors {
    /// Notes a problem of the field at `at`.
    pub(crate) fn push_error(&mut self, at: &JsonPath<'_>, message: impl Into<String>) {
        self.push_error_with_help(at, message, at.anchor());
    }

    /// Notes a problem that is explained under an anchor of its own.
    pub(crate) fn push_error_with_help(
        &mut self,
        at: &JsonPath<'_>,
        message: impl Into<String>,
        anchor: Option<String>,
    ) {
        if self.0.len() < MOST {
            let mut problem = Problem::on(at.to_string(), message);
            problem.help = anchor.map(|anchor| format!("See {CATALOGUE}#{anchor}"));
            self.0.push(problem);
        }
    }

    /// Takes over the problems of another list.
    pub(crate) fn append(&mut self, other: Self) {
        let room = MOST - self.0.len();
        self.0.extend(other.0.into_iter().take(room));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_vec(self) -> Vec<Problem> {
        self.0
    }
}

/// The page that explains every message, with an anchor per field.
const CATALOGUE: &str = "functions/mail-send/ERRORS.md";

/// The caller's own value as a message repeats it: in brackets, and not all of it when it is long.
pub(crate) fn quote_value(value: &str) -> String {
    match value.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("[{}…]", value.get(..end).unwrap_or_default()),
        None => format!("[{value}]"),
    }
}
