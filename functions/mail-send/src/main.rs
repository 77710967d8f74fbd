//! Lambda entry point of `mail-send`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = mail_send::App {
            store: boot.store()?,
            queue: boot.queue("SEND_QUEUE_URL")?,
            blob: boot.blob()?,
            clock: boot.clock(),
            entropy: boot.entropy(),
            limits: mail_send::Limits {
                horizon: boot
                    .vars()
                    .or("HORIZON_SECONDS", mail_send::Limits::default().horizon)?,
            },
            senders: mail_send::Senders::proven(),
            templates: mail_send::Templates::default(),
        };
        Ok(mail_send::routes(app, boot.gate()?))
    })
}
