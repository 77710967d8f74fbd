//! Clients that are built on first use. Many requests need none: they are refused, or there is
//! nothing to report.

use std::sync::{Arc, LazyLock};

use aws_config::SdkConfig;

/// A client; clones share it.
pub(crate) type LazyClient<C> = Arc<LazyLock<C, Box<dyn FnOnce() -> C + Send>>>;

/// A client that `build` creates from this configuration.
pub(crate) fn lazy_client<C: 'static>(
    config: &SdkConfig,
    build: fn(&SdkConfig) -> C,
) -> LazyClient<C> {
    let config = config.clone();
    Arc::new(LazyLock::new(Box::new(move || build(&config))))
}
