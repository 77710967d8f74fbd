//! The fields of the search, and the query of the API that they stand for.

use posthaste_model::{EmailAddress, MessageId, Timestamp};
use url::form_urlencoded;

use crate::visit::Params;

/// The fields; empty ones do not narrow the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Filters {
    /// An address, the id of a mail, or words of a subject.
    pub(super) q: String,
    pub(super) from: String,
    pub(super) status: String,
    pub(super) event: String,
    pub(super) category: String,
    pub(super) key: String,
    /// Hours before now.
    pub(super) since: String,
    /// A condition in the API's language.
    pub(super) query: String,
}

/// A text of the query language, in which a backslash escapes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Filters {
    pub(super) fn read(params: &Params) -> Self {
        let text = |name: &str| params.text(name).trim().to_owned();
        Self {
            q: text("q"),
            from: text("from"),
            status: text("status"),
            event: text("event"),
            category: text("category"),
            key: text("key"),
            since: text("since"),
            query: text("query"),
        }
    }

    /// The query of `GET /v3/messages`; empty without a condition.
    pub(super) fn query(&self, now: Timestamp) -> String {
        let mut conditions = Vec::new();
        let mut add = |value: &str, condition: String| {
            if !value.is_empty() {
                conditions.push(condition);
            }
        };
        add(&self.q, sought(&self.q));
        add(&self.from, format!("from_email={}", quoted(&self.from)));
        add(&self.status, format!("status={}", quoted(&self.status)));
        add(
            &self.event,
            format!("Contains(events,{})", quoted(&self.event)),
        );
        add(
            &self.category,
            format!("Contains(categories,{})", quoted(&self.category)),
        );
        add(&self.key, format!("api_key_id={}", quoted(&self.key)));
        if let Ok(hours) = self.since.parse::<u32>() {
            let since = now.plus(-i64::from(hours) * 3_600).iso();
            add(
                "since",
                format!("last_event_time>=TIMESTAMP {}", quoted(&since)),
            );
        }
        add(&self.query, format!("({})", self.query));
        conditions.join(" AND ")
    }

    /// The address of the page of the same search behind this place; the first one behind none.
    pub(super) fn page(&self, after: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let fields = [
            ("q", &self.q),
            ("from", &self.from),
            ("status", &self.status),
            ("event", &self.event),
            ("category", &self.category),
            ("key", &self.key),
            ("since", &self.since),
            ("query", &self.query),
        ];
        for (name, value) in fields {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        if !after.is_empty() {
            query.append_pair("after", after);
        }
        format!("/console/activity?{}", query.finish())
    }

    /// Whether anything narrows the search.
    pub(super) fn is_empty(&self) -> bool {
        self.query(Timestamp(0)).is_empty()
    }
}

/// What one field for everything looks for: an id and an address by what they are, a domain, or words of a subject.
fn sought(text: &str) -> String {
    let id = text.split('.').next().unwrap_or_default();
    if MessageId::parse(id).is_ok() {
        return format!("msg_id={}", quoted(text));
    }
    if EmailAddress::parse_stored(text).is_ok() {
        return format!("to_email={}", quoted(text));
    }
    let pattern = quoted(&format!("%{text}%"));
    let field = if text.contains('@') {
        "to_email"
    } else {
        "subject"
    };
    format!("{field} LIKE {pattern}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(fields: &str) -> String {
        Filters::read(&Params::read(fields)).query(Timestamp(1_800_000_000))
    }

    #[test]
    fn fields_are_conditions_of_the_api() {
        let id = "A".repeat(22);
        for (fields, want) in [
            ("", String::new()),
            ("q=ann@example.com", r#"to_email="ann@example.com""#.to_owned()),
            ("q=@example.com", r#"to_email LIKE "%@example.com%""#.to_owned()),
            ("q=big sale", r#"subject LIKE "%big sale%""#.to_owned()),
            (&format!("q={id}"), format!(r#"msg_id="{id}""#)),
            (
                &format!("q={id}.posthaste-0.3.0"),
                format!(r#"msg_id="{id}.posthaste-0.3.0""#),
            ),
            (
                "status=delivered&event=opened",
                r#"status="delivered" AND Contains(events,"opened")"#.to_owned(),
            ),
            (
                "since=24&key=k&category=a%22b%5C",
                r#"Contains(categories,"a\"b\\") AND api_key_id="k" AND last_event_time>=TIMESTAMP "2027-01-14T08:00:00Z""#
                    .to_owned(),
            ),
            ("since=x", String::new()),
            (
                "query=opens>2 OR clicks>1&from=a@b.example",
                r#"from_email="a@b.example" AND (opens>2 OR clicks>1)"#.to_owned(),
            ),
        ] {
            assert_eq!(query(fields), want, "{fields}");
        }
    }

    #[test]
    fn another_page_is_of_the_same_search() {
        let filters = Filters::read(&Params::read("q=a%26b&status=delivered&after=7"));
        let path = "/console/activity?q=a%26b&status=delivered";
        assert_eq!(filters.page(""), path);
        assert_eq!(filters.page("1#a#2"), format!("{path}&after=1%23a%232"));
    }
}
