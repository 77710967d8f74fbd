//! The language that mails are searched in: `to_email="ann@example.com" AND status="delivered"`.
//!
//! Conditions over fields, joined by `AND`, `OR`, `NOT` and brackets, as in the v3 API's email
//! activity. A query is parsed into a tree that mails are matched against; the tree also yields the
//! address and the latest time that narrow the search.

mod parse;
mod tokens;

use posthaste_model::{EmailAddress, Timestamp};
use posthaste_store::Seek;

/// Why a query is invalid, in the wording of the v3 API.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid syntax: {0}")]
pub(crate) struct InvalidQuery(pub(crate) String);

/// A field of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryField {
    MsgId,
    FromEmail,
    ToEmail,
    Subject,
    Status,
    TemplateId,
    AsmGroupId,
    Category,
    Opens,
    Clicks,
    LastEventTime,
}

/// How a field and a value compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// The value a field is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QueryValue {
    Text(String),
    Number(i64),
    /// Seconds since the epoch.
    Time(Timestamp),
}

/// A query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Compare(QueryField, Comparison, QueryValue),
    /// A pattern in which `%` matches anything and `_` one character, in lower case.
    Like(QueryField, String),
    Among(QueryField, Vec<QueryValue>),
    IsNull(QueryField),
}

impl Query {
    /// Reads a query.
    pub(crate) fn read(text: &str) -> Result<Self, InvalidQuery> {
        parse::query(text)
    }

    /// Whether a mail matches.
    pub(crate) fn holds(&self, mail: &Seek) -> bool {
        match self {
            Self::All(all) => all.iter().all(|one| one.holds(mail)),
            Self::Any(any) => any.iter().any(|one| one.holds(mail)),
            Self::Not(other) => !other.holds(mail),
            Self::Compare(field, how, value) => compare(*field, *how, value, mail),
            Self::Like(field, pattern) => {
                let texts = texts(*field, mail);
                texts.iter().any(|text| is_like(text, pattern))
            }
            Self::Among(field, values) => {
                let equal = |value| compare(*field, Comparison::Equal, value, mail);
                values.iter().any(equal)
            }
            Self::IsNull(field) => texts(*field, mail).is_empty(),
        }
    }

    /// The one recipient that every matching mail has.
    pub(crate) fn recipient(&self) -> Option<&str> {
        match self {
            Self::All(all) => all.iter().find_map(Self::recipient),
            Self::Compare(QueryField::ToEmail, Comparison::Equal, QueryValue::Text(email)) => {
                Some(email)
            }
            Self::Among(QueryField::ToEmail, values) => match values.as_slice() {
                [QueryValue::Text(email)] => Some(email),
                _ => None,
            },
            Self::Any(_)
            | Self::Not(_)
            | Self::Compare(..)
            | Self::Like(..)
            | Self::Among(..)
            | Self::IsNull(_) => None,
        }
    }

    /// A time after which no matching mail was accepted: its last event would be later.
    pub(crate) fn until(&self) -> Option<Timestamp> {
        match self {
            Self::All(all) => all.iter().filter_map(Self::until).min(),
            Self::Compare(
                QueryField::LastEventTime,
                Comparison::Equal | Comparison::Less | Comparison::AtMost,
                QueryValue::Time(at),
            ) => Some(*at),
            Self::Any(_)
            | Self::Not(_)
            | Self::Compare(..)
            | Self::Like(..)
            | Self::Among(..)
            | Self::IsNull(_) => None,
        }
    }
}

/// The normalized values of a text field of a mail; empty if it has none.
fn texts(field: QueryField, mail: &Seek) -> Vec<String> {
    match field {
        QueryField::MsgId => vec![mail.message.of_copy(mail.recipient)],
        QueryField::FromEmail => vec![folded(&mail.from)],
        QueryField::ToEmail => vec![folded(&mail.to)],
        QueryField::Subject => vec![mail.subject.to_lowercase()],
        QueryField::Status => vec![mail.status.as_str().to_owned()],
        QueryField::TemplateId => mail.template_id.iter().cloned().collect(),
        QueryField::AsmGroupId => mail.asm_group_id.iter().map(i64::to_string).collect(),
        QueryField::Category => mail.categories.clone(),
        QueryField::Opens => vec![mail.opens.to_string()],
        QueryField::Clicks => vec![mail.clicks.to_string()],
        QueryField::LastEventTime => vec![mail.last_event_at.iso()],
    }
}

/// The number in a field that has one.
fn number(field: QueryField, mail: &Seek) -> Option<i64> {
    match field {
        QueryField::Opens => Some(i64::from(mail.opens)),
        QueryField::Clicks => Some(i64::from(mail.clicks)),
        QueryField::AsmGroupId => mail.asm_group_id,
        QueryField::LastEventTime => Some(mail.last_event_at.0),
        QueryField::MsgId
        | QueryField::FromEmail
        | QueryField::ToEmail
        | QueryField::Subject
        | QueryField::Status
        | QueryField::TemplateId
        | QueryField::Category => None,
    }
}

fn compare(field: QueryField, how: Comparison, value: &QueryValue, mail: &Seek) -> bool {
    let wanted = match value {
        QueryValue::Number(wanted) | QueryValue::Time(Timestamp(wanted)) => *wanted,
        QueryValue::Text(text) => {
            // Both names of a mail find it.
            let request = field == QueryField::MsgId && mail.message.as_str() == text;
            let equal = request || texts(field, mail).iter().any(|own| own == text);
            return equal == (how == Comparison::Equal);
        }
    };
    let Some(own) = number(field, mail) else {
        return how == Comparison::NotEqual;
    };
    match how {
        Comparison::Equal => own == wanted,
        Comparison::NotEqual => own != wanted,
        Comparison::Less => own < wanted,
        Comparison::AtMost => own <= wanted,
        Comparison::Greater => own > wanted,
        Comparison::AtLeast => own >= wanted,
    }
}

/// The normalized form of an address; any other text in lower case.
fn folded(text: &str) -> String {
    EmailAddress::parse(text).map_or_else(|_| text.to_lowercase(), |address| address.folded())
}

/// Whether a text matches a pattern. Takes at most time proportional to the product of the lengths:
/// only the last `%` is backtracked to.
fn is_like(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) = (
        text.to_lowercase().chars().collect(),
        pattern.chars().collect(),
    );
    let (mut t, mut p) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(c) = text.get(t) {
        match pattern.get(p) {
            Some('%') => {
                star = Some((p, t));
                p += 1;
            }
            Some(want) if *want == '_' || want == c => {
                t += 1;
                p += 1;
            }
            _ => match &mut star {
                None => return false,
                Some((at, from)) => {
                    *from += 1;
                    t = *from;
                    p = *at + 1;
                }
            },
        }
    }
    let rest = pattern.get(p..).unwrap_or_default();
    rest.iter().all(|c| *c == '%')
}

#[cfg(test)]
mod tests;
