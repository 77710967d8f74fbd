//! Simulates a crash: fails after so many external calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_smithy_http_client::Builder;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;

/// Past its limit every call through it fails, as for a killed process: earlier calls stay
/// done, later ones do nothing. Clones share the limit.
#[derive(Clone, Debug, Default)]
pub struct FailAfter(Arc<State>);

#[derive(Debug, Default)]
struct State {
    limited: AtomicBool,
    left: AtomicI64,
    deaf: AtomicBool,
    calls: AtomicU64,
}

/// The fate of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFate {
    Pass,
    /// It is carried out, but the answer never arrives.
    Deaf,
    Fail,
}

impl FailAfter {
    /// Lets `calls` more calls through. With `deaf`, one more is carried out whose answer is lost.
    pub fn fail_after(&self, calls: u32, deaf: bool) {
        self.0.left.store(i64::from(calls), Ordering::SeqCst);
        self.0.deaf.store(deaf, Ordering::SeqCst);
        self.0.limited.store(true, Ordering::SeqCst);
    }

    /// Lets everything through again. Returns whether the limit was reached.
    pub fn restore(&self) -> bool {
        self.0.limited.swap(false, Ordering::SeqCst) && self.0.left.load(Ordering::SeqCst) < 0
    }

    /// Calls so far, including failed ones.
    pub fn calls(&self) -> u64 {
        self.0.calls.load(Ordering::SeqCst)
    }

    /// One call.
    pub fn call(&self) -> CallFate {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        if !self.0.limited.load(Ordering::SeqCst) {
            return CallFate::Pass;
        }
        match self.0.left.fetch_sub(1, Ordering::SeqCst) {
            1.. => CallFate::Pass,
            0 if self.0.deaf.load(Ordering::SeqCst) => CallFate::Deaf,
            _ => CallFate::Fail,
        }
    }

    /// The same configuration with every call counted here, without retries.
    #[must_use]
    pub fn around(&self, config: &SdkConfig) -> SdkConfig {
        let client = LimitedClient {
            inner: Builder::new().build_http(),
            faults: self.clone(),
        };
        let config = config.clone().into_builder();
        let config = config.http_client(SharedHttpClient::new(client));
        config.retry_config(RetryConfig::disabled()).build()
    }
}

#[derive(Clone, Debug)]
struct LimitedClient<T> {
    inner: T,
    faults: FailAfter,
}

impl HttpClient for LimitedClient<SharedHttpClient> {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(LimitedClient {
            inner: self.inner.http_connector(settings, components),
            faults: self.faults.clone(),
        })
    }
}

impl HttpConnector for LimitedClient<SharedHttpConnector> {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let dead = || ConnectorError::io("no more calls in this test".into());
        match self.faults.call() {
            CallFate::Pass => self.inner.call(request),
            CallFate::Fail => HttpConnectorFuture::ready(Err(dead())),
            CallFate::Deaf => {
                let running = self.inner.call(request);
                HttpConnectorFuture::new(async move {
                    running.await?;
                    Err(dead())
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_model::{Clock, Millis, Timestamp};
    use posthaste_store::Store;

    #[tokio::test]
    async fn what_was_done_before_the_fuse_burnt_stays_done() {
        let faults = FailAfter::default();
        let store = Store::open(&faults.around(&crate::dynamodb().await), crate::TABLE);
        store.create_table().await.unwrap();
        let now = Clock::new(|| Millis(0)).now();
        let account = crate::entropy().account_id();
        let batch = crate::entropy().batch_id();
        let exists = || store.batch_exists(&account, &batch, now);

        faults.fail_after(0, false);
        assert!(store.create_batch(&account, &batch, now).await.is_err());
        assert!(exists().await.is_err());
        assert!(faults.restore());
        assert!(!exists().await.unwrap());

        faults.fail_after(0, true);
        assert!(store.create_batch(&account, &batch, now).await.is_err());
        assert!(faults.restore());
        assert!(exists().await.unwrap());
        assert_eq!(now, Timestamp(0));
    }
}
