//! Lambda entry point of `event-settings`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = event_settings::App::from_env(platform)?;
        Ok(event_settings::routes(app, platform.gate()?))
    })
}
