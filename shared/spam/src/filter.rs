//! The choice of a spam filter, and its calls.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use posthaste_model::is_server_name;
use url::{Host, Url};

use crate::score::{SpamError, SpamScore};
use crate::{rspamd, spamd};

/// Mails above this many bytes are not scored, as in spamc: spam is small, and a filter's time
/// grows with the mail.
pub const LARGEST: usize = 2 * 1024 * 1024;

const TIMEOUT: Duration = Duration::from_secs(10);

/// A spam filter, from a URL. Cheap to clone.
///
/// `spamd://host[:783]`, `rspamd://host[:11333]`, or rspamd's own `http://` or `https://` address.
/// `?threshold=5.5` replaces the filter's own threshold, `?timeout=10` are the seconds to wait.
/// Does not print the URL, which may hold a password.
#[derive(Clone)]
pub struct Filter {
    kind: FilterKind,
    threshold: Option<f64>,
    timeout: Duration,
}

#[derive(Clone)]
enum FilterKind {
    Spamd { address: String },
    Rspamd { client: reqwest::Client, url: Url },
}

/// Why a URL is not a filter's. The URL is not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFilter {
    #[error("a spam filter is spamd://host, rspamd://host, http://host or https://host")]
    Form,
    #[error("the spam filter's host is not an ASCII host name or an IP address")]
    Host,
    #[error("the spam filter's port is 0")]
    Port,
    #[error("spamd:// takes no user, no password and no path")]
    Spamd,
    #[error(
        "the spam filter's parameters are threshold and timeout, each once and a positive number"
    )]
    Parameter,
    #[error("TLS for the spam filter cannot be set up")]
    Tls,
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            FilterKind::Spamd { .. } => "Filter(spamd)",
            FilterKind::Rspamd { .. } => "Filter(rspamd)",
        })
    }
}

impl FromStr for Filter {
    type Err = InvalidFilter;

    fn from_str(text: &str) -> Result<Self, InvalidFilter> {
        Self::parse(text)
    }
}

impl Filter {
    /// Reads a filter's URL; connects to nothing.
    pub fn parse(text: &str) -> Result<Self, InvalidFilter> {
        let text = text.trim();
        // The parser drops tabs and line ends within a URL.
        if text.contains(char::is_control) {
            return Err(InvalidFilter::Form);
        }
        let mut url = Url::parse(text).map_err(|_| InvalidFilter::Form)?;
        let host = host(&url)?;
        if url.port() == Some(0) {
            return Err(InvalidFilter::Port);
        }
        let (threshold, timeout) = parameters(&url)?;
        url.set_query(None);
        url.set_fragment(None);
        let kind = match url.scheme() {
            "spamd" => {
                let is_bare = url.username().is_empty() && url.password().is_none();
                if !is_bare || !matches!(url.path(), "" | "/") {
                    return Err(InvalidFilter::Spamd);
                }
                let port = url.port().unwrap_or(spamd::PORT);
                FilterKind::Spamd {
                    address: format!("{host}:{port}"),
                }
            }
            "rspamd" => {
                let port = url.port().unwrap_or(rspamd::PORT);
                let plain = format!("http://{host}:{port}/");
                let mut plain = Url::parse(&plain).map_err(|_| InvalidFilter::Form)?;
                let _ = plain.set_username(url.username());
                let _ = plain.set_password(url.password());
                rspamd(plain)?
            }
            "http" | "https" => rspamd(url)?,
            _ => return Err(InvalidFilter::Form),
        };
        Ok(Self {
            kind,
            threshold,
            timeout,
        })
    }

