//! Lambda entry point of `subusers`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = subusers::App {
            store: boot.store()?,
            clock: boot.clock(),
            entropy: boot.entropy(),
        };
        Ok(subusers::routes(app, boot.gate()?))
    })
}
