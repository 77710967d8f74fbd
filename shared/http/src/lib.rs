//! Authentication by key or session, scopes, the allow list, rate limits, the edge of both hosts, and the one shape
//! of every error.
//!
//! A function declares its routes with [`Routes`]: method, path and scope side by side, and the
//! guard of the route does the rest before a handler runs.

mod access_log;
mod acting;
mod allow_list;
mod auth_cache;
mod authorizer;
mod body;
mod caller;
mod client;
mod credentials;
mod decode;
mod edge;
mod error;
mod json;
mod lease;
mod limit;
mod operator_call;
mod page;
mod request_url;
mod routes;
mod site;
mod undelivered;
mod uri;

pub use allow_list::AllowList;
pub use authorizer::{Authorizer, BrowserRequest, Entry, SignIn};
pub use body::{
    BodyFault, BodyRoom, Inflated, RawBody, inflate, inflate_within, no_room, too_large,
};
pub use caller::{Access, Caller};
pub use client::{ClientIp, GatewayName, RequestId};
pub use edge::finish;
pub use error::{CATALOGUE_PATH, Dialect, Limited, Rejection, UNKNOWN_ID};
pub use json::{JsonBody, body_is_json, parse};
pub use limit::{Endpoints, InvalidEndpoints, RateDecision, RateLimits};
pub use operator_call::{OperatorCall, Takeover};
pub use page::{BASE_STYLE, page};
pub use request_url::{Pagination, RequestUrl};
pub use routes::{Route, Routes};
pub use site::CONSOLE_HEADER;
pub use undelivered::{MAX_REPLAYED, UndeliveredPage, UndeliveredQuery};
pub use uri::{Captures, PathParams, Query, QueryReader};
