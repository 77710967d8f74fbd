//! The scopes a key may be given: never more than the creating key holds.
//!
//! Omitting the scopes grants Full Access; a list makes a restricted key, or a billing key when it
//! contains only billing scopes (API facts, section 1: a key has billing scopes or others, never
//! both).
//!
//! The "admin" set of some clients is the whole published list, billing included, and is meant as
//! Full Access, which leaves billing out (API facts, appendix B; SPEC, "Authentication"). So does the
//! key made of it. Any other mixture is refused.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use posthaste_http::Rejection;
use posthaste_model::{Problem, Problems, scope};
use posthaste_store::{ApiKey, KeyKind};

/// More names than there are scopes.
const MOST: usize = 1_000;

/// The scopes a key will hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) kind: KeyKind,
    pub(crate) scopes: Vec<String>,
}

impl Grant {
    /// The grant when no scopes are named: everything the creating key holds.
    pub(crate) fn of_maker(maker: &ApiKey) -> Self {
        Self {
            kind: maker.kind,
            // A session of the console reads bills besides, which no key with other scopes does.
            scopes: match maker.kind {
                KeyKind::Full => Vec::new(),
                KeyKind::Restricted | KeyKind::Billing => maker.scopes.clone(),
            },
        }
    }

    /// The grant for a list of scopes.
    ///
    /// # Errors
    /// 400 for an invalid list, 403 for one that exceeds the creating key.
    pub(crate) fn named(maker: &ApiKey, names: &[String]) -> Result<Self, Rejection> {
        let mut found = Problems::default();
        check_names(names, &mut found);
        found.into_result()?;
        let is_admin_set = is_admin_set(names);
        let is_granted = |name: &str| !(is_admin_set && scope::is_billing(name));
        let beyond = |name: &str| is_granted(name) && !may_grant(maker, name);
        let beyond = (0..).zip(names).filter(|(_, name)| beyond(name));
        let beyond: Vec<_> = beyond
            .map(|(i, name)| {
                let message = format!("your own key does not hold {name}");
                Problem::on(format!("scopes.{i}"), message)
            })
            .collect();
        if !beyond.is_empty() {
            return Err(Rejection::all(StatusCode::FORBIDDEN, beyond));
        }
        let granted = names.iter().filter(|name| is_granted(name));
        let mut scopes: Vec<String> = granted.cloned().collect();
        scopes.sort_unstable();
        scopes.dedup();
        let billing = scopes.iter().any(|name| scope::is_billing(name));
        let kind = if billing {
            KeyKind::Billing
        } else {
            KeyKind::Restricted
        };
        Ok(Self { kind, scopes })
    }
}

/// A key grants what it holds. Marks grant nothing; and a Full Access key, which leaves address
/// validation out, is the only one that could give a key for it.
fn may_grant(maker: &ApiKey, name: &str) -> bool {
    let validation = maker.kind == KeyKind::Full && scope::is_validation(name);
    maker.holds(name) || scope::is_mark(name) || validation
}

/// Whether a list names everything that the published one calls "admin" (API facts, appendix B).
fn is_admin_set(names: &[String]) -> bool {
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let is_extra = |name: &str| name.starts_with("credentials.") || name == "user.timezone.update";
    let mut admin = scope::ALL.iter().filter(|name| !is_extra(name));
    admin.all(|name| names.contains(name))
}

