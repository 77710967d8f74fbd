//! Signs for the sender's domain, unless the relay does.

use std::fmt;
use std::sync::Arc;

use posthaste_cache::Cache;
use posthaste_identity::{Signer, place};
use posthaste_model::{AccountId, EmailAddress, Millis};
use posthaste_store::{Domain, Store, StoreError};
use posthaste_webhook::Sealer;

/// The signer found for an account and a sender's domain.
type Signers = Cache<(AccountId, String), Option<Arc<Signer>>>;

/// Opens the keys of domains and caches them for a few seconds. A missing domain is cached too:
/// mail sent within seconds of the domain's verification may be unsigned.
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

    /// The signer for mail of this sender; `None` when no domain of the account covers the address.
    pub(crate) async fn signer(
        &self,
        store: &Store,
        account: &AccountId,
        from: &EmailAddress,
        now: Millis,
    ) -> Result<Option<Arc<Signer>>, StoreError> {
        let asked = (account.clone(), from.ascii_domain());
        if let Some(known) = self.known.get(&asked, now) {
            return Ok(known);
        }
        let domain = store.valid_domain(account, &asked.1).await?;
        let signer = domain.and_then(|domain| self.open(&domain));
        self.known.put(asked, signer.clone(), now);
        Ok(signer)
    }

    /// The signer of a domain. If a key cannot be opened, the mail is sent unsigned and an error is
    /// logged.
    fn open(&self, domain: &Domain) -> Option<Arc<Signer>> {
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

/// The mail, signed if there is a signer.
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
