//! Lambda entry point of `templates`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = templates::App::from_env(platform)?;
        Ok(templates::routes(app, platform.gate()?))
    })
}
