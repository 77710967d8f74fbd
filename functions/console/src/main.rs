//! Lambda entry point of `console`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = console::App::from_env(platform)?;
        Ok(console::routes(app, platform.gate()?))
    })
}
