//! Mails of our own, on their way like any other.

use std::time::Duration;

use posthaste_http::Rejection;
use posthaste_model::{
    AccountId, ClickTracking, Content, EmailAddress, Footer, Mail, MailSettings, Mailbox,
    OpenTracking, Personalization, SubscriptionTracking, Toggle, TrackingSettings,
};
use posthaste_queue::{Body, Job};

use crate::App;

/// Queues a text to one address. Nothing in it is tracked, and no list keeps it back: without it
/// the owner could not go on.
pub(crate) async fn send(
    app: &App,
    account: &AccountId,
    to: EmailAddress,
    subject: &str,
    text: String,
) -> Result<(), Rejection> {
    let mailbox = |email| Mailbox { email, name: None };
    let mail = Mail {
        from: mailbox(app.names.sender.clone()),
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
        mail_settings: MailSettings {
            bypass_list_management: Some(Toggle { enable: true }),
            footer: Some(Footer::default()),
            ..MailSettings::default()
        },
        tracking_settings: TrackingSettings {
            click_tracking: Some(ClickTracking::default()),
            open_tracking: Some(OpenTracking::default()),
            subscription_tracking: Some(SubscriptionTracking::default()),
            ganalytics: None,
        },
        submitted: None,
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
    };
    let job = Job {
        v: 1,
        account: account.clone(),
        message: app.entropy.message_id(),
        accepted: app.clock.now_ms(),
        spans: Vec::new(),
        attempt: 0,
        due: None,
        left: false,
        key: None,
        body: Body::Mail(Box::new(mail)),
    };
    let text = job.to_text().map_err(|e| Rejection::internal(&e))?;
    let sent = app.send.send(text, Duration::ZERO).await;
    sent.map_err(|e| Rejection::unavailable(&e))
}
