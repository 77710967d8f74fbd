//! Routes with their scope beside them, each behind its own guard.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::{Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use futures_util::FutureExt as _;
use futures_util::future::join;
use posthaste_store::ChangedBy;
use tracing::{Span, field};

use crate::authorizer::AuthRequest;
use crate::edge::client_ip;
use crate::{Access, Authorizer, Caller, Dialect, Limited, OperatorCall, Rejection};

/// One route as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    pub access: Access,
    /// The form of its errors.
    pub dialect: Dialect,
}

/// The routes of one function.
pub struct Routes<S = ()> {
    gate: Authorizer,
    dialect: Dialect,
    router: Router<S>,
    list: Vec<Route>,
    elsewhere: &'static [&'static str],
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    /// No routes yet.
    pub fn new(gate: Authorizer) -> Self {
        Self {
            gate,
            dialect: Dialect::General,
            router: Router::new(),
            list: Vec::new(),
            elsewhere: &[],
        }
    }

    /// The form of the errors of the following routes.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Adds a route. The method must be one of GET, POST, PUT, PATCH, DELETE.
    #[must_use]
    pub fn at<H, T>(
        mut self,
        method: Method,
        path: &'static str,
        access: Access,
        handler: H,
    ) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        let filter = MethodFilter::try_from(method.clone()).unwrap_or(MethodFilter::GET);
        let guard = Guard {
            gate: self.gate.clone(),
            endpoint: format!("{method} {path}").into(),
            access,
            dialect: self.dialect,
        };
        let method_router: MethodRouter<S> = on(filter, handler);
        let guarded = method_router.layer(from_fn_with_state(guard, admit));
        self.router = self.router.route(path, guarded);
        self.list.push(Route {
            method,
            path,
            access,
            dialect: self.dialect,
        });
        self
    }

    /// Gives the handlers their state.
    #[must_use]
    pub fn with_state(self, state: S) -> Routes {
        Routes {
            gate: self.gate,
            dialect: self.dialect,
            router: self.router.with_state(state),
            list: self.list,
            elsewhere: self.elsewhere,
        }
    }
}

impl Routes {
    /// Every route, as declared.
    pub fn list(&self) -> &[Route] {
        &self.list
    }

    /// The authorizer in front of these routes.
    pub fn gate(&self) -> &Authorizer {
        &self.gate
    }

    /// Joins the routes of several functions, for the local host.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.list.extend(other.list);
        self
    }

    /// The finished service, with the edge around it.
    pub fn into_router(self) -> Router {
        crate::edge::finish(self.router, &self.gate, self.elsewhere)
    }

    /// For the function that answers all unmatched requests: on these paths of other functions it
    /// answers that the method is wrong, on every other path that there is nothing.
    #[must_use]
    pub fn with_fallback_paths(mut self, elsewhere: &'static [&'static str]) -> Self {
        self.elsewhere = elsewhere;
        self
    }
}

#[derive(Clone)]
struct Guard {
    gate: Authorizer,
    endpoint: Arc<str>,
    access: Access,
    dialect: Dialect,
}

/// Runs before every handler: identifies the caller, and checks address, rate and scope.
async fn admit(State(guard): State<Guard>, req: Request, next: Next) -> Response {
    let ip = client_ip(&req);
    let span = Span::current();
    span.record("http.route", &*guard.endpoint);
    if let Some(call) = req.extensions().get::<OperatorCall>() {
        let caller = call.caller();
        span.record("account.id", field::display(caller.id()));
        return answer_to(&caller, ChangedBy::Operator, next, req, &guard).await;
    }
    let (mut response, permit) = if guard.access == Access::Public {
        let permit = guard.gate.permit_for_anonymous(ip);
        (answer(next, req, &guard).await, permit)
    } else {
        let asked = AuthRequest {
            endpoint: &guard.endpoint,
            access: guard.access,
            dialect: guard.dialect,
            method: req.method(),
            headers: req.headers(),
            gateway: req.extensions().get(),
            ip,
        };
        match guard.gate.authorize(&asked).await {
            Err(refused) => {
                guard.gate.record(refused.note).await;
                let rejection = refused.rejection.in_dialect(guard.dialect);
                (rejection.into_response(), refused.permit)
            }
            Ok(admitted) => {
                span.record("account.id", field::display(admitted.caller.id()));
                let by = match &admitted.caller.session {
                    Some(_) => ChangedBy::Session,
                    None => ChangedBy::ApiKey,
                };
                // The attempt is recorded while the handler works.
                let note = guard.gate.record(admitted.note);
                let answer = answer_to(&admitted.caller, by, next, req, &guard);
                let (response, ()) = join(answer, note).await;
                (response, admitted.permit)
            }
        }
    };
    let reached = response.extensions().get::<Limited>();
    let permit = reached.map_or(permit, |limited| limited.permit);
    permit.write(response.headers_mut());
    response
}

/// The answer to a caller. What it has changed is in the audit log.
async fn answer_to(
    caller: &Caller,
    by: ChangedBy,
    next: Next,
    mut req: Request,
    guard: &Guard,
) -> Response {
    let audit = guard.gate.audit();
    let pending = audit.pending(&guard.endpoint, &req);
    req.extensions_mut().insert(caller.clone());
    let response = answer(next, req, guard).await;
    match pending {
        None => response,
        Some(pending) => Box::pin(audit.record(pending, caller, by, response)).await,
    }
}

/// The handler's answer. A panic is answered like any other internal failure.
async fn answer(next: Next, req: Request, guard: &Guard) -> Response {
    let answer = AssertUnwindSafe(next.run(req)).catch_unwind().await;
    let answer = answer.unwrap_or_else(|_| {
        Rejection::internal(&"a handler panicked")
            .in_dialect(guard.dialect)
            .into_response()
    });
    if guard.access == Access::Public {
        return answer;
    }
    in_shape(answer, guard.dialect)
}

/// Errors of the router itself (a path that is not UTF-8, a query it cannot read) are plain text;
/// clients expect the one error shape.
fn in_shape(answer: Response, dialect: Dialect) -> Response {
    if let Some(rejection) = answer.extensions().get::<Rejection>() {
        if rejection.dialect == dialect || dialect == Dialect::General {
            return answer;
        }
        return rejection.clone().in_dialect(dialect).into_response();
    }
    let status = answer.status();
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let plain = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if !plain || !(status.is_client_error() || status.is_server_error()) {
        return answer;
    }
    let reason = status.canonical_reason().unwrap_or("refused");
    Rejection::plain(status, reason.to_lowercase())
        .in_dialect(dialect)
        .into_response()
}
