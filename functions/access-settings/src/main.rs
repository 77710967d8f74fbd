//! Lambda entry point of `access-settings`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = access_settings::App::from_env(boot)?;
        Ok(access_settings::routes(app, boot.gate()?))
    })
}
