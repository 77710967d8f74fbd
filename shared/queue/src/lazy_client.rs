//! Clients that are built when they are first needed. Many requests never come to one: they are refused, or
//! nothing is worth telling.

use std::sync::{Arc, LazyLock};

use aws_config::SdkConfig;

/// A client; clones share it.
pub(crate) type LazyClient<C> = Arc<LazyLock<C, Box<dyn FnOnce() -> C + Send>>>;

/// A client that `build` will make of this configuration.
pub(crate) fn lazy_client<C: 'static>(
    config: &SdkConfig,
    build: fn(&SdkConfig) -> C,
) -> LazyClient<C> {
    let config = config.clone();
    Arc::new(LazyLock::new(Box::new(move || build(&config))))
}
