//! Lambda entry point of `event-settings`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = event_settings::App::from_env(boot)?;
        Ok(event_settings::routes(app, boot.gate()?))
    })
}
