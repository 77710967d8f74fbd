//! Lambda entry point of `mail-send`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = mail_send::App::from_env(platform)?;
        Ok(mail_send::routes(app, platform.gate()?))
    })
}
