//! The two entry points: an HTTP function and a worker.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use lambda_http::request::RequestContext;
use lambda_http::{RequestExt as _, tower::ServiceBuilder};
use lambda_runtime::{LambdaEvent, service_fn};
use posthaste_http::{ClientIp, GatewayName, RequestId, Routes};
use posthaste_queue::{BatchResult, Queue, SqsEvent, handle_sqs};
use serde::{Serialize, de::DeserializeOwned};

use crate::Platform;

/// Why a function stopped.
pub type Error = lambda_runtime::Error;

fn block_on(life: impl Future<Output = Result<(), Error>>) -> Result<(), Error> {
    crate::to_cloudwatch(&crate::variables())?;
    // A small Lambda has one thread; futures of one request still overlap.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(life)
}

/// Runs an HTTP function until Lambda stops it.
pub fn http(build: impl FnOnce(&Platform) -> Result<Routes, Error>) -> Result<(), Error> {
    block_on(async move {
        let router = build(&Platform::function(crate::variables()))?.into_router();
        let service = ServiceBuilder::new().service(router.layer(from_fn(gateway)));
        lambda_http::run(service).await
    })
}

/// Runs a worker until Lambda stops it: `handle` gets each event.
pub fn worker<A, I, O, F>(
    build: impl FnOnce(&Platform) -> Result<A, Error>,
    handle: impl Fn(&'static A, I) -> F,
) -> Result<(), Error>
where
    A: Sync + 'static,
    I: DeserializeOwned + 'static,
    O: Serialize,
    F: Future<Output = Result<O, Error>>,
{
    block_on(async move {
        // The app lives as long as the process; leaking it once spares every event a clone.
        let app: &'static A = Box::leak(Box::new(build(&Platform::function(crate::variables()))?));
        let service = service_fn(|event: LambdaEvent<I>| handle(app, event.payload));
        lambda_runtime::run(service).await
    })
}

/// Runs a worker of queues until Lambda stops it: `handle` gets each batch. `own` names the queues
/// that the function reads, to which jobs to retry are sent anew.
pub fn queue_worker<A, E>(
    build: impl FnOnce(&Platform) -> Result<A, E>,
    own: impl Fn(&'static A) -> Vec<&'static Queue>,
    handle: impl AsyncFn(&'static A, &SqsEvent) -> BatchResult,
) -> Result<(), Error>
where
    A: Sync + 'static,
    Error: From<E>,
{
    block_on(async move {
        let platform = Platform::function(crate::variables());
        let app: &'static A = Box::leak(Box::new(build(&platform)?));
        let (queues, entropy) = (own(app), platform.entropy());
        let service = service_fn(async |event: LambdaEvent<SqsEvent>| {
            // Boxed, or the compiler's queries about the futures of the larger workers nest too
            // deep.
            let handle = async |event: &SqsEvent| Box::pin(handle(app, event)).await;
            let handled = handle_sqs(&queues, event.payload, &entropy, handle);
            Ok::<_, Error>(Box::pin(handled).await)
        });
        lambda_runtime::run(service).await
    })
}

/// The edge under API Gateway: the caller's address is what the gateway saw, never a header.
async fn gateway(mut req: Request, next: Next) -> Response {
    let (ip, id, name) = match req.request_context_ref() {
        Some(RequestContext::ApiGatewayV2(context)) => (
            context
                .http
                .source_ip
                .as_deref()
                .and_then(|text| text.parse().ok()),
            context.request_id.clone(),
            context.domain_name.as_deref().map(Arc::from),
        ),
        _ => (None, None, None),
    };
    if let Some(uri) = crate::gateway_path::rebuilt(&req) {
        *req.uri_mut() = uri;
    }
    req.extensions_mut().insert(ClientIp(ip));
    req.extensions_mut().insert(GatewayName(name));
    if let Some(id) = id {
        req.extensions_mut().insert(RequestId(id.into()));
    }
    next.run(req).await
}
