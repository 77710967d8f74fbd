//! The `X-SMTPAPI` header: a JSON object that carries, for a mail submitted by SMTP, the options of
//! a mail/send request body (SPEC, "Errors" and "Events"; the public documentation of the header).
//!
//! Pure, and lenient where clients differ: numbers and booleans may be strings, and a list of one
//! may be its item. The rest is validated at once: a header that cannot be read or is invalid drops
//! the whole mail with the reason [`DropReason::InvalidSmtpapiHeader`].

mod filters;
mod people;
mod value;

use std::collections::BTreeMap;

use posthaste_model::{
    Asm, BatchId, DropReason, EmailAddress, MailSettings, Mailbox, Personalization, Timestamp,
    TrackingSettings, due,
};
use serde_json::{Map, Value};

pub use people::mailbox;

/// Octets of one header: 10,000 recipients with 200 octets each. This limit and the next are local:
/// a header is read into memory whole, and a few of them must not fill it.
pub const LONGEST_HEADER: usize = 2 * 1024 * 1024;

/// Octets of a header expanded for all its recipients: shared substitutions are copied into each of
/// them.
pub const MOST_COPIED: usize = 8 * 1024 * 1024;

/// Recipients of one header.
pub const MOST_RECIPIENTS: usize = 10_000;

const MOST_CATEGORIES: usize = 10;
/// Of one category, in characters (SPEC, "Limits").
const LONGEST_CATEGORY: usize = 255;
const MOST_GROUPS: usize = 25;
/// Of one recipient's substitutions, and of the unique arguments (SPEC, "Limits").
pub const MOST_BYTES: usize = 10_000;
const MOST_REPLY_TO: usize = 1_000;
/// Of the name of a pool, in characters (SPEC, "POST /v3/mail/send").
const POOL: std::ops::RangeInclusive<usize> = 2..=64;

type HeaderTexts = BTreeMap<String, String>;

/// Why a header cannot be read: for the log; the sender sees [`Invalid::REASON`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(String);

impl Invalid {
    /// The reason with which every copy of the mail is dropped.
    pub const REASON: DropReason = DropReason::InvalidSmtpapiHeader;
}

fn invalid<T>(why: impl Into<String>) -> Result<T, Invalid> {
    Err(Invalid(why.into()))
}

/// The limits a header is validated against.
#[derive(Clone, Copy, Debug)]
pub struct HeaderContext {
    /// Recipients of the envelope, for a header that names none.
    pub recipients: usize,
    pub now: Timestamp,
    /// How far ahead a send may be scheduled, in seconds.
    pub horizon: i64,
}

/// The options in the header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// The recipients that replace those of the envelope; empty when the header names none.
    pub to: Vec<Mailbox>,
    /// Tags with one value for each recipient.
    pub substitutions: BTreeMap<String, Values>,
    pub sections: HeaderTexts,
    pub categories: Vec<String>,
    /// Whether the header names its category as a text, not as a list of one.
    pub single_category: bool,
    pub unique_args: HeaderTexts,
    pub mail_settings: MailSettings,
    pub tracking_settings: TrackingSettings,
    pub template_id: Option<String>,
    pub send_at: Option<Timestamp>,
    /// One for each recipient, or none.
    pub send_each_at: Vec<Option<Timestamp>>,
    pub asm: Option<Asm>,
    pub batch_id: Option<BatchId>,
    pub ip_pool: Option<String>,
    /// The valid ones of `reply_to_list`, each once.
    pub reply_to: Vec<Mailbox>,
}

/// The value of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// The same for all recipients.
    One(String),
    Each(Vec<String>),
}

impl Values {
    fn of(&self, recipient: usize) -> Option<&str> {
        match self {
            Self::One(value) => Some(value),
            Self::Each(values) => values.get(recipient).map(String::as_str),
        }
    }
}

