//! Copies that the service accepted, and what becomes of them: the list shows them whether a mail is
//! recorded or not.

use posthaste_model::{AccountId, EmailAddress, MessageId, Millis, Timestamp, Verp};

use super::Mailbox;
use crate::copies::{CopyEvent, DeliveryStatus};
use crate::digest::NewRow;
use crate::store::Store;
use crate::{ApiAddress, Error, tags};

/// A request that the service accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedMail {
    pub account: AccountId,
    pub message: MessageId,
    /// The name of the key that it was sent with.
    pub username: String,
    /// The mail's categories, which become tags.
    pub categories: Vec<String>,
    /// Whether it was only checked, and none of its copies leaves.
    pub is_sandboxed: bool,
    pub copies: Vec<AcceptedCopy>,
}

/// One copy of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedCopy {
    /// Position of the recipient within the request.
    pub recipient: u32,
    pub from: ApiAddress,
    pub to: ApiAddress,
    /// As far as it is known before the mail is made.
    pub subject: String,
    /// When it leaves, if it is scheduled.
    pub leaves: Option<Timestamp>,
}

impl AcceptedMail {
    /// The rows of its copies.
    fn rows(&self, received: Millis) -> Result<Vec<NewRow>, Error> {
        let rows = self.copies.iter().map(|copy| {
            let name = Verp {
                account: self.account.clone(),
                message: self.message.clone(),
                recipient: copy.recipient,
            };
            let (from, to) = (copy.from.clone(), copy.to.clone());
            let mut row = NewRow::expected(name, from, to, &copy.subject, received)?;
            row.status = match copy.leaves {
                _ if self.is_sandboxed => DeliveryStatus::Sandboxed,
                Some(_) => DeliveryStatus::Scheduled,
                None => DeliveryStatus::Queued,
            };
            row.summary.username.clone_from(&self.username);
            row.tags = tags::cleaned(&self.categories);
            row.leaves = copy.leaves.filter(|_| !self.is_sandboxed);
            Ok(row)
        });
        rows.collect()
    }
}

impl Mailbox {
    /// Lists the copies of a request before they are queued, so that the list is in the order of
    /// sending. What is known of a copy stays.
    pub async fn expect(&self, mail: AcceptedMail) -> Result<(), Error> {
        let received = self.clock.now_ms();
        let add = move |store: &mut Store| store.expect(&mail.rows(received)?);
        self.ask("expect", add).await?;
        self.changed();
        Ok(())
    }

    /// Takes the copies of a request off the list that could not be queued.
    pub async fn withdraw(&self, account: AccountId, message: MessageId) -> Result<(), Error> {
        self.ask("withdraw", move |store| store.withdraw(&account, &message))
            .await?;
        self.changed();
        Ok(())
    }

    /// Changes the states of copies, and returns those that have no row and never had one. Events may
    /// come twice, and in any order.
    pub async fn note(&self, events: Vec<CopyEvent>) -> Result<Vec<Verp>, Error> {
        let noted = self.ask("note", move |store| store.note(&events)).await?;
        if noted.is_change {
            self.changed();
        }
        Ok(noted.unknown)
    }

    /// Erases the mails to an address of an account, and the rows of copies to it; returns how many.
    pub async fn erase(&self, account: AccountId, address: &EmailAddress) -> Result<usize, Error> {
        let (written, folded) = (address.as_str().to_lowercase(), address.folded());
        let erased = self
            .ask("erase", move |store| {
                store.erase(&account, [&written, &folded])
            })
            .await?;
        if erased > 0 {
            self.changed();
        }
        Ok(erased)
    }
}
