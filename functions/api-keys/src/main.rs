//! Lambda entry point of `api-keys`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = api_keys::App {
            store: boot.store()?,
            clock: boot.clock(),
            entropy: boot.entropy(),
        };
        Ok(api_keys::routes(app, boot.gate()?))
    })
}
