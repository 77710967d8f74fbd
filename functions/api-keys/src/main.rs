//! Lambda entry point of `api-keys`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = api_keys::App::from_env(boot)?;
        // The gateway brings here what matched no route of any function.
        Ok(api_keys::routes(app, boot.gate()?).among(api_keys::PATHS))
    })
}
