//! Whom an account may send as: its authenticated domains and verified senders.

use std::sync::Arc;

use axum::http::StatusCode;
use posthaste_cache::Cache;
use posthaste_http::{Caller, Rejection};
use posthaste_model::{AccountId, EmailAddress, Mail, Problem};

use crate::App;

/// The text of API facts 2.1: clients look for it.
const MISMATCH: &str = "The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved. Visit https://sendgrid.com/docs/for-developers/sending-email/sender-identity/ to see the Sender Identity requirements";

/// Which senders are accepted.
#[derive(Clone, Debug)]
pub enum Senders {
    /// Any sender: for local development, where a domain cannot be verified.
    Any,
    /// Only verified senders; results are cached for a few seconds.
    Proven(Arc<Cache<(AccountId, String), ()>>),
}

impl Senders {
    /// Only verified senders.
    pub fn proven() -> Self {
        Self::Proven(Arc::default())
    }
}

/// Rejects a mail with an unverified sender, even in a single envelope. The first one is named.
pub(crate) async fn check(app: &App, caller: &Caller, mail: &Mail) -> Result<(), Rejection> {
    let Senders::Proven(known) = &app.senders else {
        return Ok(());
    };
    let own = mail.personalizations.iter().enumerate();
    let own =
        own.filter_map(|(i, p)| Some((format!("personalizations.{i}.from"), p.from.as_ref()?)));
    let all = std::iter::once(("from".to_owned(), &mail.from)).chain(own);
    for (field, mailbox) in all {
        if !is_proven(app, known, caller.id(), &mailbox.email).await? {
            let problem = Problem::on(field, MISMATCH);
            return Err(Rejection::all(StatusCode::FORBIDDEN, vec![problem]));
        }
    }
    Ok(())
}

async fn is_proven(
    app: &App,
    known: &Cache<(AccountId, String), ()>,
    account: &AccountId,
    address: &EmailAddress,
) -> Result<bool, Rejection> {
    let (asked, now) = ((account.clone(), address.folded()), app.clock.now_ms());
    if known.get(&asked, now).is_some() {
        return Ok(true);
    }
    let proven = app.store.standing(account, address).await?.is_some();
    if proven {
        known.put(asked, (), now);
    }
    Ok(proven)
}
