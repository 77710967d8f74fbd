//! A table inside this process, called through the ordinary SDK without a network.
//!
//! The SDK builds and reads the same JSON as in the cloud; the bytes go to a function instead of a
//! socket, unsigned. On a laptop that socket would take most of a mail's time.

use std::fmt;
use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Config, Region, StalledStreamProtectionConfig};
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use futures_util::future::BoxFuture;

use super::store::Store;

/// The answer of an embedded table: an HTTP status and DynamoDB's JSON.
#[derive(Clone, Debug)]
pub struct TableResponse {
    pub status: u16,
    pub body: String,
}

/// A table that lives in this process.
pub trait Embedded: fmt::Debug + Send + Sync {
    /// Runs one operation (`UpdateItem`) on its JSON. `None` when the table is gone.
    fn call(&self, operation: &str, body: &[u8]) -> BoxFuture<'static, Option<TableResponse>>;
}

#[derive(Clone, Debug)]
struct Connector(Arc<dyn Embedded>);

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let operation = target.rsplit('.').next().unwrap_or_default();
        let body = request.body().bytes().unwrap_or_default();
        let answer = self.0.call(operation, body);
        HttpConnectorFuture::new(async move {
            let gone = || ConnectorError::other("the embedded table is gone".into(), None);
            let answer = answer.await.ok_or_else(gone)?;
            let status = StatusCode::try_from(answer.status);
            let status = status.map_err(|e| ConnectorError::other(e.into(), None))?;
            Ok(HttpResponse::new(status, SdkBody::from(answer.body)))
        })
    }
}

impl Store {
    /// The table `table` inside this process.
    pub fn embedded(embedded: Arc<dyn Embedded>, table: &str) -> Self {
        let connector = SharedHttpConnector::new(Connector(embedded));
        let config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .endpoint_url("http://embedded")
            .allow_no_auth()
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
            .http_client(http_client_fn(move |_, _| connector.clone()));
        Self::of(Client::from_conf(config.build()), table)
    }
}