/// Reads a header's value; the error is the first one found.
pub fn read(text: &str, context: &HeaderContext) -> Result<Instructions, Invalid> {
    if text.len() > LONGEST_HEADER {
        return invalid(format!("the header has more than {LONGEST_HEADER} octets"));
    }
    let header: Map<String, Value> = match serde_json::from_str(text) {
        Ok(Value::Object(header)) => header,
        Ok(_) => return invalid("the header is no JSON object"),
        Err(error) => return invalid(format!("the header is no JSON: {error}")),
    };
    let get = |name: &str| header.get(name).filter(|value| !value.is_null());
    let to = people::to(get("to"))?;
    let count = if to.is_empty() {
        context.recipients
    } else {
        to.len()
    };
    let instructions = Instructions {
        substitutions: substitutions(get("sub"), count)?,
        sections: sections(get("section"))?,
        categories: categories(get("category"))?,
        single_category: get("category").is_some_and(|given| !given.is_array()),
        unique_args: unique_args(get("unique_args"))?,
        send_at: get("send_at").map_or(Ok(None), |at| moment(at, context))?,
        send_each_at: send_each_at(get("send_each_at"), count, context)?,
        asm: asm(get("asm_group_id"), get("asm_groups_to_display"))?,
        batch_id: batch_id(get("batch_id"))?,
        ip_pool: ip_pool(get("ip_pool"))?,
        reply_to: people::reply_to(get("reply_to_list"), MOST_REPLY_TO)?,
        to,
        ..filters::read(get("filters"))?
    };
    if instructions.send_at.is_some() && !instructions.send_each_at.is_empty() {
        return invalid("send_at and send_each_at exclude each other");
    }
    Ok(instructions)
}

impl Instructions {
    /// One envelope for each recipient: those of the header, or else of the SMTP envelope.
    pub fn personalizations(&self, envelope: &[EmailAddress]) -> Vec<Personalization> {
        let plain = |email: &EmailAddress| Mailbox {
            email: email.clone(),
            name: None,
        };
        let to: Vec<Mailbox> = if self.to.is_empty() {
            envelope.iter().map(plain).collect()
        } else {
            self.to.clone()
        };
        let each = |(at, mailbox)| Personalization {
            to: vec![mailbox],
            cc: Vec::new(),
            bcc: Vec::new(),
            from: None,
            subject: None,
            headers: HeaderTexts::new(),
            substitutions: self.substitutions_of(at),
            dynamic_template_data: None,
            custom_args: HeaderTexts::new(),
            send_at: self.send_each_at.get(at).copied().flatten(),
        };
        to.into_iter().enumerate().map(each).collect()
    }

    fn substitutions_of(&self, recipient: usize) -> HeaderTexts {
        let tags = self.substitutions.iter();
        tags.filter_map(|(tag, values)| Some((tag.clone(), values.of(recipient)?.to_owned())))
            .collect()
    }
}

fn size<'a>(texts: impl Iterator<Item = (&'a str, &'a str)>) -> usize {
    texts.map(|(key, value)| key.len() + value.len()).sum()
}

/// `{"%name%": ["Ben", "Joe"]}`: as many values as recipients.
fn substitutions(given: Option<&Value>, count: usize) -> Result<BTreeMap<String, Values>, Invalid> {
    let mut all = BTreeMap::new();
    for (tag, values) in value::object("sub", given)?.into_iter().flatten() {
        let values = match values {
            Value::Array(values) => Values::Each(value::strings("sub", values)?),
            one => Values::One(value::string("sub", one)?),
        };
        if let Values::Each(values) = &values
            && values.len() != count
        {
            return invalid(format!(
                "sub: {} values for {count} recipients",
                values.len()
            ));
        }
        all.insert(tag.clone(), values);
    }
    let mut copied = 0;
    for recipient in 0..count {
        let own = all.iter();
        let own = own.filter_map(|(tag, values): (&String, &Values)| {
            Some((tag.as_str(), values.of(recipient)?))
        });
        let size = size(own);
        if size > MOST_BYTES {
            return invalid(format!("sub: more than {MOST_BYTES} bytes for a recipient"));
        }
        copied += size;
        if copied > MOST_COPIED {
            return invalid(format!(
                "sub: more than {MOST_COPIED} bytes for all recipients together"
            ));
        }
    }
    Ok(all)
}

