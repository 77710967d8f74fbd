//! The language that mails are searched in: `to_email="ann@example.com" AND status="delivered"`.
//!
//! Conditions over fields, joined by `AND`, `OR`, `NOT` and brackets, as in the v3 API's email
//! activity. A query is parsed into a tree that mails are matched against; the tree also yields the
//! address and the times that narrow the search, and which further rows it needs of a mail.

mod parse;
mod tokens;

use posthaste_model::{EmailAddress, Timestamp};
use posthaste_store::SearchStatus;

use crate::mail::{FoundMail, event_name};

/// Why a query is invalid, in the wording of the v3 API.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid syntax: {0}")]
pub(crate) struct InvalidQuery(pub(crate) String);

/// Whose fields and words a query uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldSet {
    /// Of `GET /v3/messages`.
    Messages,
    /// Of `POST /v3/logs`.
    Logs,
}

/// A field of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QueryField {
    MsgId,
    FromEmail,
    ToEmail,
    Subject,
    Status,
    /// The status in the words of `/v3/logs`.
    LogStatus,
    Reason,
    TemplateId,
    TemplateName,
    AsmGroupId,
    AsmGroupName,
    ApiKeyId,
    Category,
    Events,
    /// All custom arguments.
    UniqueArgs,
    /// The one of this name.
    UniqueArg(String),
    OutboundIp,
    Opens,
    Clicks,
    AcceptedAt,
    LastEventTime,
}

/// What a query needs of a mail beside its search row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub copy: bool,
    pub template_names: bool,
    pub group_names: bool,
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
    /// A list has this element, or a map this name or value.
    Contains(QueryField, String),
    IsNull(QueryField),
}

impl Query {
    /// Reads a query; one without any condition matches every mail.
    pub(crate) fn read(text: &str, fields: FieldSet) -> Result<Self, InvalidQuery> {
        if text.trim().is_empty() {
            return Ok(Self::All(Vec::new()));
        }
        parse::query(text, fields)
    }

    /// Whether it has no condition: every mail matches.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::All(all) if all.is_empty())
    }

    /// Whether a mail matches.
    pub(crate) fn holds(&self, mail: &FoundMail) -> bool {
        match self {
            Self::All(all) => all.iter().all(|one| one.holds(mail)),
            Self::Any(any) => any.iter().any(|one| one.holds(mail)),
            Self::Not(other) => !other.holds(mail),
            Self::Compare(field, how, value) => compare(field, *how, value, mail),
            Self::Like(field, pattern) => {
                let texts = texts(field, mail);
                texts.iter().any(|text| is_like(text, pattern))
            }
            Self::Among(field, values) => {
                let equal = |value| compare(field, Comparison::Equal, value, mail);
                values.iter().any(equal)
            }
            Self::Contains(field, wanted) => texts(field, mail).contains(wanted),
            Self::IsNull(field) => texts(field, mail).is_empty(),
        }
    }

    /// Whether a pattern is compared, which takes longer than other conditions.
    pub(crate) fn has_pattern(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::has_pattern),
            Self::Not(other) => other.has_pattern(),
            Self::Like(..) => true,
            _ => false,
        }
    }

    /// What has to be loaded before mails are matched.
    pub(crate) fn needs(&self) -> Needs {
        let none = Needs::default();
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().fold(none, |needs, part| {
                let more = part.needs();
                Needs {
                    copy: needs.copy || more.copy,
                    template_names: needs.template_names || more.template_names,
                    group_names: needs.group_names || more.group_names,
                }
            }),
            Self::Not(other) => other.needs(),
            Self::Compare(field, ..)
            | Self::Like(field, _)
            | Self::Among(field, _)
            | Self::Contains(field, _)
            | Self::IsNull(field) => field.needs(),
        }
    }

    /// A time before which no matching mail was accepted.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        match self {
            Self::All(all) => all.iter().filter_map(Self::since).max(),
            Self::Compare(
                QueryField::AcceptedAt,
                Comparison::Equal | Comparison::Greater | Comparison::AtLeast,
                QueryValue::Time(at),
            ) => Some(*at),
            _ => None,
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
            _ => None,
        }
    }

    /// The one id that every matching mail has: of a copy, or of all copies of a request.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            Self::All(all) => all.iter().find_map(Self::id),
            Self::Compare(QueryField::MsgId, Comparison::Equal, QueryValue::Text(id)) => Some(id),
            _ => None,
        }
    }

    /// Whether every matching mail has left: one that waits for its time has no end and no event.
    pub(crate) fn is_of_left(&self) -> bool {
        match self {
            Self::All(all) => all.iter().any(Self::is_of_left),
            Self::Compare(QueryField::Status, Comparison::Equal, QueryValue::Text(status)) => {
                status != SearchStatus::Processed.as_str()
            }
            Self::Contains(QueryField::Events, _) => true,
            _ => false,
        }
    }

    /// A time after which no matching mail was accepted: its last event would be later.
    pub(crate) fn until(&self) -> Option<Timestamp> {
        match self {
            Self::All(all) => all.iter().filter_map(Self::until).min(),
            Self::Compare(
                QueryField::LastEventTime | QueryField::AcceptedAt,
                Comparison::Equal | Comparison::Less | Comparison::AtMost,
                QueryValue::Time(at),
            ) => Some(*at),
            _ => None,
        }
    }
}

