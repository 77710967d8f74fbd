//! A validated send: what mail/send accepted, before it is split into copies.
//!
//! This is the form on the queue, so fields are only ever added, with a default.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Asm, BatchId, EmailAddress, Footer, MailSettings, Mailbox, Submitted, Timestamp,
    TrackingSettings,
};

type Map = BTreeMap<String, String>;

/// One accepted request to mail/send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    pub from: Mailbox,
    /// `reply_to`, or all of `reply_to_list`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reply_to: Vec<Mailbox>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Content>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_id: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub headers: Map,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub custom_args: Map,
    /// Deprecated section tags, reached through substitution values.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub sections: Map,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_id: Option<BatchId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asm: Option<Asm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_pool_name: Option<String>,
    #[serde(default, skip_serializing_if = "MailSettings::is_default")]
    pub mail_settings: MailSettings,
    #[serde(default, skip_serializing_if = "TrackingSettings::is_default")]
    pub tracking_settings: TrackingSettings,
    pub personalizations: Vec<Personalization>,
    /// Whether the service itself wrote it ([`Mail::notice`]); API callers cannot set it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub notice: bool,
    /// The message as received by SMTP, in place of contents and attachments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitted: Option<Submitted>,
}

/// One envelope: the recipients of one message, and what differs for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Personalization {
    pub to: Vec<Mailbox>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cc: Vec<Mailbox>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bcc: Vec<Mailbox>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Mailbox>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub headers: Map,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub substitutions: Map,
    /// The JSON object for a dynamic template, as its text: only the renderer reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_template_data: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub custom_args: Map,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_at: Option<Timestamp>,
}

/// One body part: `text/plain`, `text/html`, `text/calendar; method=REQUEST`, ….
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    #[serde(rename = "type")]
    pub mime_type: String,
    pub value: String,
}

/// One attached file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Standard base64, without white space.
    pub content: String,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    pub filename: String,
    #[serde(default)]
    pub disposition: Disposition,
    /// Without angle brackets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_id: Option<String>,
}

/// How a mail program shows an attachment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Disposition {
    #[default]
    Attachment,
    Inline,
}

/// The header field of a recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    To,
    Cc,
    Bcc,
}

/// One recipient's copy of a mail: one claim, one hand-over, one stream of events.
#[derive(Clone, Copy, Debug)]
pub struct RecipientCopy<'a> {
    /// Position within the whole request, counted over to, cc, bcc of each personalization in turn.
    pub recipient: u32,
    pub role: Role,
    pub mailbox: &'a Mailbox,
    /// Position of the personalization within the request.
    pub envelope: u32,
    pub personalization: &'a Personalization,
}

/// Recipients `from..to` of a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub from: u32,
    pub to: u32,
}

impl Span {
    /// Whether the recipient is in the range.
    pub fn holds(self, recipient: u32) -> bool {
        (self.from..self.to).contains(&recipient)
    }
}

impl Personalization {
    /// All recipients, in the order of [`RecipientCopy::recipient`].
    pub fn recipients(&self) -> impl Iterator<Item = (Role, &Mailbox)> {
        let to = self.to.iter().map(|m| (Role::To, m));
        let cc = self.cc.iter().map(|m| (Role::Cc, m));
        let bcc = self.bcc.iter().map(|m| (Role::Bcc, m));
        to.chain(cc).chain(bcc)
    }

    /// How many recipients this envelope has.
    pub fn count(&self) -> usize {
        self.to.len() + self.cc.len() + self.bcc.len()
    }
}

impl Personalization {
    /// One recipient, for whom nothing differs.
    pub fn to(mailbox: Mailbox) -> Self {
        Self {
            to: vec![mailbox],
            cc: Vec::new(),
            bcc: Vec::new(),
            from: None,
            subject: None,
            headers: [].into(),
            substitutions: [].into(),
            dynamic_template_data: None,
            custom_args: [].into(),
            send_at: None,
        }
    }
}

impl Mail {
    /// A text from the service to one address, without tracking or additions; the suppression lists
    /// of the account apply as to any other mail. It is marked as auto-generated, so that no
    /// absence notice answers it (RFC 3834, section 5).
    pub fn notice(from: EmailAddress, to: EmailAddress, subject: &str, text: String) -> Self {
        let mailbox = |email| Mailbox { email, name: None };
        Self {
            from: mailbox(from),
            reply_to: Vec::new(),
            subject: Some(subject.to_owned()),
            content: vec![Content {
                mime_type: "text/plain".to_owned(),
                value: text,
            }],
            attachments: Vec::new(),
            template_id: None,
            headers: [("Auto-Submitted".to_owned(), "auto-generated".to_owned())].into(),
            categories: Vec::new(),
            custom_args: [].into(),
            sections: [].into(),
            send_at: None,
            batch_id: None,
            asm: None,
            ip_pool_name: None,
            notice: true,
            submitted: None,
            mail_settings: MailSettings {
                footer: Some(Footer::default()),
                ..MailSettings::default()
            },
            tracking_settings: TrackingSettings::off(),
            personalizations: vec![Personalization::to(mailbox(to))],
        }
    }

