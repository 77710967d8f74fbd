//! Lambda entry point of `api-keys`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = api_keys::App::from_env(platform)?;
        // The gateway brings here what matched no route of any function.
        Ok(api_keys::routes(app, platform.gate()?).with_fallback_paths(api_keys::PATHS))
    })
}
