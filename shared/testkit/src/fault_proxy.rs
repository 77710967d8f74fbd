//! A table that fails on request, as a busy DynamoDB does, and that counts its calls.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_smithy_http_client::Builder;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use posthaste_store::Store;

use crate::services::{TABLE, dynamodb};

/// A proxy between a store and its table. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct FaultProxy(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    calls: BTreeMap<String, usize>,
    /// Bodies of refusals for the next calls of an operation, and how many of them.
    refusals: BTreeMap<String, (usize, String)>,
    /// Calls of all operations so far.
    all: usize,
    /// Which of these are throttled, counted alike.
    throttled: Range<usize>,
}

/// The body of a transaction conflict (DynamoDB API, `TransactWriteItems`).
const CONFLICT: &str = r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"Transaction cancelled","CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict","Message":"Transaction is ongoing for the item"}]}"#;

/// The body of a throttle.
const THROTTLED: &str = r#"{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"The level of configured provisioned throughput for the table was exceeded"}"#;

/// The body of a refusal that is not retried.
const DENIED: &str =
    r#"{"__type":"com.amazon.coral.service#AccessDeniedException","message":"not authorized"}"#;

impl FaultProxy {
    /// A fresh table behind it.
    ///
    /// # Panics
    /// When no embedded DynamoDB can be started.
    pub async fn table(&self) -> Store {
        let store = Store::open(&self.around(&dynamodb().await), TABLE);
        store.create_table().await.expect("a table can be made");
        store
    }

    /// The next `times` transactions fail with a conflict.
    pub fn collide(&self, times: usize) {
        self.refuse("TransactWriteItems", times, CONFLICT);
    }

    /// The next `times` calls of this operation (`PutItem`) are refused.
    pub fn deny(&self, operation: &str, times: usize) {
        self.refuse(operation, times, DENIED);
    }

    /// After so many calls of any operation, the next `times` are throttled.
    pub fn throttle(&self, after: usize, times: usize) {
        let mut state = self.state();
        let first = state.all.saturating_add(after);
        state.throttled = first..first.saturating_add(times);
    }

    /// Whether no call is to be throttled any more.
    pub fn has_throttled(&self) -> bool {
        let state = self.state();
        state.all >= state.throttled.end
    }

    fn refuse(&self, operation: &str, times: usize, body: &str) {
        let refusal = (times, body.to_owned());
        self.state().refusals.insert(operation.to_owned(), refusal);
    }

    /// The number of calls of this operation, including failed ones.
    pub fn calls(&self, operation: &str) -> usize {
        self.state().calls.get(operation).copied().unwrap_or(0)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call; the body of its refusal, if it is to be refused.
    fn note(&self, operation: &str) -> Option<String> {
        let mut state = self.state();
        *state.calls.entry(operation.to_owned()).or_default() += 1;
        let number = state.all;
        state.all += 1;
        if state.throttled.contains(&number) {
            return Some(THROTTLED.to_owned());
        }
        let (left, body) = state.refusals.get_mut(operation)?;
        *left = left.checked_sub(1)?;
        Some(body.clone())
    }

    /// The SDK retries none, so that every call counts.
    fn around(&self, config: &SdkConfig) -> SdkConfig {
        let client = Meddling {
            inner: Builder::new().build_http(),
            meddler: self.clone(),
        };
        let config = config.clone().into_builder();
        let config = config.http_client(SharedHttpClient::new(client));
        config.retry_config(RetryConfig::disabled()).build()
    }
}

#[derive(Clone, Debug)]
struct Meddling<T> {
    inner: T,
    meddler: FaultProxy,
}

impl HttpClient for Meddling<SharedHttpClient> {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(Meddling {
            inner: self.inner.http_connector(settings, components),
            meddler: self.meddler.clone(),
        })
    }
}

impl HttpConnector for Meddling<SharedHttpConnector> {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let operation = target.rsplit('.').next().unwrap_or_default();
        match (self.meddler.note(operation), StatusCode::try_from(400)) {
            (Some(body), Ok(status)) => {
                HttpConnectorFuture::ready(Ok(HttpResponse::new(status, SdkBody::from(body))))
            }
            _ => self.inner.call(request),
        }
    }
}
