//! The dependencies of the worker, from environment variables.

use std::sync::Arc;

use posthaste_blob::Blob;
use posthaste_kept::KeptMails;
use posthaste_mailer::{Envelope, Mailer, RelayUrl, Ses, SesSets, Smtp, SmtpConfig, Tags};
use posthaste_model::{
    AccountId, Clock, ConfigurationSets, Entropy, Hostname, LEAVE_MAILBOX, Mail, Mailbox,
    MessageId, PublicUrl, RecipientCopy, Verp,
};
use posthaste_outage::OutageStore;
use posthaste_queue::{Job, Queue};
use posthaste_render::{KeyRing, Links, Rendered};
use posthaste_runtime::{ConfigError, Platform};
use posthaste_store::{Claimant, Store};

use crate::account::SenderAccounts;
use crate::context::{JobContext, LEASE};
use crate::cost::CopyMemory;
use crate::dkim::Dkim;
use crate::handed::HandedLog;
use crate::links::LinkBase;
use crate::relay::RelayGate;
use crate::spam::SpamFilter;
use crate::template::Templates;

/// The dependencies of `delivery`.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The send queue: for ranges of large jobs, and for retries.
    pub send: Queue,
    /// The event queue.
    pub events: Queue,
    pub blob: Blob,
    /// The composed mails of accounts that keep them.
    pub kept: KeptMails,
    /// The mail that waits for the relay.
    pub outage: OutageStore,
    /// The relay, which copies are admitted to and offered.
    pub relay: Arc<RelayGate>,
    pub mailer: Mailer,
    /// What records mail that may not leave, on the local host, where that is also all mail to addresses with a fixed
    /// outcome.
    pub test_relay: Option<TestRelay>,
    pub clock: Clock,
    pub entropy: Entropy,
    pub keys: KeyRing,
    pub identity: Identity,
    /// Signs for the sender's domain; `None` when the relay signs.
    pub dkim: Option<Dkim>,
    /// Scores mails before they are sent.
    pub spam: Option<SpamFilter>,
    pub templates: Templates,
    /// Identifies this process in claims.
    pub owner: String,
    /// Whether no other process can deliver from this table (the local host), so that claims of an
    /// earlier process expire at once.
    pub single_process: bool,
    /// The number of copies processed concurrently.
    pub concurrency: usize,
    /// Base address of the tracking host; without one nothing is tracked.
    pub tracking: Option<PublicUrl>,
    /// Seconds the table keeps a copy's row.
    pub retention: i64,
    /// Bounds the memory of mails from the bucket, and of copies that are made and handed over.
    pub memory: CopyMemory,
    /// The copies whose outcome SES is to report.
    pub handed: Arc<HandedLog>,
    /// Caches accounts, their settings, and whether they have an allowance.
    pub accounts: Arc<SenderAccounts>,
}

/// The relay that only records, on the local host. Where there is none, the record is that of the copy's events.
#[derive(Clone)]
pub struct TestRelay(pub Mailer);

/// The domain names of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The right side of every Message-ID.
    pub hostname: Hostname,
    /// The domain that receives bounces. Without one the sender's own address is the envelope
    /// sender.
    pub bounce_domain: Option<Hostname>,
}

