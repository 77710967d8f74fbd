//! The mail that sends a composed copy again.
//!
//! What is kept is the composed message and not the request: a template may have changed since, and then the
//! mail that is sent again would not be the one that is shown. The names of one sending are taken out of it
//! (its Message-ID, date and signatures), and `delivery` writes the links anew, which name the message.

use posthaste_mime::submitted::{SubmittedHead, unsent};
use posthaste_model::{
    Footer, Mail, MailSettings, MessageId, Personalization, Raw, RecipientCopy, Submitted,
    TrackingSettings,
};

use crate::KeptMail;

/// The record of a copy of this mail that was composed as these bytes.
pub fn composed(
    mail: &Mail,
    message: &MessageId,
    copy: RecipientCopy<'_>,
    bytes: Vec<u8>,
    is_test: bool,
) -> KeptMail {
    let personalization = copy.personalization;
    let submitted = mail.submitted.as_ref();
    let whole = Submitted {
        mime: Raw::new(bytes),
        message_id: None,
        apart: false,
        single_category: submitted.is_some_and(|whole| whole.single_category),
        refused: None,
        again: Some(message.clone()),
    };
    let mail = Mail {
        from: mail.from_of(personalization).clone(),
        reply_to: Vec::new(),
        subject: None,
        content: Vec::new(),
        attachments: Vec::new(),
        template_id: None,
        headers: [].into(),
        categories: mail.categories.clone(),
        custom_args: mail.merged_args(personalization),
        sections: [].into(),
        send_at: None,
        batch_id: None,
        asm: mail.asm.clone(),
        ip_pool_name: mail.ip_pool_name.clone(),
        mail_settings: without_additions(&mail.mail_settings),
        // The links are in the mail, and are written anew.
        tracking_settings: TrackingSettings::off(),
        personalizations: vec![Personalization::to(copy.mailbox.clone())],
        notice: false,
        submitted: Some(whole),
    };
    KeptMail {
        v: 1,
        is_test,
        mail,
    }
}

/// What bypasses suppressions stays; footer and wrapper are in the mail.
fn without_additions(settings: &MailSettings) -> MailSettings {
    MailSettings {
        footer: Some(Footer::default()),
        sandbox_mode: None,
        wrapper: Some(String::new()),
        ..settings.clone()
    }
}

/// The mail to send, without what names its first sending.
pub fn repeatable(kept: KeptMail) -> Mail {
    let mut mail = kept.mail;
    if let Some(whole) = &mut mail.submitted {
        let bytes = unsent(whole.mime.bytes());
        let head = SubmittedHead::read(&bytes);
        mail.subject = Some(head.subject);
        mail.reply_to = head.reply_to;
        whole.mime = Raw::new(bytes);
    }
    mail
}
