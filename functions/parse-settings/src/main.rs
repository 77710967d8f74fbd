//! Lambda entry point of `parse-settings`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = parse_settings::App::from_env(boot)?;
        Ok(parse_settings::routes(app, boot.gate()?))
    })
}