impl Identity {
    fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        let vars = platform.env();
        Ok(Self {
            hostname: vars.parsed("HOSTNAME_OF_SERVICE")?,
            bounce_domain: vars.optional("BOUNCE_DOMAIN")?,
        })
    }

    /// The address that receives unsubscribe mails; `None` without a bounce domain.
    pub(crate) fn leave_mailbox(&self) -> Option<String> {
        let domain = self.bounce_domain.as_ref()?;
        Some(format!("{LEAVE_MAILBOX}@{domain}"))
    }
}

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `EVENTS_QUEUE_URL`, `BUCKET_NAME`, `DELIVERY` (`ses`
    /// or a relay URL), `CONFIGURATION_SET`, `IP_POOLS`, `ACCOUNT_SETS`, `TLS_SET`, `STACK_SECRET`, `HOSTNAME_OF_SERVICE`,
    /// `BOUNCE_DOMAIN`, `TRACKING_URL` (or else `PUBLIC_URL`: unsubscribe links require one),
    /// `RETENTION_DAYS`, `SPAM_FILTER`, `DELIVERY_CONCURRENCY` (the functions that share the
    /// sending rate of SES, 1).
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        let vars = platform.env();
        let mailer = match platform.part() {
            Some(mailer) => mailer,
            None => mailer(platform)?,
        };
        let spam = match platform.part::<SpamFilter>() {
            Some(spam) => Some(spam),
            None => vars.optional("SPAM_FILTER")?.map(SpamFilter::new),
        };
        let shares = vars.positive("DELIVERY_CONCURRENCY", 1)?;
        let process = platform.process();
        let days: i64 = vars.positive("RETENTION_DAYS", 30)?;
        let public_url = vars.optional::<PublicUrl>("PUBLIC_URL")?;
        let (store, blob) = (platform.store()?, platform.blob()?);
        let (clock, entropy) = (platform.clock(), platform.entropy());
        Ok(Self {
            accounts: Arc::new(SenderAccounts::new(store.clone(), clock.clone())),
            outage: OutageStore::new(store.clone(), blob.clone(), clock.clone(), entropy.clone()),
            kept: KeptMails::new(store.clone(), blob.clone()),
            store,
            send: platform.queue("SEND_QUEUE_URL")?,
            events: platform.queue("EVENTS_QUEUE_URL")?,
            blob,
            // SES signs by itself, with the same keys.
            dkim: match mailer {
                Mailer::Ses(_) => None,
                Mailer::Smtp(_) => Some(Dkim::new(Arc::new(vars.parsed("STACK_SECRET")?))),
            },
            memory: CopyMemory::new(&mailer),
            relay: Arc::new(RelayGate::new(mailer.clone(), clock.clone(), shares)),
            mailer,
            test_relay: platform.part(),
            clock,
            entropy,
            keys: vars.parsed::<KeyRing>("STACK_SECRET")?,
            identity: match platform.part() {
                Some(identity) => identity,
                None => Identity::from_env(platform)?,
            },
            spam,
            templates: Templates::default(),
            owner: process.name,
            single_process: process.is_single,
            concurrency: vars.positive("AT_ONCE", 10)?,
            tracking: vars.optional("TRACKING_URL")?.or(public_url),
            retention: days.saturating_mul(86_400),
            handed: Arc::default(),
        })
    }

    /// This process in a claim, and the seconds for which the row of the copy is stored.
    pub(crate) fn claimant(&self, retention: i64) -> Claimant<'_> {
        Claimant {
            owner: &self.owner,
            single_process: self.single_process,
            now: self.clock.now(),
            lease: LEASE,
            retention,
        }
    }

    /// The Message-ID of a copy, without angle brackets: that of a mail submitted whole, a valid one
    /// among the headers of the request, or one made of the message's id.
    ///
    /// All copies of a personalization have the same: what replies to one of them names a mail that
    /// the other recipients have too.
    pub(crate) fn message_id(
        &self,
        message: &MessageId,
        mail: &Mail,
        copy: RecipientCopy<'_>,
    ) -> String {
        let headers = [&copy.personalization.headers, &mail.headers];
        let own = headers.into_iter().flatten();
        let own = own
            .filter(|(name, _)| name.eq_ignore_ascii_case("message-id"))
            .find_map(|(_, value)| posthaste_mime::message_id(value));
        let submitted = mail.submitted.as_ref();
        let given = submitted.map_or(own, |whole| whole.message_id.as_deref());
        if let Some(id) = given {
            return id.to_owned();
        }
        let hostname = &self.identity.hostname;
        // One submitted mail is the same for all its recipients, unless each has a mail of its own.
        match copy.envelope {
            envelope if envelope > 0 && submitted.is_none_or(|whole| whole.apart) => {
                format!("{message}.{envelope}@{hostname}")
            }
            _ => format!("{message}@{hostname}"),
        }
    }

    /// What the links of a mail are made of. The mailbox receives mails that unsubscribe.
    pub(crate) fn links<'a>(
        &'a self,
        job: &'a Job,
        base: &'a LinkBase,
        mailbox: Option<&'a str>,
    ) -> Links<'a> {
        Links {
            base: &base.url,
            host: base.host.as_deref(),
            keys: &self.keys,
            account: &job.account,
            message: &job.message,
            now: job.accepted.seconds(),
            mailbox,
        }
    }

    /// The envelope sender of a copy: one per recipient, so that a bounce identifies its copy.
    pub(crate) fn envelope_sender(
        &self,
        account: &AccountId,
        message: &MessageId,
        recipient: u32,
        from: &str,
    ) -> String {
        let Some(domain) = &self.identity.bounce_domain else {
            return from.to_owned();
        };
        let verp = Verp {
            account: account.clone(),
            message: message.clone(),
            recipient,
        };
        let mark = self.keys.mark(&verp.claim());
        format!("{}@{domain}", verp.local(mark))
    }

    /// The envelope of a copy.
    pub(crate) fn envelope(
        &self,
        context: JobContext<'_>,
        copy: RecipientCopy<'_>,
        rendered: &Rendered,
    ) -> Envelope {
        let JobContext {
            job,
            mail,
            settings,
            ..
        } = context;
        let from = mail.from_of(copy.personalization);
        let sender = from.email.wire();
        let foreign = |mailbox: &Mailbox| mailbox.email.needs_smtputf8();
        Envelope {
            from: self.envelope_sender(&job.account, &job.message, copy.recipient, &sender),
            to: copy.mailbox.email.clone(),
            foreign_sender: foreign(from) || rendered.reply_to.iter().any(foreign),
            pool: mail.ip_pool_name.clone(),
            enforced_tls: settings.enforced_tls,
            tags: Tags {
                account: job.account.clone(),
                message: job.message.clone(),
                recipient: copy.recipient,
            },
        }
    }
}

fn mailer(platform: &Platform) -> Result<Mailer, ConfigError> {
    let vars = platform.env();
    if vars.required("DELIVERY")? != "ses" {
        let relay: RelayUrl = vars.parsed("DELIVERY")?;
        return Ok(Mailer::Smtp(Smtp::new(SmtpConfig::new(relay))));
    }
    let pools = vars
        .optional::<ConfigurationSets>("IP_POOLS")?
        .unwrap_or_default();
    let sets = SesSets {
        default: vars.get("CONFIGURATION_SET"),
        pools,
        accounts: vars
            .optional::<ConfigurationSets>("ACCOUNT_SETS")?
            .unwrap_or_default(),
        tls: vars.get("TLS_SET"),
    };
    let aws = platform.aws("DELIVERY")?;
    Ok(Mailer::Ses(Ses::with_sets(aws, sets)))
}
