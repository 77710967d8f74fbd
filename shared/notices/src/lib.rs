//! Mails that the service writes in its own name to an address that a caller names: the links that
//! confirm an address, and the DNS records for a colleague.
//!
//! Every such mail passes [`Notices::clear`] before anything is stored: the account may send, the
//! address is on none of its lists, and neither the account nor the address has reached its daily
//! limit (see `posthaste_store`, system mails). A refused request changes nothing.
//!
//! Reports that an account was suspended are no mails ([`StatusReports`]).

mod note;
pub mod page;
mod status_change;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_http::{Authorizer, GatewayName, Rejection};
use posthaste_model::{AccountId, Clock, EmailAddress, Entropy, Mail, Masked, PublicUrl};
use posthaste_queue::{Job, Queue};
use posthaste_runtime::{Error, Platform};
use posthaste_store::{Account, Counted, CountedMail, SenderLink, Store, SystemMail};

pub use note::{LONGEST_NOTE, quoted};
pub use status_change::StatusReports;

/// Seconds for which a mailed link works.
pub const LINK_LIFE: i64 = 48 * 3600;

/// The dependencies for writing and sending such mails.
#[derive(Clone)]
pub struct Notices {
    pub store: Store,
    /// The send queue.
    pub send: Queue,
    pub clock: Clock,
    pub entropy: Entropy,
    /// The sender address.
    pub sender: EmailAddress,
    /// Base URL of the pages that people open; if missing, the URL at which the gateway was called.
    pub public_url: Option<PublicUrl>,
}

/// A mail that a caller requests.
#[derive(Clone, Copy, Debug)]
pub struct NoticeRequest<'a> {
    pub account: &'a Account,
    pub to: &'a EmailAddress,
    /// The field of the request that names the address, for errors.
    pub field: &'static str,
    /// What the mail is about: the same value within ten minutes is the same mail.
    pub about: &'a str,
    /// Whether it repeats an earlier mail, which is allowed after ten minutes.
    pub resend: bool,
    /// Whether the caller's key is marked as test: the mail is then recorded and does not leave.
    pub is_test: bool,
}

/// A mail that may leave and is counted. Send it, or cancel it.
#[derive(Debug)]
#[must_use]
pub struct Cleared {
    account: AccountId,
    to: EmailAddress,
    counted: CountedMail,
    is_test: bool,
}

/// A fresh link.
#[derive(Debug)]
pub struct FreshLink {
    pub link: SenderLink,
    /// The URL that the mail shows.
    pub url: String,
    /// Names the link without disclosing it.
    pub about: String,
}

impl Notices {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `BOUNCE_DOMAIN`, `SYSTEM_SENDER` (`no-reply` at the
    /// bounce domain), `PUBLIC_URL` (the gateway's).
    pub fn open(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            send: platform.queue("SEND_QUEUE_URL")?,
            clock: platform.clock(),
            entropy: platform.entropy(),
            sender: platform.system_sender()?,
            public_url: platform.env().optional("PUBLIC_URL")?,
        })
    }

    /// A link with a new token; `path` holds `{token}`.
    ///
    /// # Errors
    /// When this installation has no public URL.
    pub fn link(&self, gateway: &GatewayName, path: &str) -> Result<FreshLink, Rejection> {
        let base = gateway.base(self.public_url.as_ref());
        let base = base.ok_or_else(|| Rejection::internal(&"PUBLIC_URL is not set"))?;
        let token = URL_SAFE_NO_PAD.encode(self.entropy.bytes::<32>());
        Ok(FreshLink {
            link: SenderLink::new(&token, self.clock.now().plus(LINK_LIFE)),
            url: format!("{base}{}", path.replace("{token}", &token)),
            about: token,
        })
    }

    /// Counts a mail that may leave.
    ///
    /// # Errors
    /// 401 as from mail/send when the account may not send, 400 when a list of it or of an account
    /// above it holds the address, 429 past the daily limits. Nothing is then counted.
    pub async fn clear(
        &self,
        gate: &Authorizer,
        wanted: &NoticeRequest<'_>,
    ) -> Result<Cleared, Rejection> {
        let NoticeRequest {
            account,
            to,
            field,
            about,
            resend,
            is_test,
        } = *wanted;
        gate.check_may_send(account).await?;
        let accounts = &*self.store.accounts_upwards(account).await?;
        if self.store.is_suppressed_for(accounts, to).await? {
            let message = "the address is on a suppression list of the account";
            return Err(Rejection::on(field, message));
        }
        let now = self.clock.now();
        let mail = SystemMail {
            accounts,
            to,
            about,
            resend,
        };
        match self.store.count_system_mail(&mail, now).await? {
            Counted::Allowed(counted) => Ok(Cleared {
                account: account.id.clone(),
                to: to.clone(),
                counted,
                is_test,
            }),
            Counted::Limited { limit, until } => {
                let (account, to) = (&account.id, Masked(to.as_str()));
                tracing::warn!(account.id = %account, "a mail of the service to {to} for account {account} is past the limit of {limit}");
                Err(Rejection::too_many(limit, until, now))
            }
        }
    }

    /// Queues a text. If the queue does not accept it, it is not counted.
    ///
    /// # Errors
    /// 503 when the queue fails.
    pub async fn send(
        &self,
        cleared: Cleared,
        subject: &str,
        text: String,
    ) -> Result<(), Rejection> {
        let mail = Mail::notice(self.sender.clone(), cleared.to.clone(), subject, text);
        let (account, message) = (cleared.account.clone(), cleared.counted.message.clone());
        let job = Job::notice(account, message, self.clock.now_ms(), mail);
        let job = if cleared.is_test { job.of_test() } else { job };
        let text = job.to_text().map_err(|e| Rejection::internal(&e))?;
        if let Err(error) = self.send.send(text, Duration::ZERO).await {
            self.cancel(cleared).await;
            return Err(Rejection::unavailable(&error));
        }
        Ok(())
    }

    /// Releases the place of a mail that is not to be sent after all. When the table fails the mail
    /// stays counted until its day is over.
    pub async fn cancel(&self, cleared: Cleared) {
        if let Err(error) = self.store.uncount_system_mail(&cleared.counted).await {
            let account = &cleared.account;
            tracing::warn!(%error, account.id = %account, "a mail of account {account} that was not sent stays counted: {error}");
        }
    }
}
