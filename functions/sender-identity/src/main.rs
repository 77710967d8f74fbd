//! Lambda entry point of `sender-identity`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = sender_identity::App::from_env(boot)?;
        Ok(sender_identity::routes(app, boot.gate()?))
    })
}
