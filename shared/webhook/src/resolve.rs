//! Resolves names to addresses, and checks each of them before a connection.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::{Guard, Refusal};

/// The most addresses of one name that are tried.
const MOST_ADDRESSES: usize = 8;

type Lookup = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Resolves a host name: with the system's resolver, or a test's function.
#[derive(Clone)]
pub struct Names(Arc<dyn Fn(String) -> Lookup + Send + Sync>);

impl Names {
    /// Uses the operating system's resolver.
    pub fn system() -> Self {
        Self::new(|host| async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|socket| socket.ip()).collect())
        })
    }

    /// Wraps a function that resolves a host name. It is called for every connection.
    pub fn new<F>(look_up: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        Self(Arc::new(move |host| Box::pin(look_up(host))))
    }
}

/// The resolver of the HTTP client: it returns only addresses that passed the guard, and the client
/// connects to no others. So a name that changes between two look-ups gains nothing.
pub(crate) struct Judged {
    pub(crate) names: Names,
    pub(crate) guard: Arc<Guard>,
}

impl Resolve for Judged {
    fn resolve(&self, name: Name) -> Resolving {
        let lookup = (self.names.0)(name.as_str().to_owned());
        let guard = self.guard.clone();
        Box::pin(async move {
            let passed = sift(&guard, &lookup.await?)?;
            let sockets = passed.into_iter().map(|ip| SocketAddr::new(ip, 0));
            Ok(Box::new(sockets) as Addrs)
        })
    }
}

/// The permitted addresses; a refusal when there are some and none is permitted.
fn sift(guard: &Guard, found: &[IpAddr]) -> Result<Vec<IpAddr>, Refusal> {
    let mut refused = None;
    let mut passed = Vec::new();
    for address in found {
        match guard.judge(*address) {
            Ok(()) => passed.push(*address),
            Err(refusal) => refused = refused.or(Some(refusal)),
        }
    }
    passed.truncate(MOST_ADDRESSES);
    match refused {
        Some(refusal) if passed.is_empty() => Err(refusal),
        Some(_) | None => Ok(passed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Why;

    fn ips(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn only_permitted_addresses_of_a_name_are_dialled() {
        let guard = Guard::default();
        for (found, want) in [
            (vec![], Ok(vec![])),
            (vec!["8.8.8.8"], Ok(vec!["8.8.8.8"])),
            (vec!["10.0.0.1", "8.8.8.8", "::1"], Ok(vec!["8.8.8.8"])),
            (vec!["10.0.0.1", "::1"], Err(Why::Private)),
            (vec!["::ffff:127.0.0.1"], Err(Why::Loopback)),
        ] {
            let sifted = sift(&guard, &ips(&found)).map_err(|refusal| refusal.why);
            assert_eq!(sifted, want.map(|texts| ips(&texts)), "{found:?}");
        }
    }

    #[test]
    fn a_name_with_a_thousand_addresses_costs_a_few_attempts() {
        let many = vec!["8.8.8.8".parse().unwrap(); 1000];
        assert_eq!(
            sift(&Guard::default(), &many).unwrap().len(),
            MOST_ADDRESSES
        );
    }
}