    /// Sends a whole mail to the filter.
    ///
    /// # Errors
    /// When the mail is too large or the filter gives no verdict in time.
    pub async fn score(&self, mail: &[u8]) -> Result<SpamScore, SpamError> {
        if mail.len() > LARGEST {
            return Err(SpamError::TooLarge);
        }
        let answer = async {
            match &self.kind {
                FilterKind::Spamd { address } => spamd::score(address, mail).await,
                FilterKind::Rspamd { client, url } => rspamd::score(client, url, mail).await,
            }
        };
        let verdict = tokio::time::timeout(self.timeout, answer).await;
        let mut verdict = verdict.map_err(|_| SpamError::Timeout)??;
        if let Some(threshold) = self.threshold {
            verdict.threshold = threshold;
        }
        Ok(verdict)
    }
}

/// The host as an address holds it; a name that is not ASCII would only fail when a mail arrives.
fn host(url: &Url) -> Result<String, InvalidFilter> {
    let host = url.host().ok_or(InvalidFilter::Form)?;
    match &host {
        Host::Domain("") => Err(InvalidFilter::Form),
        Host::Domain(name) if !is_server_name(name.strip_suffix('.').unwrap_or(name)) => {
            Err(InvalidFilter::Host)
        }
        Host::Domain(_) | Host::Ipv4(_) | Host::Ipv6(_) => Ok(host.to_string()),
    }
}

fn rspamd(mut url: Url) -> Result<FilterKind, InvalidFilter> {
    if url.path() == "/" {
        url.set_path("/checkv2");
    }
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build();
    let client = client.map_err(|_| InvalidFilter::Tls)?;
    Ok(FilterKind::Rspamd { client, url })
}

fn parameters(url: &Url) -> Result<(Option<f64>, Duration), InvalidFilter> {
    let (mut threshold, mut timeout) = (None, None);
    for (name, value) in url.query_pairs() {
        let number: f64 = value.parse().map_err(|_| InvalidFilter::Parameter)?;
        if !number.is_finite() || number <= 0.0 {
            return Err(InvalidFilter::Parameter);
        }
        let is_first = match &*name {
            "threshold" => threshold.replace(number).is_none(),
            "timeout" => {
                let wait = Duration::try_from_secs_f64(number);
                let wait = wait.map_err(|_| InvalidFilter::Parameter)?;
                timeout.replace(wait).is_none()
            }
            _ => false,
        };
        if !is_first {
            return Err(InvalidFilter::Parameter);
        }
    }
    Ok((threshold, timeout.unwrap_or(TIMEOUT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_no_filter_is_refused() {
        for good in [
            "spamd://127.0.0.1",
            "spamd://[::1]:7830?threshold=6",
            "rspamd://user:pass@filter.example",
            "https://filter.example/rspamd/checkv2?timeout=2.5&threshold=15",
        ] {
            assert!(Filter::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "127.0.0.1:783", "spamd://", "smtp://filter.example"] {
            assert_eq!(Filter::parse(bad).err(), Some(InvalidFilter::Form), "{bad}");
        }
        for (bad, why) in [
            ("spamd://m\u{e4}il", InvalidFilter::Host),
            ("spamd://-", InvalidFilter::Host),
            ("rspamd://filter..example", InvalidFilter::Host),
            ("spamd://filter.example:0", InvalidFilter::Port),
            ("spamd://user@filter.example", InvalidFilter::Spamd),
            ("spamd://filter.example/path", InvalidFilter::Spamd),
            ("spamd://filter\n.example", InvalidFilter::Form),
        ] {
            assert_eq!(Filter::parse(bad).err(), Some(why), "{bad}");
        }
        for bad in [
            "threshold=5&threshold=6",
            "timeout=5&timeout=5",
            "threshold=x",
            "threshold=-1",
            "timeout=0",
            "timeout=inf",
            "size=3",
        ] {
            let url = format!("spamd://localhost?{bad}");
            assert_eq!(
                Filter::parse(&url).err(),
                Some(InvalidFilter::Parameter),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_filter_prints_no_secret() {
        let filter = Filter::parse("rspamd://user:pass@filter.example").expect("a filter");
        assert_eq!(format!("{filter:?}"), "Filter(rspamd)");
    }
}
