//! Callers: the edge of both hosts, authentication, scopes, the allow list, rate limits, and the
//! one shape of every error.
//!
//! A function declares its routes with [`Routes`]: method, path and scope stand side by side,
//! and the guard of the route does the rest before a handler runs.

mod address;
mod allow_list;
mod body;
mod cache;
mod caller;
mod edge;
mod error;
mod gate;
mod gzip;
mod json;
mod known;
mod lease;
mod limit;
mod notes;
mod page;
mod routes;
mod strangers;
mod uri;

pub use address::{Address, Slice};
pub use allow_list::AllowList;
pub use body::{BodyFault, RawBody, too_large};
pub use cache::Cache;
pub use caller::Caller;
pub use edge::{ClientIp, GatewayName, RequestId, finish};
pub use error::{Dialect, Limited, Rejection};
pub use gate::Gate;
pub use gzip::{Inflated, inflate};
pub use json::{Body, body_is_json, parse};
pub use limit::{Endpoints, InvalidEndpoints, Limits, Permit};
pub use page::{escaped, page};
pub use routes::{Access, Route, Routes};
pub use uri::{Captures, Path, Query};
