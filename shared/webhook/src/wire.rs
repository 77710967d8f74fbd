//! An event as receivers read it (API facts 3.2 and 3.3).

use std::collections::BTreeMap;

use posthaste_model::{BounceType, Category, Event, Kind, Pool, UrlOffset};
use serde::Serialize;

/// A value of one field; `None`s never get this far.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    Owned(String),
    Number(i64),
    Flag(bool),
    Texts(&'a [String]),
    Pool(&'a Pool),
    Offset(&'a UrlOffset),
}

/// The fields of one event. A sorted map, because captured posts have their keys sorted.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Fields<'a>(BTreeMap<&'a str, Value<'a>>);

impl<'a> Fields<'a> {
    pub(crate) fn put(&mut self, name: &'a str, value: Value<'a>) {
        self.0.insert(name, value);
    }

    pub(crate) fn text(&mut self, name: &'a str, value: Option<&'a str>) {
        if let Some(text) = value {
            self.put(name, Value::Text(text));
        }
    }

    /// The JSON object on one line.
    pub(crate) fn into_json(self) -> String {
        serde_json::to_string(&self).expect("a map of texts and numbers always serialises")
    }
}

/// The JSON object of one event, on one line, with its keys sorted.
///
/// Custom arguments lie beside the event's own fields; where names meet, the event's field wins.
/// Which fields a kind has is decided here, not by what the record happens to hold.
pub fn event_json(event: &Event) -> String {
    let mut fields = Fields::default();
    if event.kind == Kind::AccountStatusChange {
        // About the account and not about a mail, so it has no recipient.
        fields.text("type", event.reason.as_deref());
        put_identity(&mut fields, event);
        return fields.into_json();
    }
    for (name, value) in &event.custom_args {
        fields.put(name, Value::Text(value));
    }
    fields.put("email", Value::Text(&event.email));
    if let Some(id) = event.sg_message_id() {
        fields.put("sg_message_id", Value::Owned(id));
    }
    put_identity(&mut fields, event);
    put_grouping(&mut fields, event);
    put_particulars(&mut fields, event);
    fields.into_json()
}

fn put_identity<'a>(fields: &mut Fields<'a>, event: &'a Event) {
    fields.put("event", Value::Text(event.kind.wire()));
    fields.put("sg_event_id", Value::Text(&event.id));
    fields.put("timestamp", Value::Number(event.at.0));
}

/// What ties events of one mail together: categories, group, template.
fn put_grouping<'a>(fields: &mut Fields<'a>, event: &'a Event) {
    match &event.category {
        Some(Category::One(name)) => fields.put("category", Value::Text(name)),
        Some(Category::Many(names)) if !names.is_empty() => {
            fields.put("category", Value::Texts(names));
        }
        Some(Category::Many(_)) | None => {}
    }
    if let Some(group) = event.asm_group_id {
        fields.put("asm_group_id", Value::Number(group));
    }
    fields.text("sg_template_id", event.template_id.as_deref());
    fields.text("template_id", event.template_id.as_deref());
}

/// The fields that one kind has and another has not.
fn put_particulars<'a>(fields: &mut Fields<'a>, event: &'a Event) {
    match event.kind {
        Kind::Processed => {
            put_smtp_id(fields, event);
            if let Some(pool) = &event.pool {
                fields.put("pool", Value::Pool(pool));
            }
            let send_at = event.send_at.map_or(0, |at| at.0);
            fields.put("send_at", Value::Number(send_at));
        }
        Kind::Dropped => {
            put_smtp_id(fields, event);
            fields.text("reason", event.reason.as_deref());
            fields.text("status", event.status.as_deref());
        }
        Kind::Delivered => {
            put_smtp_id(fields, event);
            put_connection(fields, event);
            fields.text("response", event.response.as_deref());
        }
        Kind::Deferred => {
            put_smtp_id(fields, event);
            put_connection(fields, event);
            fields.text("response", event.response.as_deref());
            fields.text("reason", event.reason.as_deref());
            if let Some(attempt) = event.attempt {
                fields.put("attempt", Value::Owned(attempt.to_string()));
            }
        }
        Kind::Bounce => {
            put_smtp_id(fields, event);
            put_connection(fields, event);
            fields.text("reason", event.reason.as_deref());
            fields.text("status", event.status.as_deref());
            fields.text("type", event.bounce_type.map(bounce_type));
            let class = event.bounce_classification.as_deref();
            fields.text("bounce_classification", class);
        }
        Kind::Open => {
            put_visitor(fields, event);
            put_machine(fields, event.sg_machine_open);
            fields.text("sg_content_type", event.sg_content_type.as_deref());
        }
        Kind::Click => {
            put_visitor(fields, event);
            fields.text("url", event.url.as_deref());
            if let Some(offset) = &event.url_offset {
                fields.put("url_offset", Value::Offset(offset));
            }
            // Ours: the contract's clicks do not have it.
            put_machine(fields, event.sg_machine_open.filter(|machine| *machine));
        }
        Kind::GroupUnsubscribe | Kind::GroupResubscribe => {
            put_visitor(fields, event);
            fields.text("url", event.url.as_deref());
        }
        Kind::Unsubscribe => put_visitor(fields, event),
        Kind::SpamReport | Kind::AccountStatusChange => {}
    }
}

fn put_machine(fields: &mut Fields<'_>, machine: Option<bool>) {
    if let Some(machine) = machine {
        fields.put("sg_machine_open", Value::Flag(machine));
    }
}

fn put_smtp_id<'a>(fields: &mut Fields<'a>, event: &'a Event) {
    if let Some(id) = &event.smtp_id {
        fields.put("smtp-id", Value::Owned(format!("<{id}>")));
    }
}

/// The server that answered, and whether the way there was encrypted.
fn put_connection<'a>(fields: &mut Fields<'a>, event: &'a Event) {
    fields.text("ip", event.ip.as_deref());
    if let Some(tls) = event.tls {
        fields.put("tls", Value::Number(tls.into()));
    }
}

/// The person (or machine) that opened, clicked or left.
fn put_visitor<'a>(fields: &mut Fields<'a>, event: &'a Event) {
    fields.text("ip", event.ip.as_deref());
    fields.text("useragent", event.useragent.as_deref());
}

fn bounce_type(kind: BounceType) -> &'static str {
    match kind {
        BounceType::Bounce => "bounce",
        BounceType::Blocked => "blocked",
        BounceType::Expired => "expired",
    }
}

#[cfg(test)]
mod tests;
