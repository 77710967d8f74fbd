//! What calls to SQS and EventBridge share: clients that are built on first use, and the error of a
//! call.

use std::sync::{Arc, LazyLock};

use aws_config::SdkConfig;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use posthaste_model::causes;

/// A client that is built on first use: many requests need none, because they are refused or there
/// is nothing to report. Clones share it.
pub(crate) type LazyClient<C> = Arc<LazyLock<C, Box<dyn FnOnce() -> C + Send>>>;

/// A client that `build` creates from this configuration.
pub(crate) fn lazy_client<C: 'static>(
    config: &SdkConfig,
    build: fn(&SdkConfig) -> C,
) -> LazyClient<C> {
    let config = config.clone();
    Arc::new(LazyLock::new(Box::new(move || build(&config))))
}

/// The queue did not accept the message. The same call may succeed later.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the queue cannot be reached: {0}")]
pub struct QueueError(pub String);

impl QueueError {
    /// What AWS answered, or why it did not.
    pub(crate) fn from_sdk<E, R>(error: SdkError<E, R>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
        R: std::fmt::Debug + 'static,
    {
        Self(match (error.code(), error.message()) {
            (Some(code), Some(message)) => format!("{code}: {message}"),
            _ => causes(&error),
        })
    }
}

/// A stand-in for SQS in tests.
#[cfg(test)]
pub(crate) mod stand_in {
    use aws_config::{BehaviorVersion, Region, SdkConfig};
    use aws_credential_types::Credentials;
    use aws_credential_types::provider::SharedCredentialsProvider;
    use axum::Router;

    /// Serves the router as long as the test's runtime lives: its URL, and the configuration that reaches it.
    pub(crate) async fn serve(router: Router) -> (String, SdkConfig) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let credentials = Credentials::new("id", "secret", None, None, "test");
        let config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .endpoint_url(&endpoint)
            .build();
        (endpoint, config)
    }
}
