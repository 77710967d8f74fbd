//! Whether a link works under the host it was opened at.
//!
//! Every account can make links that lead anywhere. Under a branded host only the links work that were made with it:
//! with another's they would be an open redirect, and a form, in the name of the owner of the host. Under every other
//! host all links work, those of a branded host too, so that a proxy may pass on another name than it was asked for.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, header};
use posthaste_cache::Cache;
use posthaste_model::{Clock, Millis};
use posthaste_store::Store;

/// No host name is longer (RFC 1035, section 2.3.4).
const LONGEST: usize = 253;

/// Which hosts are branded, as this process knows for ten seconds.
#[derive(Clone, Debug, Default)]
pub struct KnownHosts(Arc<Cache<String, bool>>);

impl KnownHosts {
    /// Whether a link that was made with `made` (its own host, or none) works for a request with these headers. Where the
    /// table does not answer it works, because a mail's links must, and no caller chooses that moment.
    pub(crate) async fn permit(
        &self,
        store: &Store,
        clock: &Clock,
        (made, headers): (Option<&str>, &HeaderMap),
    ) -> bool {
        for host in hosts(headers) {
            if made == Some(host.as_str()) {
                continue;
            }
            if self.is_branded(store, host, clock.now_ms()).await {
                return false;
            }
        }
        true
    }

    async fn is_branded(&self, store: &Store, host: String, now: Millis) -> bool {
        if let Some(known) = self.0.get(&host, now) {
            return known;
        }
        match store.is_branded(&host).await {
            Ok(is_branded) => {
                self.0.put(host, is_branded, now);
                is_branded
            }
            Err(error) => {
                tracing::error!(error = %error, "a link is followed without a look at its host: {error}");
                false
            }
        }
    }
}

/// The hosts that a request names, in lower case and without a port: the one that it came for, and the one that a proxy
/// was asked for. Only the reader's own program can set the latter, not the maker of a link.
fn hosts(headers: &HeaderMap) -> impl Iterator<Item = String> {
    let names = [header::HOST, HeaderName::from_static("x-forwarded-host")];
    names.into_iter().filter_map(|name| {
        let text = headers.get(name)?.to_str().ok()?;
        // Several proxies each add one: the first was asked by the reader.
        let first = text.split(',').next()?.trim();
        // An address in brackets is no name.
        if first.starts_with('[') {
            return None;
        }
        let host = first.split_once(':').map_or(first, |(host, _)| host);
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        (!host.is_empty() && host.len() <= LONGEST).then_some(host)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_its_host_and_that_of_its_proxy() {
        for (own, forwarded, want) in [
            ("Links.Example", None, vec!["links.example"]),
            ("links.example.:443", None, vec!["links.example"]),
            (
                "127.0.0.1:3000",
                Some("a.example, b.example"),
                vec!["127.0.0.1", "a.example"],
            ),
            ("[::1]:3000", Some(""), vec![]),
            ("", None, vec![]),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, own.parse().unwrap());
            if let Some(forwarded) = forwarded {
                headers.insert("x-forwarded-host", forwarded.parse().unwrap());
            }
            assert_eq!(hosts(&headers).collect::<Vec<_>>(), want, "{own}");
        }
    }
}
