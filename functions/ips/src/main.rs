//! Lambda entry point of `ips`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = ips::App::from_env(platform)?;
        Ok(ips::routes(app, platform.gate()?))
    })
}
