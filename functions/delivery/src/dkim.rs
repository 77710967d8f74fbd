//! The signature of the sender's domain, where the relay does not make it.

use std::fmt;
use std::sync::Arc;

use posthaste_http::Cache;
use posthaste_identity::{Signer, place};
use posthaste_model::{AccountId, EmailAddress};
use posthaste_store::{Domain, StoreError};
use posthaste_webhook::Sealer;

use crate::App;

/// What was found for an account and a sender's domain.
type Signers = Cache<(AccountId, String), Option<Arc<Signer>>>;

/// Opens the keys of domains and remembers them for a few seconds. That a sender has no domain is
/// remembered too: a mail that leaves in the seconds after its domain was proven may be unsigned.
#[derive(Clone)]
pub struct Dkim {
    sealer: Arc<Sealer>,
    known: Arc<Signers>,
}

impl fmt::Debug for Dkim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dkim(…)")
    }
}

impl Dkim {
    /// Opens keys with this sealer.
    pub fn new(sealer: Arc<Sealer>) -> Self {
        let known = Arc::default();
        Self { sealer, known }
    }

    /// The signer of a domain. A key that does not open leaves the mail unsigned and an operator
    /// told: the mail itself has done nothing wrong.
    fn signer(&self, domain: &Domain) -> Option<Arc<Signer>> {
        let key = domain.keys.first()?;
        let (account, name) = (&domain.account, &domain.domain);
        let place = place(account, domain.id, &key.selector);
        let private = self
            .sealer
            .open(&place, &key.private)
            .map_err(|e| e.to_string());
        let signer = private.and_then(|private| {
            let signer = Signer::new(name, &key.selector, &private);
            signer.map_err(|e| e.to_string())
        });
        match signer {
            Ok(signer) => Some(Arc::new(signer)),
            Err(error) => {
                tracing::error!(account.id = %account, "mail from {name} of account {account} goes out unsigned: {error}");
                None
            }
        }
    }
}

/// What signs mails of this sender; nothing when the relay signs, or no domain of the account
/// stands for the address.
pub(crate) async fn signer(
    app: &App,
    account: &AccountId,
    from: &EmailAddress,
) -> Result<Option<Arc<Signer>>, StoreError> {
    let Some(dkim) = &app.dkim else {
        return Ok(None);
    };
    let (asked, now) = ((account.clone(), from.ascii_domain()), app.clock.now_ms());
    if let Some(known) = dkim.known.get(&asked, now) {
        return Ok(known);
    }
    let domain = app.store.valid_domain(account, &asked.1).await?;
    let signer = domain.and_then(|domain| dkim.signer(&domain));
    dkim.known.put(asked, signer.clone(), now);
    Ok(signer)
}

/// The mail as it leaves.
pub(crate) fn signed(signer: Option<&Signer>, mail: Vec<u8>) -> Vec<u8> {
    let Some(signer) = signer else { return mail };
    match signer.sign(&mail) {
        Ok(signed) => signed,
        Err(error) => {
            tracing::error!("a mail goes out unsigned: {error}");
            mail
        }
    }
}
