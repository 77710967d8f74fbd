//! The URL of a request, and the `Link` header to the other pages of a list.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use url::form_urlencoded;

use crate::Query;

/// The URL of a request, as the caller knows it. Behind the gateway the scheme is that of
/// `X-Forwarded-Proto`; without a host it is a path only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestUrl(String);

impl<S: Sync> FromRequestParts<S> for RequestUrl {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let text = |name| {
            let value: Option<&HeaderValue> = parts.headers.get(name);
            value.and_then(|value| value.to_str().ok())
        };
        let scheme = text(HeaderName::from_static("x-forwarded-proto"));
        let scheme = scheme.filter(|scheme| matches!(*scheme, "http" | "https"));
        let origin = match text(header::HOST) {
            None => String::new(),
            Some(host) => format!("{}://{host}", scheme.unwrap_or("http")),
        };
        Ok(Self(format!("{origin}{}", parts.uri.path())))
    }
}

impl RequestUrl {
    /// Without a query.
    pub fn page(&self) -> &str {
        &self.0
    }

    /// The `Link` header to the next page of a list that is paged by `after`, which is to be this; none at the end.
    pub fn next_link(&self, query: &Query, after: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(after) = after {
            let others = query.pairs().filter(|(name, _)| *name != "after");
            let page = self.with(others.chain([("after", after)]));
            if let Ok(value) = HeaderValue::try_from(format!("<{page}>; rel=\"next\"")) {
                headers.insert(header::LINK, value);
            }
        }
        headers
    }

    /// With this query.
    pub fn with<'p>(&self, pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(pairs);
        format!("{}?{}", self.0, query.finish())
    }
}

/// One page of a list that is paged by `limit` and `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pagination {
    /// How many items come before it.
    pub offset: usize,
    /// How many items it holds at most.
    pub limit: usize,
    /// Whether anything comes after it.
    pub more: bool,
    /// How many items the list has, where that is known.
    pub total: Option<usize>,
}

impl Pagination {
    /// The `Link` header to the other pages (API facts 0, pagination), each titled with its number.
    /// The last one is named where it is known: on that page, and where the total is given.
    pub fn links(&self, address: &RequestUrl, query: &Query) -> HeaderMap {
        let limit = self.limit.max(1);
        let next = self.offset.saturating_add(limit);
        let prev = self.offset.saturating_sub(limit);
        let last = match self.total {
            _ if !self.more => Some(self.offset),
            None => None,
            Some(total) => {
                let behind = total.saturating_sub(1).saturating_sub(self.offset);
                Some(self.offset.saturating_add(behind / limit * limit))
            }
        };
        let pages = [
            ("next", self.more.then_some(next)),
            ("prev", (self.offset > 0).then_some(prev)),
            ("last", last),
            ("first", Some(0)),
        ];
        let named = pages.into_iter().filter_map(|(rel, offset)| {
            let offset = offset?;
            let number = offset.div_ceil(limit).saturating_add(1);
            let (limit, offset) = (limit.to_string(), offset.to_string());
            let own = [("limit", limit.as_str()), ("offset", offset.as_str())];
            let others = query.pairs();
            let others = others.filter(|(name, _)| !matches!(*name, "limit" | "offset"));
            let page = address.with(others.chain(own));
            Some(format!("<{page}>; rel=\"{rel}\"; title=\"{number}\""))
        });
        let value = named.collect::<Vec<_>>().join(", ");
        let mut headers = HeaderMap::new();
        // A URL that does not fit a header has no links either.
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(header::LINK, value);
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(uri: &str, headers: &[(&str, &str)]) -> (RequestUrl, Query) {
        let mut request = axum::http::Request::get(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let Ok(address) = RequestUrl::from_request_parts(&mut parts, &()).await;
        let Ok(query) = Query::from_request_parts(&mut parts, &()).await;
        (address, query)
    }

    #[tokio::test]
    async fn an_address_is_the_one_that_the_caller_called() {
        for (headers, want) in [
            (&[][..], "/v3/x"),
            (&[("host", "a.example:3000")], "http://a.example:3000/v3/x"),
            (
                &[("host", "a.example"), ("x-forwarded-proto", "https")],
                "https://a.example/v3/x",
            ),
            (
                &[("host", "a.example"), ("x-forwarded-proto", "evil")],
                "http://a.example/v3/x",
            ),
        ] {
            assert_eq!(read("/v3/x?a=1", headers).await.0.page(), want);
        }
    }

    #[tokio::test]
    async fn a_page_leads_to_those_beside_it() {
        let uri = "/v3/x?email=a%26b&offset=4&limit=2";
        let (address, query) = read(uri, &[("host", "a.example")]).await;
        let links = |offset, more, total| {
            let slice = Pagination {
                offset,
                limit: 2,
                more,
                total,
            };
            let headers = slice.links(&address, &query);
            headers[header::LINK].to_str().unwrap().to_owned()
        };
        let to = |offset: usize, rel: &str, number: usize| {
            format!(
                "<http://a.example/v3/x?email=a%26b&limit=2&offset={offset}>; rel=\"{rel}\"; title=\"{number}\""
            )
        };
        let first = to(0, "first", 1);
        assert_eq!(
            links(4, true, None),
            [to(6, "next", 4), to(2, "prev", 2), first.clone()].join(", ")
        );
        assert_eq!(
            links(0, true, None),
            [to(2, "next", 2), first.clone()].join(", ")
        );
        assert_eq!(
            links(1, false, None),
            [to(0, "prev", 1), to(1, "last", 2), first.clone()].join(", ")
        );
        assert_eq!(links(0, false, None), [to(0, "last", 1), first].join(", "));
        for (offset, total, last, number) in
            [(0, 7, 6, 4), (0, 8, 6, 4), (1, 8, 7, 5), (4, 7, 6, 4)]
        {
            let named = links(offset, true, Some(total));
            assert!(named.contains(&to(last, "last", number)), "{named}");
        }
    }
}
