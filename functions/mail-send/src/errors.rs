//! The problems found in a request: where, what, and where to read about it.

use std::fmt;

use posthaste_model::Problem;

/// Neither the request nor a template has a subject.
pub(crate) const SUBJECT_REQUIRED: &str = "The subject is required. You can get around this requirement if you use a template with a subject defined or if every personalization has a subject defined.";

/// Neither the request nor a template has a body.
pub(crate) const CONTENT_REQUIRED: &str = "Unless a valid template_id is provided, the content parameter is required. There must be at least one defined content block. We typically suggest both text/plain and text/html blocks are included, but only one block is required.";

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
            problem.help = anchor;
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

/// The one problem of a body that cannot be read (API facts 2.4, stage 0).
pub(crate) fn bad_request() -> Problem {
    Problem::plain("Bad Request").with_help("bad-request")
}

/// The caller's own value as a message repeats it: in brackets, and not all of it when it is long.
pub(crate) fn quote_value(value: &str) -> String {
    match value.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("[{}…]", value.get(..end).unwrap_or_default()),
        None => format!("[{value}]"),
    }
}

/// A JSON path that lives on the stack: each step borrows the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum JsonPath<'a> {
    Root,
    Key(&'a JsonPath<'a>, &'a str),
    Index(&'a JsonPath<'a>, usize),
}

/// The members of these objects have caller-defined keys, which have no anchor.
const OPEN: [&str; 5] = [
    "custom_args",
    "dynamic_template_data",
    "headers",
    "sections",
    "substitutions",
];

/// These keys hold mailboxes, whose parts share one anchor.
const PEOPLE: [&str; 6] = ["from", "to", "cc", "bcc", "reply_to", "reply_to_list"];

impl JsonPath<'_> {
    pub(crate) fn key<'b>(&'b self, key: &'b str) -> JsonPath<'b> {
        JsonPath::Key(self, key)
    }

    pub(crate) fn index(&self, index: usize) -> JsonPath<'_> {
        JsonPath::Index(self, index)
    }

    /// The last step as text; empty for the root and for an index.
    pub(crate) fn last(&self) -> &str {
        match self {
            Self::Key(_, key) => key,
            Self::Root | Self::Index(..) => "",
        }
    }

    /// The anchor that documents this field: its path without indexes. An envelope as such has
    /// none, and then `help` is null (API facts 2.3).
    pub(crate) fn anchor(&self) -> Option<String> {
        let mut keys = self.keys();
        if let Some(open) = keys.iter().position(|key| OPEN.contains(key)) {
            keys.truncate(open + 1);
        }
        if let [.., parent, "email" | "name"] = keys.as_slice()
            && PEOPLE.contains(parent)
        {
            keys.pop();
        }
        match (keys.as_slice(), self) {
            ([], _) => Some("-Request-Body-Parameters".to_owned()),
            (["personalizations"], JsonPath::Index(..)) => None,
            (["personalizations"], _) => Some("-Personalizations-Errors".to_owned()),
            (keys, _) => Some(format!("message.{}", keys.join("."))),
        }
    }

    fn keys(&self) -> Vec<&str> {
        match self {
            Self::Root => Vec::new(),
            Self::Index(parent, _) => parent.keys(),
            Self::Key(parent, key) => {
                let mut keys = parent.keys();
                keys.push(key);
                keys
            }
        }
    }
}

impl fmt::Display for JsonPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parent, step): (&JsonPath<'_>, &dyn fmt::Display) = match self {
            Self::Root => return f.write_str("(root)"),
            Self::Key(parent, key) => (parent, key),
            Self::Index(parent, index) => (parent, index),
        };
        match parent {
            JsonPath::Root => step.fmt(f),
            JsonPath::Key(..) | JsonPath::Index(..) => write!(f, "{parent}.{step}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::JsonPath;

    #[track_caller]
    fn check(path: &JsonPath<'_>, text: &str, anchor: Option<&str>) {
        assert_eq!(path.to_string(), text);
        assert_eq!(path.anchor().as_deref(), anchor, "{text}");
    }

    #[test]
    fn a_path_has_indexes_and_its_anchor_has_none() {
        let root = JsonPath::Root;
        let all = root.key("personalizations");
        let first = all.index(0);
        let to = first.key("to");
        check(&root, "(root)", Some("-Request-Body-Parameters"));
        check(&all, "personalizations", Some("-Personalizations-Errors"));
        check(&first, "personalizations.0", None);
        let anchor = Some("message.personalizations.to");
        check(&to, "personalizations.0.to", anchor);
        check(&to.index(3), "personalizations.0.to.3", anchor);
        check(
            &to.index(3).key("email"),
            "personalizations.0.to.3.email",
            anchor,
        );
        check(
            &root.key("from").key("name"),
            "from.name",
            Some("message.from"),
        );
        check(
            &root.key("attachments").index(2).key("type"),
            "attachments.2.type",
            Some("message.attachments.type"),
        );
        check(
            &root.key("mail_settings").key("bcc").key("enable"),
            "mail_settings.bcc.enable",
            Some("message.mail_settings.bcc.enable"),
        );
        check(
            &root.key("sections").key("email"),
            "sections.email",
            Some("message.sections"),
        );
    }
}
