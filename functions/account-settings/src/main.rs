//! Lambda entry point of `account-settings`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = account_settings::App::from_env(platform)?;
        Ok(account_settings::routes(app, platform.gate()?))
    })
}
