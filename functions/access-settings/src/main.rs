//! Lambda entry point of `access-settings`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = access_settings::App::from_env(platform)?;
        Ok(access_settings::routes(app, platform.gate()?))
    })
}
