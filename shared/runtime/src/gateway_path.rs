//! The path of a request as its caller sent it.
//!
//! API Gateway decodes a path before it hands it on (payload 2.0, `rawPath`), and the crate that
//! reads the event parses the result as a URL: there `#` begins a fragment, `?` a query, `\` is a
//! slash, `..` leads upwards, and `%41` would be decoded once more. So the path is taken from the
//! event, and each segment is encoded again.
//!
//! What the gateway itself loses cannot be had back: it ends the path at a decoded `?`, decodes
//! `%25` twice, and refuses what is no escape after that (seen on AWS in 2026). Emulators keep
//! `%25`, which is therefore taken for a `%`.

use std::borrow::Cow;

use axum::extract::Request;
use axum::http::Uri;
use lambda_http::RequestExt as _;
use lambda_http::request::RequestContext;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::form_urlencoded;

/// All but the unreserved characters (RFC 3986, section 2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The address with the path of the gateway's event, encoded; `None` for other requests.
pub(crate) fn rebuilt(req: &Request) -> Option<Uri> {
    let RequestContext::ApiGatewayV2(context) = req.request_context_ref()? else {
        return None;
    };
    let raw = req.raw_http_path();
    if !raw.starts_with('/') {
        return None;
    }
    // `GET /v3/templates/{id}`, or `$default` without a path.
    let route = context.route_key.as_deref();
    let pattern = route.and_then(|route| Some(route.split_once(' ')?.1));
    let mut address = encoded(raw, pattern);
    if let Some(query) = query(req, raw) {
        address.push('?');
        address.push_str(&query);
    }
    let mut parts = req.uri().clone().into_parts();
    parts.path_and_query = Some(address.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// The decoded path `raw`, encoded segment by segment. Where it has more segments than the route's
/// pattern, a parameter had a `/` inside: the last one.
fn encoded(raw: &str, pattern: Option<&str>) -> String {
    let given: Vec<&str> = raw.split('/').collect();
    let wanted: Vec<&str> = pattern.unwrap_or(raw).split('/').collect();
    let surplus = given.len().saturating_sub(wanted.len());
    let parameter = wanted.iter().rposition(|segment| segment.starts_with('{'));
    let mut path = String::with_capacity(raw.len() + 16);
    for (i, segment) in given.iter().enumerate() {
        let is_inside = parameter.is_some_and(|at| (at + 1..=at + surplus).contains(&i));
        if is_inside {
            path.push_str("%2F");
        } else if i > 0 {
            path.push('/');
        }
        let segment = segment.replace("%25", "%");
        path.extend(utf8_percent_encode(&segment, ENCODED));
    }
    path
}

/// The query. A decoded path with `?` or `#` hid it from the parser of the event.
fn query<'r>(req: &'r Request, raw: &str) -> Option<Cow<'r, str>> {
    if !raw.contains(['?', '#']) {
        return req.uri().query().map(Cow::Borrowed);
    }
    let pairs = req.query_string_parameters_ref()?;
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs.iter());
    Some(Cow::Owned(query.finish()))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use serde_json::{Value, json};

    use super::*;

    /// Events in the form of the gateway's payload 2.0: what the caller sent, and what the function
    /// gets of it.
    const EVENTS: &str = include_str!("gateway_path/events.json");

    fn request(event: &Value) -> Request {
        let method = event["routeKey"].as_str().unwrap().split(' ').next();
        let event = json!({
            "version": "2.0",
            "routeKey": event["routeKey"],
            "rawPath": event["rawPath"],
            "rawQueryString": event["rawQueryString"],
            "headers": {"host": "api.example", "x-forwarded-proto": "https"},
            "requestContext": {
                "accountId": "1", "apiId": "api", "domainName": "api.example",
                "domainPrefix": "api", "requestId": "1", "routeKey": event["routeKey"],
                "stage": "$default", "time": "12/Mar/2020:19:03:58 +0000",
                "timeEpoch": 1_583_348_638_390_i64,
                "http": {
                    "method": method.filter(|method| *method != "$default").unwrap_or("GET"),
                    "path": event["rawPath"], "protocol": "HTTP/1.1",
                    "sourceIp": "192.0.2.1", "userAgent": "test",
                },
            },
            "isBase64Encoded": false,
        });
        let request = lambda_http::request::from_str(&event.to_string()).unwrap();
        request.map(|_| Body::empty())
    }

    #[test]
    fn a_path_is_the_one_that_was_sent() {
        let events: Vec<Value> = serde_json::from_str(EVENTS).unwrap();
        assert!(events.len() > 10);
        for event in events {
            let uri = rebuilt(&request(&event)).unwrap();
            let sent: Uri = event["sent"].as_str().unwrap().parse().unwrap();
            let decoded = |path: &str| {
                let segments = path.split('/');
                let decoded = segments.map(|segment| {
                    let bytes = percent_encoding::percent_decode_str(segment);
                    bytes.decode_utf8().unwrap().into_owned()
                });
                decoded.collect::<Vec<_>>()
            };
            assert_eq!(decoded(uri.path()), decoded(sent.path()), "{event}");
            assert_eq!(uri.query(), sent.query(), "{event}");
            assert_eq!(uri.host(), Some("api.example"), "{event}");
        }
    }

    #[test]
    fn a_request_of_another_host_stays_as_it_is() {
        let request = Request::get("/v3/scopes").body(Body::empty()).unwrap();
        assert_eq!(rebuilt(&request), None);
    }
}
