//! Lambda entry point of `mail-batch`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = mail_batch::App::from_env(boot)?;
        Ok(mail_batch::routes(app, boot.gate()?))
    })
}
