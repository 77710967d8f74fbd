//! Lambda entry point of `parse-settings`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = parse_settings::App::from_env(platform)?;
        Ok(parse_settings::routes(app, platform.gate()?))
    })
}
