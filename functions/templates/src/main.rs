//! Lambda entry point of `templates`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = templates::App::from_env(boot)?;
        Ok(templates::routes(app, boot.gate()?))
    })
}
