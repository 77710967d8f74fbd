//! The JSON body of mail/send: every field optional, only types checked.
//!
//! Each struct is declared once and serves twice: as the target of one fast typed parse, and as a
//! [`Shape`] that names every wrong type when that parse fails. A repeated key overrides the
//! earlier one, unknown keys are ignored (API facts 2.5), `null` is a wrong type except for names.

mod data;
#[macro_use]
mod object;
mod shape;
mod value;

use posthaste_model::Problem;

use crate::errors::{ValidationErrors, bad_request};

pub(crate) use data::TemplateData;
use shape::wrong_types;
pub(crate) use shape::{Shape, Shaped};
pub(crate) use value::{ArgsValue, JsonList, Sections, TextValue};
use value::{Nullable, Strings};

/// Reads a body: one typed parse, and a walk that names the wrong types only when it fails. A
/// leading byte order mark is no error (RFC 8259, section 8.1, allows either).
///
/// # Errors
/// `Bad Request` without a field for what is not JSON or has another type inside an object of
/// strings; otherwise all wrong types together (API facts 2.4, stages 0 and 1).
pub(crate) fn decode(body: &[u8]) -> Result<Mail<'_>, Vec<Problem>> {
    let text = std::str::from_utf8(body).map_err(|_| vec![bad_request()])?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Ok(mail) = serde_json::from_str(text) {
        return Ok(mail);
    }
    let mut found = ValidationErrors::default();
    match wrong_types(text, Mail::SHAPE, &mut found) {
        Ok(()) if !found.is_empty() => Err(found.into_vec()),
        Ok(()) | Err(_) => Err(vec![bad_request()]),
    }
}

/// Items beyond a limit are counted and type-checked, but not stored, which bounds memory. Each
/// bound is one above the limit of its rule.
pub(crate) type Mailboxes<'a> = JsonList<Mailbox<'a>, 1_001>;
/// `to` is bounded by the limit of the whole request alone.
pub(crate) type Recipients<'a> = JsonList<Mailbox<'a>, 3_001>;
/// Substitutions and custom arguments: dropped as soon as they exceed 10,000 bytes.
pub(crate) type SmallStrings = Strings<10_000>;
/// Headers: dropped as soon as they exceed 100,000 bytes.
pub(crate) type Headers = Strings<100_000>;

object! {
    /// The whole request.
    Mail<'a> {
        personalizations: JsonList<Personalization<'a>, 1_001>,
        from: Mailbox<'a>,
        reply_to: Mailbox<'a>,
        reply_to_list: Mailboxes<'a>,
        subject: TextValue<'a>,
        content: JsonList<Content<'a>, 101>,
        attachments: JsonList<Attachment<'a>, 1_001>,
        template_id: TextValue<'a>,
        headers: Headers,
        categories: JsonList<TextValue<'a>, 11>,
        custom_args: ArgsValue<'a>,
        sections: Sections,
        send_at: i64,
        batch_id: TextValue<'a>,
        asm: Asm,
        ip_pool_name: TextValue<'a>,
        mail_settings: MailSettings<'a>,
        tracking_settings: TrackingSettings<'a>,
    }

    /// One envelope.
    Personalization<'a> {
        to: Recipients<'a>,
        cc: Mailboxes<'a>,
        bcc: Mailboxes<'a>,
        from: Mailbox<'a>,
        subject: TextValue<'a>,
        headers: Headers,
        substitutions: SmallStrings,
        dynamic_template_data: TemplateData,
        custom_args: SmallStrings,
        send_at: i64,
    }

    /// An address and the name beside it. Real clients send `"name": null`.
    Mailbox<'a> {
        email: TextValue<'a>,
        name: Nullable<TextValue<'a>>,
    }

    /// One body part.
    Content<'a> {
        mime_type as "type": TextValue<'a>,
        value: TextValue<'a>,
    }

    /// One attached file.
    Attachment<'a> {
        content: TextValue<'a>,
        mime_type as "type": TextValue<'a>,
        filename: TextValue<'a>,
        disposition: TextValue<'a>,
        content_id: TextValue<'a>,
    }

    /// The unsubscribe group.
    Asm {
        group_id: i64,
        groups_to_display: JsonList<i64, 26>,
    }

    /// `mail_settings`; `bcc` and `spam_check` are retired: typed, then ignored (API facts 2.5).
    MailSettings<'a> {
        bypass_list_management: Toggle,
        bypass_spam_management: Toggle,
        bypass_bounce_management: Toggle,
        bypass_unsubscribe_management: Toggle,
        footer: Footer<'a>,
        sandbox_mode: Toggle,
        bcc: RetiredBcc<'a>,
        spam_check: RetiredSpamCheck<'a>,
    }

    /// A setting that is only a switch.
    Toggle {
        enable: bool,
    }

    /// `mail_settings.footer`.
    Footer<'a> {
        enable: bool,
        text: TextValue<'a>,
        html: TextValue<'a>,
    }

    /// `mail_settings.bcc`.
    RetiredBcc<'a> {
        enable: bool,
        email: TextValue<'a>,
    }

    /// `mail_settings.spam_check`.
    RetiredSpamCheck<'a> {
        enable: bool,
        threshold: i64,
        post_to_url: TextValue<'a>,
    }

    /// `tracking_settings`.
    TrackingSettings<'a> {
        click_tracking: ClickTracking,
        open_tracking: OpenTracking<'a>,
        subscription_tracking: SubscriptionTracking<'a>,
        ganalytics: Ganalytics<'a>,
    }

    /// `tracking_settings.click_tracking`.
    ClickTracking {
        enable: bool,
        enable_text: bool,
    }

    /// `tracking_settings.open_tracking`.
    OpenTracking<'a> {
        enable: bool,
        substitution_tag: TextValue<'a>,
    }

    /// `tracking_settings.subscription_tracking`.
    SubscriptionTracking<'a> {
        enable: bool,
        text: TextValue<'a>,
        html: TextValue<'a>,
        substitution_tag: TextValue<'a>,
    }

    /// `tracking_settings.ganalytics`.
    Ganalytics<'a> {
        enable: bool,
        utm_source: TextValue<'a>,
        utm_medium: TextValue<'a>,
        utm_term: TextValue<'a>,
        utm_content: TextValue<'a>,
        utm_campaign: TextValue<'a>,
    }
}

#[cfg(test)]
mod tests;