/// Reports what is wrong with a list of scopes, whatever key names it.
pub(crate) fn check_names(names: &[String], found: &mut Problems) {
    if names.is_empty() {
        found.add("scopes", "name at least one scope");
    }
    if names.len() > MOST {
        return found.add("scopes", format!("name at most {MOST} scopes"));
    }
    for (i, name) in names.iter().enumerate() {
        let field = format!("scopes.{i}");
        found.unless(scope::is_known(name), &field, "there is no such scope");
    }
    let is_billing = |name: &&String| scope::is_billing(name);
    let billing: Vec<_> = names
        .iter()
        .filter(is_billing)
        .map(String::as_str)
        .collect();
    let is_mixed = !billing.is_empty() && billing.len() < names.len();
    if is_mixed && !is_admin_set(names) {
        let message = format!(
            "a key holds billing scopes or others, never both: leave out {}",
            billing.join(", ")
        );
        found.add("scopes", message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_model::{AccountId, KeyId, Timestamp};

    fn maker(kind: KeyKind, scopes: &[&str]) -> ApiKey {
        ApiKey {
            id: KeyId::from_bytes([1; 16]),
            account: AccountId::from_bytes([1; 10]),
            name: "maker".to_owned(),
            kind,
            scopes: scopes.iter().map(|&name| name.to_owned()).collect(),
            hash: String::new(),
            created_at: Timestamp(0),
            is_test: false,
            used_at: None,
        }
    }

    fn named(maker: &ApiKey, names: &[&str]) -> Result<Grant, (u16, Vec<Option<String>>)> {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        Grant::named(maker, &names).map_err(|e| {
            let fields = e.problems.into_iter().map(|p| p.field).collect();
            (e.status.as_u16(), fields)
        })
    }

    fn on(field: &str) -> Vec<Option<String>> {
        vec![Some(field.to_owned())]
    }

    #[test]
    fn a_full_key_grants_every_scope_but_billing() {
        let full = maker(KeyKind::Full, &[]);
        for name in scope::ALL.iter().chain(&scope::EXTRA) {
            let got = named(&full, &[name]);
            if scope::is_billing(name) {
                assert_eq!(got, Err((403, on("scopes.0"))), "{name}");
            } else {
                assert_eq!(
                    got.map(|grant| grant.kind),
                    Ok(KeyKind::Restricted),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn a_restricted_key_grants_by_the_names_it_holds() {
        // What another name opens is not given on under that name.
        let few = maker(KeyKind::Restricted, &["asm.groups.suppressions.read"]);
        let refused = named(&few, &["asm.suppressions.read"]);
        assert_eq!(refused, Err((403, on("scopes.0"))));
        let refused = named(&few, &["validations.email.create"]);
        assert_eq!(refused, Err((403, on("scopes.0"))));
    }

    #[test]
    fn a_restricted_key_grants_what_it_holds() {
        let few = maker(KeyKind::Restricted, &["api_keys.create", "mail.send"]);
        let grant = named(&few, &["mail.send", "mail.send"]).unwrap();
        assert_eq!(grant.scopes, ["mail.send"]);
        let refused = named(&few, &["mail.send", "templates.read", "alerts.read"]);
        let both = [on("scopes.1"), on("scopes.2")].concat();
        assert_eq!(refused, Err((403, both)));
        assert_eq!(Grant::of_maker(&few).scopes, few.scopes);
        assert_eq!(Grant::of_maker(&few).kind, KeyKind::Restricted);
    }

    #[test]
    fn a_billing_key_grants_billing_alone() {
        let billing = maker(KeyKind::Billing, &["billing.read", "billing.update"]);
        let grant = named(&billing, &["billing.read"]).unwrap();
        assert_eq!(grant.kind, KeyKind::Billing);
        let refused = named(&billing, &["billing.delete"]);
        assert_eq!(refused, Err((403, on("scopes.0"))));
        let mixed = named(&billing, &["billing.read", "mail.send"]);
        assert_eq!(mixed, Err((400, on("scopes"))));
    }

    #[test]
    fn the_admin_set_of_a_client_is_granted_without_billing() {
        let full = maker(KeyKind::Full, &[]);
        let all = scope::ALL.to_vec();
        let without = |begin: &str| -> Vec<&str> {
            let rest = all.iter().filter(|name| !name.starts_with(begin));
            rest.copied().collect()
        };
        let grant = named(&full, &all).unwrap();
        assert_eq!(grant.kind, KeyKind::Restricted);
        assert_eq!(grant.scopes, without("billing."));
        assert!(named(&full, &without("credentials.")).is_ok());
        // A list that leaves anything else out was put together by hand.
        for begin in ["mail.send", "billing.read", "user.timezone.read"] {
            assert_eq!(named(&full, &without(begin)), Err((400, on("scopes"))));
        }
        let few = maker(KeyKind::Restricted, &["mail.send"]);
        let (status, fields) = named(&few, &all).unwrap_err();
        assert_eq!((status, fields.len()), (403, all.len() - 4 - 1));
    }

    #[test]
    fn a_list_that_makes_no_sense_is_refused_before_anything_else() {
        let full = maker(KeyKind::Full, &[]);
        assert_eq!(named(&full, &[]), Err((400, on("scopes"))));
        assert_eq!(named(&full, &["mail.send"; 1001]), Err((400, on("scopes"))));
        for bad in ["", "mail", "MAIL.SEND", "mail.send ", "admin", "*"] {
            assert_eq!(named(&full, &[bad]), Err((400, on("scopes.0"))), "{bad:?}");
        }
    }

    #[test]
    fn marks_of_the_service_are_taken_from_everybody() {
        let few = maker(KeyKind::Restricted, &["mail.send"]);
        let names = ["2fa_required", "mail.send", "sender_verification_eligible"];
        assert_eq!(named(&few, &names).unwrap().scopes, names);
    }
}