impl QueryField {
    fn needs(&self) -> Needs {
        let none = Needs::default();
        match self {
            Self::UniqueArgs
            | Self::UniqueArg(_)
            | Self::OutboundIp
            | Self::Reason
            | Self::LogStatus => Needs { copy: true, ..none },
            Self::TemplateName => Needs {
                template_names: true,
                ..none
            },
            Self::AsmGroupName => Needs {
                group_names: true,
                ..none
            },
            _ => none,
        }
    }

    /// Whether it holds several values, in a list or by name.
    fn is_collection(&self) -> bool {
        matches!(self, Self::Category | Self::Events | Self::UniqueArgs)
    }
}

/// The normalized values of a text field of a mail; empty if it has none.
fn texts(field: &QueryField, mail: &FoundMail) -> Vec<String> {
    let (row, copy) = (&mail.row, mail.copy.as_ref());
    let own = |text: &Option<String>| text.iter().cloned().collect();
    match field {
        QueryField::MsgId => vec![row.message.of_copy(row.recipient)],
        QueryField::FromEmail => vec![folded(&row.from)],
        QueryField::ToEmail => vec![folded(&row.to)],
        QueryField::Subject => vec![row.subject.to_lowercase()],
        QueryField::Status => vec![row.status.as_str().to_owned()],
        QueryField::LogStatus => vec![mail.log_status().to_owned()],
        QueryField::Reason => own(&copy.and_then(|copy| copy.reason.clone())),
        QueryField::TemplateId => own(&row.template_id),
        QueryField::TemplateName => own(&mail.template_name),
        QueryField::AsmGroupId => row.asm_group_id.iter().map(i64::to_string).collect(),
        QueryField::AsmGroupName => own(&mail.group_name),
        QueryField::ApiKeyId => row.key.iter().map(ToString::to_string).collect(),
        QueryField::Category => row.categories.clone(),
        QueryField::Events => {
            let names = mail.kinds().into_iter().map(event_name);
            names.map(str::to_owned).collect()
        }
        QueryField::UniqueArgs => {
            let args = copy.iter().flat_map(|copy| copy.args.all());
            args.flat_map(|(name, value)| [name.to_owned(), value.to_owned()])
                .collect()
        }
        QueryField::UniqueArg(name) => own(&copy.and_then(|copy| copy.args.get(name).cloned())),
        QueryField::OutboundIp => own(&copy.and_then(|copy| copy.outbound_ip.clone())),
        QueryField::Opens => vec![row.opens.to_string()],
        QueryField::Clicks => vec![row.clicks.to_string()],
        QueryField::AcceptedAt => vec![row.accepted_at.iso()],
        QueryField::LastEventTime => vec![row.last_event_at.iso()],
    }
}

/// The number in a field that has one.
fn number(field: &QueryField, mail: &FoundMail) -> Option<i64> {
    let row = &mail.row;
    match field {
        QueryField::Opens => Some(i64::from(row.opens)),
        QueryField::Clicks => Some(i64::from(row.clicks)),
        QueryField::AsmGroupId => row.asm_group_id,
        QueryField::AcceptedAt => Some(row.accepted_at.0),
        QueryField::LastEventTime => Some(row.last_event_at.0),
        _ => None,
    }
}

fn compare(field: &QueryField, how: Comparison, value: &QueryValue, mail: &FoundMail) -> bool {
    let wanted = match value {
        QueryValue::Number(wanted) | QueryValue::Time(Timestamp(wanted)) => *wanted,
        QueryValue::Text(text) => {
            // Both names of a mail find it.
            let request = *field == QueryField::MsgId && mail.row.message.as_str() == text;
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
    EmailAddress::parse_stored(text)
        .map_or_else(|_| text.to_lowercase(), |address| address.folded())
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
