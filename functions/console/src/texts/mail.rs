//! Of the page of one mail.

pub(crate) const NO_SUBJECT: &str = "(no subject)";
pub(crate) const NO_NAME: &str = "without a name";

/// What is known of the mail.
pub(crate) const TO: &str = "To";
pub(crate) const FROM: &str = "From";
pub(crate) const KEY: &str = "Key";
pub(crate) const CLIENT: &str = "Client";
pub(crate) const TEMPLATE: &str = "Template";
pub(crate) const CATEGORIES: &str = "Categories";
pub(crate) const GROUP: &str = "Group";
pub(crate) const LEFT_FROM: &str = "Left from";

/// What is said of a moment; a number or an address follows.
pub(crate) const ATTEMPT: &str = "attempt ";
pub(crate) const STATUS: &str = "status ";
pub(crate) const BY: &str = "by ";
pub(crate) const ENCRYPTED: &str = "encrypted";
pub(crate) const ACCEPTED: &str = "Accepted";

/// What asked for the mail, by the name of the key or else by its id; without both it is the service.
pub(crate) fn by(key: Option<&str>, id: &str) -> String {
    match key {
        Some(name) => format!("POST /v3/mail/send with the key “{name}”"),
        None if id.is_empty() => "The service wrote it itself".to_owned(),
        None => format!("POST /v3/mail/send with the key {id}"),
    }
}

/// The address of what asked for it.
pub(crate) fn from(ip: &str) -> String {
    format!("from {ip}")
}

/// A post of these kinds of events.
pub(crate) fn posted(kinds: &[String]) -> String {
    format!("Posted to a webhook: {}", kinds.join(", "))
}

/// What a webhook answered.
pub(crate) fn answered(status: u16) -> String {
    format!("answered {status}")
}

/// The number of an attempt.
pub(crate) fn attempt(number: u32) -> String {
    format!("{ATTEMPT}{number}")
}

/// An event by the API's words, its kind among them, and the class of its line: `good`, `warn`, `bad`, or none.
pub(crate) fn event<'a>(name: &'a str, kind: Option<&str>) -> (&'a str, &'static str) {
    match (name, kind) {
        ("processed", _) => ("Rendered and queued for the relay", "good"),
        ("delivered", _) => ("Delivered", "good"),
        ("deferred", _) => ("Deferred", "warn"),
        ("bounce", Some("blocked")) => ("Blocked", "warn"),
        ("bounce", _) => ("Bounced", "bad"),
        ("dropped", _) => ("Dropped", "bad"),
        ("open", _) => ("Opened", "good"),
        ("click", _) => ("Clicked", "good"),
        ("spamreport", _) => ("Reported as spam", "bad"),
        ("unsubscribe", _) => ("Unsubscribed", "warn"),
        ("group_unsubscribe", _) => ("Left a group", "warn"),
        ("group_resubscribe", _) => ("Came back to a group", "good"),
        (other, _) => (other, ""),
    }
}
