//! `POST /v3/whitelabel/domains/{id}/validate`: checks the published records.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, PathParams, Rejection};
use posthaste_identity::{RecordCheck, check};
use posthaste_mailer::Ses;
use posthaste_model::Record;
use posthaste_store::Domain;

use crate::App;
use crate::wire::{Result as Shown, Validated};

/// Why a record that was found is not valid yet.
const UNCONFIRMED: &str =
    "SES has the key and has not confirmed it yet, which takes some minutes: validate again then";

/// Looks the records up and stores the result. With SES as the relay the domain is valid once SES
/// has confirmed it too.
pub(crate) async fn validate(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<Validated>, Rejection> {
    let domain = app.domain(&caller, &id).await?;
    let mut checks = look_up(&app, &domain.records).await?;
    let now = app.clock.now();
    let mut given_to_ses = domain.given_to_ses;
    if let Some(ses) = &app.ses
        && checks.iter().all(|check| check.reason.is_none())
    {
        match ask_ses(&app, ses, &domain).await? {
            SesAnswer::Confirmed => {}
            SesAnswer::Given => {
                given_to_ses = Some(now);
                unconfirmed(&mut checks);
            }
            SesAnswer::Pending => unconfirmed(&mut checks),
        }
    }
    let keep = |domain: &mut Domain| {
        domain.checked_at = Some(now);
        domain.given_to_ses = given_to_ses;
        for record in &mut domain.records {
            let check = checks.iter().find(|v| v.name == record.name);
            record.valid = check.is_some_and(|v| v.reason.is_none());
        }
    };
    let kept = app
        .store
        .update_domain(caller.id(), domain.id, keep)
        .await?;
    let kept = kept.ok_or_else(Rejection::not_found)?;
    let spf = spf(&checks);
    Ok(Json(Validated {
        id: kept.id,
        valid: kept.is_valid(),
        validation_results: results(checks.into_iter().chain(spf)),
    }))
}

/// What was found of each record, as the API shows it.
pub(crate) fn results(checks: impl Iterator<Item = RecordCheck>) -> BTreeMap<String, Shown> {
    let shown = |check: RecordCheck| {
        let RecordCheck { name, reason } = check;
        let valid = reason.is_none();
        (name, Shown { valid, reason })
    };
    checks.map(shown).collect()
}

/// What the records say about SPF, under the name that clients look for (API facts 1, "Domains").
/// An alias includes the SPF record, which is then as good as the alias. A domain without automatic
/// security has two records for it, and the first that is wrong counts.
fn spf(checks: &[RecordCheck]) -> Option<RecordCheck> {
    let about = |check: &&RecordCheck| {
        ["mail_cname", "subdomain_spf", "domain_spf"].contains(&check.name.as_str())
    };
    let mut of_spf = checks.iter().filter(about).peekable();
    of_spf.peek()?;
    Some(RecordCheck {
        name: "spf".to_owned(),
        reason: of_spf.find_map(|check| check.reason.clone()),
    })
}

/// What SES says of a domain whose records were just found.
enum SesAnswer {
    /// It accepts mail of the domain, and has found the key in the DNS.
    Confirmed,
    /// It was just given the key.
    Given,
    /// It has the key, and has not found it yet.
    Pending,
}

/// Gives SES the key once, and then asks whether it has confirmed it: a key that is given again is
/// looked up from the beginning, and SES takes one such call a second.
async fn ask_ses(app: &App, ses: &Ses, domain: &Domain) -> Result<SesAnswer, Rejection> {
    if domain.given_to_ses.is_none() && !domain.is_valid() {
        hand_key(app, ses, domain).await?;
        return Ok(SesAnswer::Given);
    }
    let known = ses.domain(&domain.domain).await;
    let known = known.map_err(|e| Rejection::unavailable(&e))?;
    let accepts = known.as_ref().is_some_and(|known| known.verified);
    match known.as_ref().map_or("NOT_STARTED", |known| &known.dkim) {
        // SES gives up after 72 hours.
        "NOT_STARTED" | "FAILED" => {
            hand_key(app, ses, domain).await?;
            Ok(SesAnswer::Given)
        }
        // A look-up that fails for now takes nothing back.
        "SUCCESS" | "TEMPORARY_FAILURE" if accepts => Ok(SesAnswer::Confirmed),
        _ => Ok(SesAnswer::Pending),
    }
}

/// The record of the key that signs is not valid before SES says so.
fn unconfirmed(checks: &mut [RecordCheck]) {
    for check in checks {
        if ["dkim1", "dkim"].contains(&check.name.as_str()) {
            check.reason = Some(UNCONFIRMED.to_owned());
        }
    }
}

/// Gives SES the key of a domain whose records were just found. Not before: SES has one key for a
/// domain, whichever account added it, and only the owner of the zone can publish ours. The key
/// stays when the domain is deleted, for another account may have verified it too.
async fn hand_key(app: &App, ses: &Ses, domain: &Domain) -> Result<(), Rejection> {
    let Some(key) = domain.keys.first() else {
        return Ok(());
    };
    let place = posthaste_identity::place(&domain.account, domain.id, &key.selector);
    let private = app.sealer.open(&place, &key.private);
    let private = private.map_err(|e| Rejection::internal(&e))?;
    let added = ses
        .add_domain(&domain.domain, &key.selector, &private)
        .await;
    added.map_err(|e| Rejection::unavailable(&e))
}

pub(crate) async fn look_up(app: &App, records: &[Record]) -> Result<Vec<RecordCheck>, Rejection> {
    if app.trusting {
        let sound = |record: &Record| RecordCheck {
            name: record.name.clone(),
            reason: None,
        };
        return Ok(records.iter().map(sound).collect());
    }
    check(&app.resolver, records).await.map_err(|error| {
        tracing::warn!(%error, "records could not be looked up: {error}");
        let message = format!("internal error getting {}", error.kind);
        Rejection::plain(StatusCode::INTERNAL_SERVER_ERROR, message)
    })
}
