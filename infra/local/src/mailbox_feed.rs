//! What the mailbox page shows beside recorded mails: every copy that was accepted, what became of it, and
//! scheduled mail with what can be changed of it.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mail_batch::MessageState;
use mail_send::{AcceptanceObserver, AcceptedSend, Observing};
use posthaste_erasure::OtherStore;
use posthaste_http::Rejection;
use posthaste_mailbox::{
    AcceptedCopy, AcceptedMail, ApiAddress, CopyEvent, DEFAULT_LIMIT, DeliveryStatus, Error,
    Mailbox, ScheduleChange, ScheduleControl, WaitingPart, WaitingState,
};
use posthaste_model::batch::BatchStatus;
use posthaste_model::{AccountId, BatchId, Clock, Event, EventKind, MessageId, Verp, cut, due};
use posthaste_store::{LONGEST_SUBJECT, Store};
use webhook_fanout::EventObserver;

/// Feeds the mailbox of a host.
#[derive(Clone)]
pub(crate) struct MailboxFeed {
    pub(crate) mailbox: Mailbox,
    pub(crate) store: Store,
}

impl AcceptanceObserver for MailboxFeed {
    fn accepted(&self, send: &AcceptedSend<'_>) -> Observing {
        let (mail, mailbox) = (accepted(send), self.mailbox.clone());
        Box::pin(async move { logged(mailbox.expect(mail).await) })
    }

    fn withdrawn(&self, account: &AccountId, message: &MessageId) -> Observing {
        let mailbox = self.mailbox.clone();
        let (account, message) = (account.clone(), message.clone());
        Box::pin(async move { logged(mailbox.withdraw(account, message).await) })
    }
}

impl EventObserver for MailboxFeed {
    fn happened(&self, events: &[Event]) -> BoxFuture<'static, ()> {
        let feed = self.clone();
        let events: Vec<_> = events.iter().filter_map(change).collect();
        async move {
            if !events.is_empty() {
                logged(feed.note(events).await);
            }
        }
        .boxed()
    }
}

impl MailboxFeed {
    /// Changes the states of copies; those without a row, which are of notices or were accepted just before a
    /// crash, get one from the table.
    async fn note(&self, events: Vec<CopyEvent>) -> Result<(), Error> {
        let unknown = self.mailbox.note(events.clone()).await?;
        for copy in &unknown {
            let Verp {
                account,
                message,
                recipient,
            } = copy;
            let row = self.store.recipient(account, message, *recipient).await;
            let Ok(Some(row)) = row else {
                continue;
            };
            let address = |address: String| ApiAddress {
                name: String::new(),
                address,
            };
            let known = AcceptedCopy {
                recipient: *recipient,
                from: address(row.from),
                to: address(row.email),
                subject: row.subject,
                leaves: None,
            };
            let mail = AcceptedMail {
                account: account.clone(),
                message: message.clone(),
                username: String::new(),
                categories: Vec::new(),
                is_sandboxed: false,
                copies: vec![known],
            };
            self.mailbox.expect(mail).await?;
        }
        if !unknown.is_empty() {
            self.mailbox.note(events).await?;
        }
        Ok(())
    }
}

/// The page is no reason to refuse mail.
fn logged(done: Result<(), Error>) {
    if let Err(error) = done {
        tracing::error!(error = %error, "the mailbox page misses a change: {error}");
    }
}

/// The copies of a request, each with what is known of it before it is made.
fn accepted(send: &AcceptedSend<'_>) -> AcceptedMail {
    let mail = send.mail;
    let copies = mail.copies().map(|copy| {
        let own = copy.personalization;
        let address = |one: &posthaste_model::Mailbox| ApiAddress {
            name: one.name.clone().unwrap_or_default(),
            address: one.email.as_str().to_owned(),
        };
        let leaves = due(mail.send_at_of(own), send.now, send.horizon);
        // Mail of a paused batch waits even if it has no time of its own.
        let waits = mail.batch_id.as_ref().map(|_| send.now);
        AcceptedCopy {
            recipient: copy.recipient,
            from: address(mail.from_of(own)),
            to: address(copy.mailbox),
            subject: cut(mail.subject_of(own), LONGEST_SUBJECT).to_owned(),
            leaves: leaves.unwrap_or_default().or(waits),
        }
    });
    AcceptedMail {
        account: send.account.clone(),
        message: send.message.clone(),
        username: send.key_name.to_owned(),
        categories: mail.categories.clone(),
        is_sandboxed: send.is_sandbox,
        copies: copies.collect(),
    }
}

