//! Where the links of mails lead: to a branded host of the account, or to that of the service. Cached for a few seconds, as
//! accounts are.

use std::sync::Arc;

use posthaste_cache::Cache;
use posthaste_model::{AccountId, Clock, Mail, PublicUrl, RecipientCopy};
use posthaste_store::{AccountCache, BrandedLink, LinkBranding, Store, StoreError};

/// Reads the branded links of accounts.
pub(crate) struct BrandedLinks {
    store: Store,
    clock: Clock,
    /// By account and change count: unchanged ones are not read again when the account is.
    known: Cache<(AccountId, u64), Arc<LinkBranding>>,
}

impl BrandedLinks {
    pub(crate) fn new(store: Store, clock: Clock) -> Self {
        let known = Cache::default();
        Self {
            store,
            clock,
            known,
        }
    }

    /// Where links of the account's mails lead; `shared` is the host of the service. An account without branded links
    /// costs no read beyond its own; one that is changed, deleted or taken back is used for at most ten seconds more.
    pub(crate) async fn of(
        &self,
        accounts: &AccountCache,
        id: &AccountId,
        shared: Option<&PublicUrl>,
    ) -> Result<MailLinks, StoreError> {
        let own = self.branding(accounts, id).await?;
        let lent = match &own.lent {
            None => None,
            Some(lent) => {
                let owners = self.branding(accounts, &lent.owner).await?;
                owners.link(lent.id).cloned()
            }
        };
        let shared = shared.cloned();
        Ok(MailLinks { shared, own, lent })
    }

    async fn branding(
        &self,
        accounts: &AccountCache,
        id: &AccountId,
    ) -> Result<Arc<LinkBranding>, StoreError> {
        let account = accounts.account(id).await?;
        let changes = account.map_or(0, |account| account.links);
        if changes == 0 {
            return Ok(Arc::default());
        }
        let (asked, now) = ((id.clone(), changes), self.clock.now_ms());
        if let Some(known) = self.known.get(&asked, now) {
            return Ok(known);
        }
        let branding = Arc::new(self.store.link_branding(id).await?);
        self.known.put(asked, Arc::clone(&branding), now);
        Ok(branding)
    }
}

/// Where links of an account's mails can lead.
#[derive(Debug)]
pub(crate) struct MailLinks {
    shared: Option<PublicUrl>,
    own: Arc<LinkBranding>,
    /// That of its parent.
    lent: Option<BrandedLink>,
}

/// Where the links of a copy lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkBase {
    /// With its scheme and without a slash at the end.
    pub(crate) url: String,
    /// Its host, where it is the account's own.
    pub(crate) host: Option<String>,
}

impl MailLinks {
    /// Where the links of a copy lead, by its sender: to the account's own host for it, by HTTPS, or to that of the
    /// service. `None` where nothing is tracked.
    pub(crate) fn base(&self, mail: &Mail, copy: RecipientCopy<'_>) -> Option<LinkBase> {
        let shared = self.shared.as_ref()?;
        let from = &mail.from_of(copy.personalization).email;
        let chosen = self.own.chosen(self.lent.as_ref(), &from.ascii_domain());
        let host = chosen.map(BrandedLink::host);
        let url = match &host {
            Some(host) => format!("https://{host}"),
            None => shared.as_str().trim_end_matches('/').to_owned(),
        };
        Some(LinkBase { url, host })
    }
}
