//! The rules of SPEC.md, "POST /v3/user/webhooks/parse/settings".

use posthaste_http::{Caller, Rejection};
use posthaste_model::{EmailAddress, Patch, PolicyId, Problems};
use posthaste_webhook::{Guard, UrlProblem, check_url};
use serde::Deserialize;

use crate::App;

/// The body of a create or an update; every field may be left out, or be `null`.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct SettingRequest {
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) url: Patch<String>,
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) hostname: Patch<String>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub(crate) spam_check: Patch<bool>,
    #[cfg_attr(test, schemars(with = "bool"))]
    pub(crate) send_raw: Patch<bool>,
    /// The id of a security policy; `null` detaches the one there is.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(crate) security_policy: Patch<String>,
}

/// What the answer says of a policy that the account does not have.
pub(crate) const NO_POLICY: &str = "security_policy must be the id of a security policy";

/// The policy that a body attaches; `null` and the empty text detach.
pub(crate) fn check_policy(wanted: &Patch<String>, found: &mut Problems) -> Patch<PolicyId> {
    match wanted {
        Patch::Keep => Patch::Keep,
        Patch::Clear => Patch::Clear,
        Patch::Set(text) if text.is_empty() => Patch::Clear,
        Patch::Set(text) => match PolicyId::parse(text) {
            Ok(id) => Patch::Set(id),
            Err(_) => {
                found.add("security_policy", NO_POLICY);
                Patch::Keep
            }
        },
    }
}

/// A URL as it was written, and as it is posted to.
pub(crate) struct Target {
    pub(crate) url: String,
    pub(crate) target: String,
}

/// The hostname in lower-case A-labels, if it is one.
pub(crate) fn hostname(text: &str) -> Option<String> {
    // The same rule as for the domain of an address, because that is what it will be.
    let address = EmailAddress::parse(&format!("any@{}", text.trim().trim_end_matches('.')));
    address.ok().map(|address| address.ascii_domain())
}

/// A hostname that mail may be received for: it is, or lies under, an authenticated domain.
pub(crate) async fn check_hostname(
    app: &App,
    caller: &Caller,
    wanted: &Patch<String>,
    found: &mut Problems,
) -> Result<String, Rejection> {
    let Patch::Set(text) = wanted else {
        found.add("hostname", "missing required argument");
        return Ok(String::new());
    };
    let Some(name) = hostname(text) else {
        found.add("hostname", "hostname must be a domain or subdomain");
        return Ok(String::new());
    };
    if app.store.valid_domain(caller.id(), &name).await?.is_none() {
        found.add(
            "hostname",
            "hostname must match a domain authenticated on your account",
        );
    }
    Ok(name)
}

pub(crate) fn check_target(guard: &Guard, url: &str, found: &mut Problems) -> Option<Target> {
    match check_url(url, guard) {
        Ok(target) => Some(Target {
            url: url.to_owned(),
            target: target.into(),
        }),
        Err(problem) => {
            found.add("url", url_message("url", &problem));
            None
        }
    }
}

/// What is wrong with the URL in a field.
pub(crate) fn url_message(field: &str, problem: &UrlProblem) -> String {
    match problem {
        UrlProblem::TooLong(_) => problem.to_string(),
        UrlProblem::Port(_) | UrlProblem::Address(_) => {
            format!("{field} is not a valid url: {problem}")
        }
        UrlProblem::Blank | UrlProblem::Unreadable | UrlProblem::Scheme | UrlProblem::NoHost => {
            format!("{field} is not a valid url")
        }
    }
}

/// A flag that was sent must be a boolean.
pub(crate) fn check_flag(name: &str, flag: &Patch<bool>, found: &mut Problems) {
    found.unless(
        *flag != Patch::Clear,
        name,
        &format!("{name} must be a boolean"),
    );
}
