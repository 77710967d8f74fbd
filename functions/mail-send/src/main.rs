//! Lambda entry point of `mail-send`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = mail_send::App::from_env(boot)?;
        Ok(mail_send::routes(app, boot.gate()?))
    })
}