    /// Every recipient's copy, in order.
    pub fn copies(&self) -> impl Iterator<Item = RecipientCopy<'_>> {
        (0_u32..)
            .zip(&self.personalizations)
            .flat_map(|(envelope, personalization)| {
                let each = move |(role, mailbox)| RecipientCopy {
                    recipient: 0,
                    role,
                    mailbox,
                    envelope,
                    personalization,
                };
                personalization.recipients().map(each)
            })
            .zip(0_u32..)
            .map(|(copy, recipient)| RecipientCopy { recipient, ..copy })
    }

    /// How many recipients the request has.
    pub fn count(&self) -> usize {
        self.personalizations
            .iter()
            .map(Personalization::count)
            .sum()
    }

    /// Whether the template is a dynamic one (SPEC: its id starts with `d-`).
    pub fn is_dynamic(&self) -> bool {
        self.template_id
            .as_deref()
            .is_some_and(|id| id.starts_with("d-"))
    }

    /// Custom arguments of one envelope: its own win over those of the message.
    pub fn merged_args(&self, p: &Personalization) -> Map {
        merged(&self.custom_args, &p.custom_args)
    }

    /// Headers of one envelope: its own win over those of the message, whatever their case.
    pub fn merged_headers(&self, p: &Personalization) -> Map {
        let mut all = self.headers.clone();
        all.retain(|name, _| !p.headers.keys().any(|own| own.eq_ignore_ascii_case(name)));
        all.extend(p.headers.clone());
        all
    }

    /// When one envelope leaves: its own `send_at` wins.
    pub fn send_at_of(&self, p: &Personalization) -> Option<Timestamp> {
        p.send_at.or(self.send_at)
    }

    /// The sender of one envelope.
    pub fn from_of<'a>(&'a self, p: &'a Personalization) -> &'a Mailbox {
        p.from.as_ref().unwrap_or(&self.from)
    }

    /// The subject of one envelope as it was sent, before anything is inserted into it; empty where
    /// a template brings its own.
    pub fn subject_of<'a>(&'a self, p: &'a Personalization) -> &'a str {
        let subject = p.subject.as_deref().or(self.subject.as_deref());
        subject.unwrap_or_default()
    }

    /// Every address the mail is sent from.
    pub fn senders(&self) -> impl Iterator<Item = &EmailAddress> {
        let own = self.personalizations.iter().filter_map(|p| p.from.as_ref());
        std::iter::once(&self.from).chain(own).map(|m| &m.email)
    }
}

fn merged(message: &Map, own: &Map) -> Map {
    let mut all = message.clone();
    all.extend(own.clone());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(json: &str) -> Mail {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn recipients_are_counted_over_all_envelopes() {
        let mail = mail(
            r#"{"from":{"email":"f@x.co"},"personalizations":[
              {"to":[{"email":"a@x.co"},{"email":"b@x.co"}],"bcc":[{"email":"c@x.co"}]},
              {"to":[{"email":"d@x.co"}],"cc":[{"email":"e@x.co"}]}]}"#,
        );
        let seen: Vec<_> = mail
            .copies()
            .map(|c| (c.recipient, c.role, c.mailbox.email.as_str().to_owned()))
            .collect();
        let want = [
            (Role::To, "a"),
            (Role::To, "b"),
            (Role::Bcc, "c"),
            (Role::To, "d"),
            (Role::Cc, "e"),
        ];
        let want: Vec<_> = want
            .iter()
            .zip(0..)
            .map(|((r, n), i)| (i, *r, format!("{n}@x.co")))
            .collect();
        assert_eq!(seen, want);
        assert_eq!(mail.count(), 5);
    }

    #[test]
    fn an_envelope_overrides_headers_whatever_their_case() {
        let mail = mail(
            r#"{"from":{"email":"f@x.co"},"headers":{"X-A":"1","X-B":"2"},"personalizations":[
              {"to":[{"email":"a@x.co"}],"headers":{"x-a":"3"}}]}"#,
        );
        let merged = mail.merged_headers(&mail.personalizations[0]);
        assert_eq!(
            merged,
            Map::from([("X-B".into(), "2".into()), ("x-a".into(), "3".into())])
        );
    }
}
