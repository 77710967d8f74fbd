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

/// Looks the records up and stores the result.
pub(crate) async fn validate(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<Validated>, Rejection> {
    let domain = app.domain(&caller, &id).await?;
    let checks = look_up(&app, &domain.records).await?;
    let now = app.clock.now();
    let keep = |domain: &mut Domain| {
        domain.checked_at = Some(now);
        for record in &mut domain.records {
            let check = checks.iter().find(|v| v.name == record.name);
            record.valid = check.is_some_and(|v| v.reason.is_none());
        }
    };
    if let Some(ses) = &app.ses
        && checks.iter().all(|check| check.reason.is_none())
    {
        hand_key(&app, ses, &domain).await?;
    }
    let kept = app
        .store
        .update_domain(caller.id(), domain.id, keep)
        .await?;
    let kept = kept.ok_or_else(Rejection::not_found)?;
    let spf = spf(&checks);
    let shown = |check: RecordCheck| {
        let RecordCheck { name, reason } = check;
        let valid = reason.is_none();
        (name, Shown { valid, reason })
    };
    let all = checks.into_iter().chain(spf).map(shown);
    Ok(Json(Validated {
        id: kept.id,
        valid: kept.is_valid(),
        validation_results: all.collect::<BTreeMap<_, _>>(),
    }))
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

async fn look_up(app: &App, records: &[Record]) -> Result<Vec<RecordCheck>, Rejection> {
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