fn categories(given: Option<&Value>) -> Result<Vec<String>, Invalid> {
    let mut all: Vec<String> = Vec::new();
    for category in value::one_or_many("category", given)? {
        if category.chars().count() > LONGEST_CATEGORY {
            return invalid(format!("category: more than {LONGEST_CATEGORY} characters"));
        }
        if !category.is_empty() && !all.contains(&category) {
            all.push(category);
        }
        if all.len() > MOST_CATEGORIES {
            return invalid(format!("category: more than {MOST_CATEGORIES}"));
        }
    }
    Ok(all)
}

/// An object of texts; an object in it holds sections of its own, as clients write them in
/// mail/send.
fn sections(given: Option<&Value>) -> Result<HeaderTexts, Invalid> {
    let mut all = HeaderTexts::new();
    for (tag, value) in value::object("section", given)?.into_iter().flatten() {
        match value {
            Value::Object(_) => all.extend(value::texts("section", Some(value))?),
            one => all.extend([(tag.clone(), value::text(one))]),
        }
    }
    Ok(all)
}

fn unique_args(given: Option<&Value>) -> Result<HeaderTexts, Invalid> {
    let args = value::texts("unique_args", given)?;
    if size(args.iter().map(|(k, v)| (k.as_str(), v.as_str()))) > MOST_BYTES {
        return invalid(format!("unique_args: more than {MOST_BYTES} bytes"));
    }
    Ok(args)
}

/// A time in the past is valid, and an empty text is none. Any other text is refused, a number in
/// quotes too: sent at once, the mail could not be called back.
fn moment(given: &Value, context: &HeaderContext) -> Result<Option<Timestamp>, Invalid> {
    if given.as_str().is_some_and(str::is_empty) {
        return Ok(None);
    }
    let Some(at) = given.as_i64().map(Timestamp) else {
        return invalid("a time is a number of seconds");
    };
    match due(Some(at), context.now, context.horizon) {
        Ok(_) => Ok(Some(at)),
        Err(error) => invalid(error.to_string()),
    }
}

fn send_each_at(
    given: Option<&Value>,
    count: usize,
    context: &HeaderContext,
) -> Result<Vec<Option<Timestamp>>, Invalid> {
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    let Value::Array(given) = given else {
        return invalid("send_each_at is a list");
    };
    if given.len() != count {
        return invalid(format!(
            "send_each_at: {} times for {count} recipients",
            given.len()
        ));
    }
    given.iter().map(|at| moment(at, context)).collect()
}

fn asm(group: Option<&Value>, shown: Option<&Value>) -> Result<Option<Asm>, Invalid> {
    let shown = match shown {
        None => Vec::new(),
        Some(Value::Array(shown)) => shown
            .iter()
            .map(|id| value::integer("asm_groups_to_display", id))
            .collect::<Result<_, _>>()?,
        Some(_) => return invalid("asm_groups_to_display is a list"),
    };
    if shown.len() > MOST_GROUPS {
        return invalid(format!("asm_groups_to_display: more than {MOST_GROUPS}"));
    }
    match group {
        None if shown.is_empty() => Ok(None),
        None => invalid("asm_groups_to_display without asm_group_id"),
        Some(group) => Ok(Some(Asm {
            group_id: value::integer("asm_group_id", group)?,
            groups_to_display: shown,
        })),
    }
}

fn batch_id(given: Option<&Value>) -> Result<Option<BatchId>, Invalid> {
    let text = given.map_or(Ok(String::new()), |id| value::string("batch_id", id))?;
    if text.is_empty() {
        return Ok(None);
    }
    match BatchId::parse(&text) {
        Ok(id) => Ok(Some(id)),
        Err(_) => invalid("batch_id is no batch id"),
    }
}

fn ip_pool(given: Option<&Value>) -> Result<Option<String>, Invalid> {
    let name = given.map_or(Ok(String::new()), |name| value::string("ip_pool", name))?;
    if name.is_empty() {
        return Ok(None);
    }
    if !POOL.contains(&name.chars().count()) {
        let (least, most) = (POOL.start(), POOL.end());
        return invalid(format!("ip_pool: from {least} to {most} characters"));
    }
    Ok(Some(name))
}

#[cfg(test)]
mod tests;
