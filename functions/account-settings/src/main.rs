//! Lambda entry point of `account-settings`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = account_settings::App::from_env(boot)?;
        Ok(account_settings::routes(app, boot.gate()?))
    })
}
