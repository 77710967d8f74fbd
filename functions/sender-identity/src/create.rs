//! `POST /v3/whitelabel/domains`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, Rejection};
use posthaste_identity::{KeyPair, RecordPlan, records};
use posthaste_model::{AccountId, EmailAddress, Problems};
use posthaste_store::{DkimKey, Domain, Lent, Put};

use crate::domains::{is_ip, make_only_default};
use crate::wire::{CreateDomain, DomainView};
use crate::{App, lending};

/// Creates a domain and its two key pairs, and returns the records to publish.
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateDomain>,
) -> Result<(StatusCode, Json<DomainView>), Rejection> {
    let wanted = check(&app, body)?;
    let borrower = match wanted.username.as_deref().filter(|name| !name.is_empty()) {
        None => None,
        Some(name) if name == caller.account.username => None,
        Some(name) => Some(lending::borrower(&app.subuser(&caller, name).await?)),
    };
    let domain = make(&app, caller.id(), wanted).await?;
    if app.store.create_domain(&domain).await? == Put::Taken {
        return Err(Rejection::on(
            "domain",
            "the domain is on the account already",
        ));
    }
    if domain.default {
        make_only_default(&app, caller.id(), domain.id).await?;
    }
    let domain = match borrower {
        None => domain,
        Some(borrower) => match app
            .store
            .lend_domain(caller.id(), domain.id, &borrower)
            .await?
        {
            Lent::Done(domain) => *domain,
            Lent::Missing | Lent::Taken | Lent::Full => {
                app.store.delete_domain(caller.id(), domain.id).await?;
                return Err(lending::taken());
            }
        },
    };
    let (name, account) = (&domain.domain, caller.id());
    tracing::info!(account.id = %account, "domain {name} of account {account} created");
    Ok((
        StatusCode::CREATED,
        Json(DomainView::of(domain, &caller.account)),
    ))
}

/// A validated request.
struct DomainRequest {
    domain: String,
    subdomain: String,
    username: Option<String>,
    ips: Vec<String>,
    custom_spf: bool,
    default: bool,
    automatic: bool,
    selectors: [String; 2],
}

fn check(app: &App, body: CreateDomain) -> Result<DomainRequest, Rejection> {
    let mut found = Problems::default();
    let (domain, subdomain) = names(
        (body.domain.as_deref(), body.subdomain.as_deref()),
        || format!("em{}", 1_000 + app.entropy.below(9_000)),
        &mut found,
    );
    let ips = body.ips.unwrap_or_default();
    found.unless(
        ips.iter().all(|ip| is_ip(ip)),
        "ips",
        "ips must be IP addresses",
    );
    found.unless(ips.len() <= 100, "ips", "there is a limit of 100 ips");
    let selectors = selectors(body.custom_dkim_selector, &mut found);
    let region = body.region.as_deref().unwrap_or("global");
    found.unless(
        ["global", "eu"].contains(&region),
        "region",
        "region must be global or eu",
    );
    let (Some(domain), Some(subdomain), true) = (domain, subdomain, found.is_empty()) else {
        return Err(found.into());
    };
    Ok(DomainRequest {
        domain,
        subdomain,
        username: body.username,
        ips,
        custom_spf: body.custom_spf.unwrap_or_default(),
        default: body.default.unwrap_or_default(),
        automatic: body.automatic_security.unwrap_or(true),
        selectors,
    })
}

/// A domain and a subdomain of it as they were given, or the subdomain of `make`.
pub(crate) fn names(
    (domain, subdomain): (Option<&str>, Option<&str>),
    make: impl FnOnce() -> String,
    found: &mut Problems,
) -> (Option<String>, Option<String>) {
    let domain = match domain.map(str::trim).unwrap_or_default() {
        "" => {
            found.add("domain", "domain is required");
            None
        }
        name => {
            let name = host_name(name).filter(|name| name.contains('.') && name.len() <= 180);
            found.unless(
                name.is_some(),
                "domain",
                "domain is not a valid domain name",
            );
            name
        }
    };
    let subdomain = match subdomain.filter(|name| !name.is_empty()) {
        None => Some(make()),
        Some(name) => {
            let name = host_name(name).filter(|name| name.len() <= 63);
            found.unless(name.is_some(), "subdomain", "subdomain is not a valid name");
            name
        }
    };
    (domain, subdomain)
}

