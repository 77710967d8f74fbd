//! Simulates a crash: a fuse that fails after so many external calls.

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

/// Once it has blown, every call through it fails, as for a killed process: earlier calls stay
/// done, later ones do nothing. Clones are the same fuse.
#[derive(Clone, Debug, Default)]
pub struct FailAfter(Arc<State>);

#[derive(Debug, Default)]
struct State {
    lit: AtomicBool,
    left: AtomicI64,
    deaf: AtomicBool,
    calls: AtomicU64,
}

/// The fate of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spark {
    Pass,
    /// It is carried out, but the answer never arrives.
    Deaf,
    Fail,
}

impl FailAfter {
    /// Lets `calls` more calls through. With `deaf`, one more is carried out whose answer is lost.
    pub fn burn_after(&self, calls: u32, deaf: bool) {
        self.0.left.store(i64::from(calls), Ordering::SeqCst);
        self.0.deaf.store(deaf, Ordering::SeqCst);
        self.0.lit.store(true, Ordering::SeqCst);
    }

    /// Lets everything through again. Returns whether the fuse had blown.
    pub fn mend(&self) -> bool {
        self.0.lit.swap(false, Ordering::SeqCst) && self.0.left.load(Ordering::SeqCst) < 0
    }

    /// Calls so far, including failed ones.
    pub fn calls(&self) -> u64 {
        self.0.calls.load(Ordering::SeqCst)
    }

    /// One call.
    pub fn spark(&self) -> Spark {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        if !self.0.lit.load(Ordering::SeqCst) {
            return Spark::Pass;
        }
        match self.0.left.fetch_sub(1, Ordering::SeqCst) {
            1.. => Spark::Pass,
            0 if self.0.deaf.load(Ordering::SeqCst) => Spark::Deaf,
            _ => Spark::Fail,
        }
    }

    /// The same configuration with every call going through this fuse, without retries.
    #[must_use]
    pub fn around(&self, config: &SdkConfig) -> SdkConfig {
        let client = Fused {
            inner: Builder::new().build_http(),
            fuse: self.clone(),
        };
        let config = config.clone().into_builder();
        let config = config.http_client(SharedHttpClient::new(client));
        config.retry_config(RetryConfig::disabled()).build()
    }
}

#[derive(Clone, Debug)]
struct Fused<T> {
    inner: T,
    fuse: FailAfter,
}

impl HttpClient for Fused<SharedHttpClient> {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(Fused {
            inner: self.inner.http_connector(settings, components),
            fuse: self.fuse.clone(),
        })
    }
}

impl HttpConnector for Fused<SharedHttpConnector> {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let dead = || ConnectorError::io("the fuse has burnt".into());
        match self.fuse.spark() {
            Spark::Pass => self.inner.call(request),
            Spark::Fail => HttpConnectorFuture::ready(Err(dead())),
            Spark::Deaf => {
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
        let fuse = FailAfter::default();
        let store = Store::open(&fuse.around(&crate::dynamodb().await), crate::TABLE);
        store.create_table().await.unwrap();
        let now = Clock::new(|| Millis(0)).now();
        let account = crate::entropy().account_id();
        let batch = crate::entropy().batch_id();
        let exists = || store.batch_exists(&account, &batch, now);

        fuse.burn_after(0, false);
        assert!(store.create_batch(&account, &batch, now).await.is_err());
        assert!(exists().await.is_err());
        assert!(fuse.mend());
        assert!(!exists().await.unwrap());

        fuse.burn_after(0, true);
        assert!(store.create_batch(&account, &batch, now).await.is_err());
        assert!(fuse.mend());
        assert!(exists().await.unwrap());
        assert_eq!(now, Timestamp(0));
    }
}
