//! The link in the greeting that signs in to the console.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use posthaste_model::AccountId;
use posthaste_store::{ConsoleToken, Store, StoreError};

use crate::start::HostSettings;

/// The address at which a browser on this machine reaches the API. One that listens everywhere is reached at loopback,
/// where a session may be used without HTTPS.
pub(crate) fn base(api: SocketAddr, https: bool) -> String {
    let scheme = if https { "https" } else { "http" };
    let ip = match api.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("{scheme}://{}", SocketAddr::new(ip, api.port()))
}

/// A link of the first account, which opens one session; `None` when that account was deleted.
pub(crate) async fn make(
    settings: &HostSettings,
    store: &Store,
    account: &AccountId,
    base: &str,
) -> Result<Option<String>, StoreError> {
    if store.account(account).await?.is_none() {
        return Ok(None);
    }
    let token = ConsoleToken::generate(account, &settings.entropy);
    let now = settings.clock.now();
    store.create_sign_in_link(&token, now).await?;
    Ok(Some(token.link(base)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_listens_everywhere_is_reached_at_loopback() {
        for (api, https, want) in [
            ("127.0.0.1:3000", false, "http://127.0.0.1:3000"),
            ("0.0.0.0:3000", false, "http://127.0.0.1:3000"),
            ("[::]:3000", true, "https://[::1]:3000"),
            ("192.168.1.7:443", true, "https://192.168.1.7:443"),
        ] {
            assert_eq!(base(api.parse().unwrap(), https), want);
        }
    }
}
