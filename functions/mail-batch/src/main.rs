//! Lambda entry point of `mail-batch`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = mail_batch::App::from_env(platform)?;
        Ok(mail_batch::routes(app, platform.gate()?))
    })
}
