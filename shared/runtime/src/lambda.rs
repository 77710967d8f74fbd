//! The two entry points: an HTTP function and a worker.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use lambda_http::request::RequestContext;
use lambda_http::{RequestExt as _, tower::Service as _};
use lambda_runtime::{LambdaEvent, service_fn};
use posthaste_http::{ClientIp, GatewayName, RequestId, Routes};
use posthaste_queue::{BatchResult, Queue, SqsEvent, handle_sqs};
use posthaste_secrets::Secrets;
use serde::{Serialize, de::DeserializeOwned};

use crate::Platform;
use crate::held::HeldVariables;
use crate::opened::Opened;

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

/// The secrets that this function's variables name, read.
async fn held() -> Result<HeldVariables, Error> {
    let vars = crate::variables();
    let secrets = Secrets::aws(&crate::aws::of_function(&vars));
    Ok(HeldVariables::read(vars, secrets, crate::clock()).await?)
}

/// Runs an HTTP function until Lambda stops it.
pub fn http(build: impl Fn(&Platform) -> Result<Routes, Error> + Send + Sync) -> Result<(), Error> {
    block_on(async move {
        let route = |platform: &Platform| {
            let router = build(platform)?.into_router();
            Ok(router.layer(from_fn(gateway)))
        };
        let opened = Opened::open(held().await?, route).await?;
        let service = service_fn(async |request: lambda_http::Request| {
            let mut router = opened.app().await;
            router.call(request).await
        });
        lambda_http::run(service).await
    })
}

/// Opens an app that lives as long as the process: leaking it spares every event a clone. Another is opened only after
/// a secret was changed.
fn leaked<A, E>(
    build: impl Fn(&Platform) -> Result<A, E>,
) -> impl Fn(&Platform) -> Result<&'static A, Error>
where
    A: 'static,
    Error: From<E>,
{
    move |platform| Ok(&*Box::leak(Box::new(build(platform)?)))
}

/// Runs a worker until Lambda stops it: `handle` gets each event.
pub fn worker<A, I, O, F>(
    build: impl Fn(&Platform) -> Result<A, Error>,
    handle: impl Fn(&'static A, I) -> F,
) -> Result<(), Error>
where
    A: Sync + 'static,
    I: DeserializeOwned + 'static,
    O: Serialize,
    F: Future<Output = Result<O, Error>>,
{
    block_on(async move {
        let opened = Opened::open(held().await?, leaked(build)).await?;
        let service = service_fn(async |event: LambdaEvent<I>| {
            handle(opened.app().await, event.payload).await
        });
        lambda_runtime::run(service).await
    })
}

/// Runs a worker of queues until Lambda stops it: `handle` gets each batch. `own` names the queues
/// that the function reads, to which jobs to retry are sent anew.
pub fn queue_worker<A, E>(
    build: impl Fn(&Platform) -> Result<A, E>,
    own: impl Fn(&'static A) -> Vec<&'static Queue>,
    handle: impl AsyncFn(&'static A, &SqsEvent) -> BatchResult,
) -> Result<(), Error>
where
    A: Sync + 'static,
    Error: From<E>,
{
    block_on(async move {
        let opened = Opened::open(held().await?, leaked(build)).await?;
        let entropy = crate::entropy();
        let service = service_fn(async |event: LambdaEvent<SqsEvent>| {
            let app = opened.app().await;
            // Boxed, or the compiler's queries about the futures of the larger workers nest too
            // deep.
            let handle = async |event: &SqsEvent| Box::pin(handle(app, event)).await;
            let queues = own(app);
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