/// What an event changes in the list: those about what readers do change nothing.
fn change(event: &Event) -> Option<CopyEvent> {
    let status = match event.kind {
        EventKind::Processed => DeliveryStatus::Processed,
        EventKind::Delivered => DeliveryStatus::Delivered,
        EventKind::Deferred => DeliveryStatus::Deferred,
        EventKind::Bounce => DeliveryStatus::Bounced,
        EventKind::Dropped => DeliveryStatus::Dropped,
        EventKind::Open
        | EventKind::Click
        | EventKind::SpamReport
        | EventKind::Unsubscribe
        | EventKind::GroupUnsubscribe
        | EventKind::GroupResubscribe
        | EventKind::AccountStatusChange => return None,
    };
    let reason = event.reason.as_ref().or(event.response.as_ref());
    Some(CopyEvent {
        copy: Verp {
            account: event.account.clone(),
            message: event.message.clone()?,
            recipient: event.recipient,
        },
        status,
        reason: reason.cloned().unwrap_or_default(),
    })
}

/// Scheduled mail, by the rules of its function.
pub(crate) struct LocalSchedule(pub(crate) mail_batch::App);

impl ScheduleControl for LocalSchedule {
    fn parts(
        &self,
        account: AccountId,
        message: MessageId,
    ) -> BoxFuture<'static, Vec<WaitingPart>> {
        let app = self.0.clone();
        async move {
            let sends = mail_batch::sends_of(&app, &account, &message).await;
            let part = |send: mail_batch::Send| WaitingPart {
                leaves: send.send_at,
                state: match send.status {
                    MessageState::Scheduled => WaitingState::Scheduled,
                    MessageState::Paused => WaitingState::Paused,
                    MessageState::Cancelled => WaitingState::Cancelled,
                    MessageState::Expired | MessageState::Sent => WaitingState::Over,
                },
                has_batch: send.batch_id.is_some(),
            };
            sends.unwrap_or_default().into_iter().map(part).collect()
        }
        .boxed()
    }

    fn change(
        &self,
        account: AccountId,
        message: MessageId,
        change: ScheduleChange,
    ) -> BoxFuture<'static, Result<(), String>> {
        let app = self.0.clone();
        async move {
            let changed = apply(&app, &account, &message, change).await;
            changed.map_err(|rejection| {
                let problems = rejection.problems.into_iter();
                let texts: Vec<_> = problems.map(|problem| problem.message).collect();
                texts.join(" ")
            })
        }
        .boxed()
    }
}

async fn apply(
    app: &mail_batch::App,
    account: &AccountId,
    message: &MessageId,
    change: ScheduleChange,
) -> Result<(), Rejection> {
    match change {
        ScheduleChange::Cancel => mail_batch::cancel_message(app, account, message).await,
        ScheduleChange::Move(to) => {
            let to = to.max(app.clock.now());
            mail_batch::reschedule(app, account, message, to).await
        }
        ScheduleChange::Pause => {
            let batch = batch_of(app, account, message).await?;
            mail_batch::hold(app, account, &batch, BatchStatus::Pause).await
        }
        ScheduleChange::Resume => {
            let batch = batch_of(app, account, message).await?;
            mail_batch::lift(app, account, &batch).await
        }
    }
}

async fn batch_of(
    app: &mail_batch::App,
    account: &AccountId,
    message: &MessageId,
) -> Result<BatchId, Rejection> {
    let sends = mail_batch::sends_of(app, account, message).await?;
    let batch = sends.into_iter().find_map(|send| send.batch_id);
    let batch = batch.and_then(|batch| BatchId::parse(&batch).ok());
    batch.ok_or_else(|| Rejection::bad("the message is in no batch, so it cannot be paused"))
}

/// The mailbox of a running host, for the erasure of an address.
pub(crate) fn open_mailbox(mailbox: &Mailbox) -> OtherStore {
    let mailbox = mailbox.clone();
    OtherStore::new(move |account, address| {
        let mailbox = mailbox.clone();
        async move {
            let erased = mailbox.erase(account, &address).await;
            erased.map_err(|error| error.to_string())
        }
        .boxed()
    })
}

/// The same of a data folder on which no host runs.
pub(crate) fn closed_mailbox(folder: PathBuf, clock: Clock) -> OtherStore {
    OtherStore::new(move |account, address| {
        let (folder, clock) = (folder.clone(), clock.clone());
        async move {
            if !folder.join("mailbox.sqlite").exists() {
                return Ok(0);
            }
            let mailbox = Mailbox::open(Some(folder), DEFAULT_LIMIT, clock);
            let mailbox = mailbox.map_err(|error| error.to_string())?;
            let erased = mailbox.erase(account, &address).await;
            erased.map_err(|error| error.to_string())
        }
        .boxed()
    })
}

/// The parts by which functions tell the mailbox.
pub(crate) struct FeedParts {
    pub(crate) acceptance: Arc<dyn AcceptanceObserver>,
    pub(crate) events: Arc<dyn EventObserver>,
    pub(crate) elsewhere: OtherStore,
}

impl MailboxFeed {
    pub(crate) fn parts(self) -> FeedParts {
        let feed = Arc::new(self);
        FeedParts {
            acceptance: feed.clone(),
            elsewhere: open_mailbox(&feed.mailbox),
            events: feed,
        }
    }
}
