//! Expressions of DynamoDB: a condition, a filter, an update.
//!
//! DynamoDB wants an expression in three lists that must agree: a text with placeholders, what each
//! `#name` stands for, and what each `:value` is. Here a `#name` in a text is the attribute of that
//! name, so the list of names follows from the text.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::Timestamp;

use super::item::number;

/// What a request calls a list of placeholders; `None` where it would be empty, which is refused.
type Placeholders<T> = Option<HashMap<String, T>>;

/// A condition or a filter with its values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expression {
    text: String,
    values: HashMap<String, AttributeValue>,
}

impl Expression {
    /// The expression `text`, in which `:name` is the value of that name.
    pub(crate) fn new<const N: usize>(
        text: impl Into<String>,
        values: [(&str, AttributeValue); N],
    ) -> Self {
        let values = values.into_iter();
        Self {
            text: text.into(),
            values: values.map(|(name, v)| (format!(":{name}"), v)).collect(),
        }
    }

    /// There is no such row, or its time is over at `now`.
    pub(super) fn absent(now: Timestamp) -> Self {
        let text = "attribute_not_exists(pk) OR #exp <= :now";
        Self::new(text, [("now", number(now.0))])
    }

    /// There is such a row.
    pub(super) fn exists() -> Self {
        Self::new("attribute_exists(pk)", [])
    }

    /// The row has still the revision that was read.
    pub(super) fn unchanged(rev: u64) -> Self {
        Self::new("#rev = :rev", [("rev", number(rev))])
    }

    pub(crate) fn text(&self) -> Option<String> {
        Some(self.text.clone()).filter(|text| !text.is_empty())
    }

    pub(crate) fn names(&self) -> Placeholders<String> {
        names_of([self.text.as_str()])
    }

    pub(crate) fn values(&self) -> Placeholders<AttributeValue> {
        Some(self.values.clone()).filter(|values| !values.is_empty())
    }
}

/// The attributes that these texts name.
pub(crate) fn names_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Placeholders<String> {
    let names = texts.into_iter().flat_map(|text| text.split('#').skip(1));
    let names = names.map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
        (format!("#{name}"), name.to_owned())
    });
    let names: HashMap<_, _> = names.collect();
    Some(names).filter(|names| !names.is_empty())
}

/// An update of one row, built attribute by attribute: the value of the attribute `n` is `:n`, also
/// in the condition.
///
/// ```ignore
/// UpdateBuilder::default()
///     .set("last_at", number(now))
///     .set_once("first_at", number(now))
///     .add("count", 1)
///     .remove("lease")
///     .condition("#state = :open", [("open", text("open"))])
/// ```
#[derive(Clone, Debug, Default)]
pub(crate) struct UpdateBuilder {
    sets: Vec<String>,
    adds: Vec<String>,
    removes: Vec<String>,
    condition: Expression,
    values: HashMap<String, AttributeValue>,
}

impl UpdateBuilder {
    /// The attribute becomes this value.
    pub(crate) fn set(self, name: &str, value: AttributeValue) -> Self {
        self.set_to(name, &format!(":{name}"), value)
    }

    /// The attribute becomes this value unless the row has it already.
    pub(crate) fn set_once(self, name: &str, value: AttributeValue) -> Self {
        self.set_to(name, &format!("if_not_exists(#{name}, :{name})"), value)
    }

    /// The attribute becomes what `by` says, in which `:name` is this value.
    pub(crate) fn set_to(mut self, name: &str, by: &str, value: AttributeValue) -> Self {
        self.sets.push(format!("#{name} = {by}"));
        self.bind(name, value)
    }

    /// The items of a list are added to the list in the row, which may have none.
    pub(crate) fn append(self, name: &str, list: AttributeValue) -> Self {
        let by = format!("list_append(if_not_exists(#{name}, :none), :{name})");
        let none = AttributeValue::L(Vec::new());
        self.set_to(name, &by, list).bind("none", none)
    }

    /// The number is added to the one in the row, where none is 0.
    pub(crate) fn add(self, name: &str, by: i64) -> Self {
        self.add_to(name, number(by))
    }

    /// A number, or the members of a set, are added to what the row has.
    pub(crate) fn add_to(mut self, name: &str, value: AttributeValue) -> Self {
        self.adds.push(format!("#{name} :{name}"));
        self.bind(name, value)
    }

    /// The row has no such attributes any more.
    pub(crate) fn remove<const N: usize>(mut self, names: [&str; N]) -> Self {
        self.removes.extend(names.map(|name| format!("#{name}")));
        self
    }

    /// Only while this holds, with values beside those of the attributes.
    pub(crate) fn condition<const N: usize>(
        self,
        text: impl Into<String>,
        values: [(&str, AttributeValue); N],
    ) -> Self {
        self.only_if(Expression::new(text, values))
    }

    pub(super) fn only_if(self, condition: Expression) -> Self {
        Self { condition, ..self }
    }

    fn bind(mut self, name: &str, value: AttributeValue) -> Self {
        self.values.insert(format!(":{name}"), value);
        self
    }

    /// The text of the update.
    pub(super) fn text(&self) -> String {
        let parts = [
            ("SET", &self.sets),
            ("ADD", &self.adds),
            ("REMOVE", &self.removes),
        ];
        let parts = parts.into_iter().filter(|(_, some)| !some.is_empty());
        let parts = parts.map(|(verb, some)| format!("{verb} {}", some.join(", ")));
        parts.collect::<Vec<_>>().join(" ")
    }

    pub(super) fn condition_text(&self) -> Option<String> {
        self.condition.text()
    }

    pub(super) fn names(&self) -> Placeholders<String> {
        names_of([self.text().as_str(), &self.condition.text])
    }

    pub(super) fn values(&self) -> Placeholders<AttributeValue> {
        let mut values = self.values.clone();
        values.extend(self.condition.values.clone());
        Some(values).filter(|values| !values.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::text;
    use super::*;

    #[test]
    fn an_update_says_what_was_asked_and_names_what_it_says() {
        let update = UpdateBuilder::default()
            .set("last_at", number(5))
            .set_once("first_at", number(5))
            .append("events", AttributeValue::L(vec![text("e")]))
            .add("count", -1)
            .remove(["lease", "owner"])
            .condition(
                "attribute_exists(pk) AND (#state=:open OR #count < :count)",
                [("open", text("open"))],
            );
        assert_eq!(
            update.text(),
            "SET #last_at = :last_at, #first_at = if_not_exists(#first_at, :first_at), \
             #events = list_append(if_not_exists(#events, :none), :events) \
             ADD #count :count REMOVE #lease, #owner"
        );
        let names = update.names().unwrap();
        let mut named: Vec<_> = names.values().map(String::as_str).collect();
        named.sort_unstable();
        let want = [
            "count", "events", "first_at", "last_at", "lease", "owner", "state",
        ];
        assert_eq!(named, want);
        assert_eq!(names.get("#state").map(String::as_str), Some("state"));
        let values = update.values().unwrap();
        assert_eq!(values.get(":count"), Some(&number(-1)));
        assert_eq!(values.len(), 6);
    }

    #[test]
    fn what_would_be_empty_is_left_out() {
        let exists = Expression::exists();
        assert_eq!(exists.text().as_deref(), Some("attribute_exists(pk)"));
        assert_eq!((exists.names(), exists.values()), (None, None));
        let remove = UpdateBuilder::default().remove(["lease"]);
        assert_eq!(remove.text(), "REMOVE #lease");
        assert_eq!((remove.condition_text(), remove.values()), (None, None));
    }
}
