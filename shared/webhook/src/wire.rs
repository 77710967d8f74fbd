//! An event as receivers read it (API facts 3.2 and 3.3).

use std::collections::BTreeMap;

use posthaste_model::{BounceType, Category, Event, EventKind, Pool, UrlOffset};
use serde::Serialize;

/// The value of one field; `None`s are omitted earlier.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum FieldValue<'a> {
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
pub(crate) struct EventFields<'a>(BTreeMap<&'a str, FieldValue<'a>>);

impl<'a> EventFields<'a> {
    pub(crate) fn put(&mut self, name: &'a str, value: FieldValue<'a>) {
        self.0.insert(name, value);
    }

    pub(crate) fn text(&mut self, name: &'a str, value: Option<&'a str>) {
        if let Some(text) = value {
            self.put(name, FieldValue::Text(text));
        }
    }

    /// The JSON object on one line.
    pub(crate) fn into_json(self) -> String {
        serde_json::to_string(&self).expect("a map of texts and numbers always serialises")
    }
}

/// The JSON object of one event, on one line, with its keys sorted.
///
/// Custom arguments appear beside the event's own fields; on a conflict the event's field wins. The
/// kind alone decides which fields are present, not the contents of the record.
pub fn event_json(event: &Event) -> String {
    let mut fields = EventFields::default();
    if event.kind == EventKind::AccountStatusChange {
        // It concerns the account and not a mail, so it has no recipient.
        fields.text("type", event.reason.as_deref());
        put_identity(&mut fields, event);
        return fields.into_json();
    }
    for (name, value) in &event.custom_args {
        fields.put(name, FieldValue::Text(value));
    }
    fields.put("email", FieldValue::Text(&event.email));
    if let Some(id) = event.sg_message_id() {
        fields.put("sg_message_id", FieldValue::Owned(id));
    }
    put_identity(&mut fields, event);
    put_grouping(&mut fields, event);
    put_particulars(&mut fields, event);
    fields.into_json()
}

fn put_identity<'a>(fields: &mut EventFields<'a>, event: &'a Event) {
    fields.put("event", FieldValue::Text(event.kind.wire()));
    fields.put("sg_event_id", FieldValue::Text(&event.id));
    fields.put("timestamp", FieldValue::Number(event.at.0));
}

/// The fields that events of one mail share: categories, group, template.
fn put_grouping<'a>(fields: &mut EventFields<'a>, event: &'a Event) {
    match &event.category {
        Some(Category::One(name)) => fields.put("category", FieldValue::Text(name)),
        Some(Category::Many(names)) if !names.is_empty() => {
            fields.put("category", FieldValue::Texts(names));
        }
        Some(Category::Many(_)) | None => {}
    }
    if let Some(group) = event.asm_group_id {
        fields.put("asm_group_id", FieldValue::Number(group));
    }
    fields.text("sg_template_id", event.template_id.as_deref());
    fields.text("template_id", event.template_id.as_deref());
}

/// The fields specific to one kind.
fn put_particulars<'a>(fields: &mut EventFields<'a>, event: &'a Event) {
    match event.kind {
        EventKind::Processed => {
            put_smtp_id(fields, event);
            if let Some(pool) = &event.pool {
                fields.put("pool", FieldValue::Pool(pool));
            }
            let send_at = event.send_at.map_or(0, |at| at.0);
            fields.put("send_at", FieldValue::Number(send_at));
        }
        EventKind::Dropped => {
            put_smtp_id(fields, event);
            fields.text("reason", event.reason.as_deref());
            fields.text("status", event.status.as_deref());
        }
        EventKind::Delivered => {
            put_smtp_id(fields, event);
            put_connection(fields, event);
            fields.text("response", event.response.as_deref());
        }
        EventKind::Deferred => {
            put_smtp_id(fields, event);
            put_connection(fields, event);
            fields.text("response", event.response.as_deref());
            fields.text("reason", event.reason.as_deref());
            if let Some(attempt) = event.attempt {
                fields.put("attempt", FieldValue::Owned(attempt.to_string()));
            }
        }
        EventKind::Bounce => {
            put_smtp_id(fields, event);
            put_connection(fields, event);
            fields.text("reason", event.reason.as_deref());
            fields.text("status", event.status.as_deref());
            fields.text("type", event.bounce_type.map(bounce_type));
            let class = event.bounce_classification.as_deref();
            fields.text("bounce_classification", class);
        }
        EventKind::Open => {
            put_visitor(fields, event);
            put_machine(fields, event.sg_machine_open);
            fields.text("sg_content_type", event.sg_content_type.as_deref());
        }
        EventKind::Click => {
            put_visitor(fields, event);
            fields.text("url", event.url.as_deref());
            if let Some(offset) = &event.url_offset {
                fields.put("url_offset", FieldValue::Offset(offset));
            }
            // An addition: clicks in the v3 API do not have it.
            put_machine(fields, event.sg_machine_open.filter(|machine| *machine));
        }
        EventKind::GroupUnsubscribe | EventKind::GroupResubscribe => {
            put_visitor(fields, event);
            fields.text("url", event.url.as_deref());
        }
        EventKind::Unsubscribe => put_visitor(fields, event),
        EventKind::SpamReport | EventKind::AccountStatusChange => {}
    }
}

fn put_machine(fields: &mut EventFields<'_>, machine: Option<bool>) {
    if let Some(machine) = machine {
        fields.put("sg_machine_open", FieldValue::Flag(machine));
    }
}

fn put_smtp_id<'a>(fields: &mut EventFields<'a>, event: &'a Event) {
    if let Some(id) = &event.smtp_id {
        fields.put("smtp-id", FieldValue::Owned(format!("<{id}>")));
    }
}

/// The server that answered, and whether the connection was encrypted.
fn put_connection<'a>(fields: &mut EventFields<'a>, event: &'a Event) {
    fields.text("ip", event.ip.as_deref());
    if let Some(tls) = event.tls {
        fields.put("tls", FieldValue::Number(tls.into()));
    }
}

/// The person (or machine) that opened, clicked or left.
fn put_visitor<'a>(fields: &mut EventFields<'a>, event: &'a Event) {
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