/// The caller's own selector and its sibling, or else `s1` and `s2`.
fn selectors(custom: Option<String>, found: &mut Problems) -> [String; 2] {
    let Some(custom) = custom.filter(|text| !text.is_empty()) else {
        return ["s1".to_owned(), "s2".to_owned()];
    };
    found.unless(
        custom.len() <= 3 && custom.bytes().all(|b| b.is_ascii_alphanumeric()),
        "custom_dkim_selector",
        "custom_dkim_selector must be 3 letters or digits",
    );
    let first = custom.to_ascii_lowercase();
    [first.clone(), format!("{first}2")]
}

/// A host name as lower-case A-labels.
fn host_name(text: &str) -> Option<String> {
    if text.contains('@') {
        return None;
    }
    let address = EmailAddress::parse(&format!("x@{text}")).ok()?;
    Some(address.ascii_domain())
}

async fn make(app: &App, account: &AccountId, wanted: DomainRequest) -> Result<Domain, Rejection> {
    let id = app.store.next_domain_id(account).await?;
    let [one, other] = &wanted.selectors;
    let (first, second) =
        tokio::try_join!(key(app, account, id, one), key(app, account, id, other),)?;
    let keys = vec![first, second];
    let shown: Vec<_> = keys
        .iter()
        .map(|key| (key.selector.as_str(), key.public.as_str()))
        .collect();
    let plan = RecordPlan {
        domain: &wanted.domain,
        subdomain: &wanted.subdomain,
        automatic: wanted.automatic,
        keys: &shown,
    };
    let mut records = records(&plan, &app.target);
    let now = app.clock.now();
    for record in &mut records {
        record.valid = app.trusting;
    }
    Ok(Domain {
        id,
        account: account.clone(),
        domain: wanted.domain,
        subdomain: wanted.subdomain,
        ips: wanted.ips,
        custom_spf: wanted.custom_spf,
        default: wanted.default,
        automatic_security: wanted.automatic,
        created_at: now,
        checked_at: None,
        given_to_ses: None,
        records,
        keys,
        subusers: Vec::new(),
    })
}

/// A new key pair with a sealed private key, generated off the request thread.
async fn key(
    app: &App,
    account: &AccountId,
    domain: i64,
    selector: &str,
) -> Result<DkimKey, Rejection> {
    let made = tokio::task::spawn_blocking(KeyPair::generate).await;
    let pair = made
        .map_err(|e| Rejection::internal(&e))?
        .map_err(|e| Rejection::internal(&e))?;
    let place = posthaste_identity::place(account, domain, selector);
    let sealed = app.sealer.seal(&app.entropy, &place, &pair.private);
    Ok(DkimKey {
        selector: selector.to_owned(),
        public: pair.public,
        private: sealed.map_err(|e| Rejection::internal(&e))?,
    })
}

#[cfg(test)]
mod tests {
    use super::host_name;

    #[test]
    fn a_domain_becomes_lower_case_a_labels() {
        let check =
            |text, want: Option<&str>| assert_eq!(host_name(text).as_deref(), want, "{text}");
        check("Example.COM", Some("example.com"));
        check("müller.de", Some("xn--mller-kva.de"));
        for bad in [
            "",
            "a@b.co",
            "exa mple.com",
            "-a.com",
            "a..b",
            "10.0.0.1",
            "a.com\r\n.b",
            "*.a.com",
        ] {
            check(bad, None);
        }
    }
}
