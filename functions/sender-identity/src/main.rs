//! Lambda entry point of `sender-identity`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = sender_identity::App::from_env(platform)?;
        Ok(sender_identity::routes(app, platform.gate()?))
    })
}
