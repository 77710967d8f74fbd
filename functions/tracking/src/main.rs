//! Lambda entry point of `tracking`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = tracking::App::from_env(platform)?;
        Ok(tracking::routes(app, platform.gate()?))
    })
}
