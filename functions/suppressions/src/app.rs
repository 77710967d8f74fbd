//! What the function works with.

use posthaste_dns::Resolver;
use posthaste_http::{Caller, Rejection};
use posthaste_model::{Clock, EmailAddress, Problems};
use posthaste_runtime::{Error, Platform};
use posthaste_store::{Group, Store};

/// So many addresses may be named in one request.
pub const MOST: usize = 1_000;

/// Everything the handlers need.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub clock: Clock,
    /// Looks up the domains of addresses; none on a host that asks no DNS.
    pub resolver: Option<Resolver>,
}

/// What looks up the domains of addresses on the local host.
#[derive(Clone)]
pub struct AddressDns(pub Option<Resolver>);

impl App {
    /// Reads `TABLE_NAME`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            clock: platform.clock(),
            resolver: match platform.part::<AddressDns>() {
                Some(AddressDns(resolver)) => resolver,
                None => Some(Resolver::system()?),
            },
        })
    }

    /// The group with this id; 404 when the account has none.
    pub(crate) async fn group(&self, caller: &Caller, id: &str) -> Result<Group, Rejection> {
        let found = self.store.group(caller.id(), number(id)?).await?;
        found.ok_or_else(Rejection::not_found)
    }
}

/// The id of a group; what is no number names no group.
pub(crate) fn number(id: &str) -> Result<i64, Rejection> {
    id.parse().map_err(|_| Rejection::not_found())
}

/// An address of a path, as it compares. What is no address is on no list either: it becomes a
/// text that no address has, short enough for a key.
pub(crate) fn folded(email: &str) -> String {
    match EmailAddress::parse_stored(email) {
        Ok(address) => address.folded(),
        Err(_) => format!(" {}", email.chars().take(200).collect::<String>()),
    }
}

/// The addresses of a body, as they compare; every one that is none is named.
pub(crate) fn addresses(field: &str, emails: Option<&[String]>) -> Result<Vec<String>, Rejection> {
    let emails = emails.unwrap_or_default();
    let mut found = Problems::default();
    found.unless(!emails.is_empty(), field, &format!("{field} is required"));
    let few = emails.len() <= MOST;
    found.unless(few, field, &format!("at most {MOST} addresses at a time"));
    let mut folded = Vec::with_capacity(emails.len());
    for (i, email) in emails.iter().enumerate().take(MOST) {
        match EmailAddress::parse_stored(email) {
            Ok(address) => folded.push(address.folded()),
            Err(_) => found.add(format!("{field}.{i}"), "invalid email address"),
        }
    }
    found.into_result()?;
    folded.sort_unstable();
    folded.dedup();
    Ok(folded)
}
