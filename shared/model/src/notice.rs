//! Mails that the service itself writes.

use crate::{
    ClickTracking, Content, EmailAddress, Footer, Ganalytics, Mail, MailSettings, Mailbox,
    OpenTracking, Personalization, SubscriptionTracking, TrackingSettings,
};

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
            tracking_settings: TrackingSettings {
                click_tracking: Some(ClickTracking::default()),
                open_tracking: Some(OpenTracking::default()),
                subscription_tracking: Some(SubscriptionTracking::default()),
                ganalytics: Some(Ganalytics::default()),
            },
            personalizations: vec![Personalization {
                to: vec![mailbox(to)],
                cc: Vec::new(),
                bcc: Vec::new(),
                from: None,
                subject: None,
                headers: [].into(),
                substitutions: [].into(),
                dynamic_template_data: None,
                custom_args: [].into(),
                send_at: None,
            }],
        }
    }
}
