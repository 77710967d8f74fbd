//! Writes what was read into an account, part by part, through the functions that answer its own requests.
//!
//! An item that the account has from an earlier run in the same form is left alone, so that a change that was made here
//! since stays. What the account has without the journal knowing of it (a run was killed between a step and its line)
//! is found by its name: a group by its name, a webhook by its URL, a key by its name and
//! scopes.

mod domains;
mod groups;
mod keys;
mod lists;
mod settings;
mod subusers;
mod templates;

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use posthaste_model::{Clock, Entropy};
use posthaste_store::Store;
use serde_json::Value;

use crate::TransferError;
use crate::digest::digest;
use crate::folder::{AccountFolder, Lines};
use crate::journal::ImportJournal;
use crate::part::AccountPart;
use crate::report::TransferReport;
use crate::service::{AnswerFault, Here};
use crate::source::{Pause, Progress};

/// Attempts of a call while the table is busy.
const ATTEMPTS: u32 = 6;

/// How an import writes.
#[derive(Clone, Debug)]
pub(crate) struct WriteOptions {
    /// Nothing is written.
    pub(crate) dry_run: bool,
    /// Senders that were verified there are verified here.
    pub(crate) trust_senders: bool,
    /// The selector of the keys of domains.
    pub(crate) dkim_selector: String,
    /// No keys are made.
    pub(crate) without_keys: bool,
}

/// One account that is written to.
pub(crate) struct AccountWriter<'a> {
    /// `None` where there is none to write to.
    pub(crate) target: Option<Here>,
    pub(crate) store: Store,
    pub(crate) folder: AccountFolder,
    pub(crate) journal: &'a mut ImportJournal,
    /// What the names of parts begin with in the journal: empty, or the name of the subuser.
    pub(crate) prefix: String,
    pub(crate) report: &'a mut TransferReport,
    pub(crate) options: Arc<WriteOptions>,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) pause: Pause,
    pub(crate) progress: Progress,
}

/// Why the account does not take an item: the status of the answer, and its messages.
#[derive(Debug)]
pub(crate) struct TargetRefusal {
    pub(crate) status: StatusCode,
    pub(crate) why: String,
}

impl AccountWriter<'_> {
    /// Writes every part of the folder, except keys and subusers.
    pub(crate) async fn write(&mut self) -> Result<(), TransferError> {
        for part in AccountPart::ALL {
            if !self.folder.file(part).is_file() {
                continue;
            }
            let name = self.name(part);
            self.progress.say(format!("writing {name}"));
            match part {
                AccountPart::Domains => self.write_domains().await?,
                AccountPart::Senders => self.write_senders().await?,
                AccountPart::Groups => self.write_groups().await?,
                AccountPart::GroupMembers
                | AccountPart::Bounces
                | AccountPart::Blocks
                | AccountPart::InvalidEmails
                | AccountPart::SpamReports
                | AccountPart::Unsubscribes => self.write_list(part).await?,
                AccountPart::Templates => self.write_templates().await?,
                AccountPart::EventWebhooks => self.write_event_webhooks().await?,
                AccountPart::ParseSettings => self.write_parse_settings().await?,
                AccountPart::MailSettings | AccountPart::TrackingSettings => {
                    self.write_settings(part).await?;
                }
                AccountPart::Alerts => self.write_alerts().await?,
                AccountPart::ApiKeys | AccountPart::Subusers => {}
            }
        }
        Ok(())
    }

    pub(crate) fn name(&self, part: AccountPart) -> String {
        format!("{}{}", self.prefix, part.name())
    }

    /// The account that is written to, unless this is a plan.
    fn account(&self) -> Option<&Here> {
        self.target.as_ref().filter(|_| !self.options.dry_run)
    }

    /// The items of a small part; what is no JSON is reported.
    fn items(&mut self, part: AccountPart) -> Result<Vec<Value>, TransferError> {
        let mut items = Vec::new();
        for (number, line) in Lines::open(&self.folder.file(part))?.enumerate() {
            let line = line?;
            self.report.counts(part).read += 1;
            match line.value() {
                Ok(item) => items.push(item),
                Err(fault) => {
                    let what = line.label(number + 1);
                    self.report.refuse_item(part, &what, fault.to_string());
                }
            }
        }
        Ok(items)
    }

    /// Counts what would be done with an item, which the account has in another form, or not at all.
    fn plan(&mut self, part: AccountPart, is_there: bool) {
        let counts = self.report.counts(part);
        if is_there {
            counts.changed += 1;
        } else {
            counts.created += 1;
        }
    }

    /// Whether an item was written as it is by an earlier run.
    fn is_unchanged(&mut self, part: AccountPart, key: &str, item: &Value) -> bool {
        let own = digest(item.to_string().as_bytes());
        let is_same = self.journal.has(&self.name(part), key, &own);
        if is_same {
            self.report.counts(part).unchanged += 1;
        }
        is_same
    }

    /// The item is in the account as it is.
    fn note_item(
        &mut self,
        part: AccountPart,
        key: &str,
        item: &Value,
    ) -> Result<(), TransferError> {
        let own = digest(item.to_string().as_bytes());
        let name = self.name(part);
        Ok(self.journal.note_item(&name, key, &own)?)
    }

    /// A call of the account's functions, again while the table is busy.
    async fn call(
        &self,
        here: &Here,
        (method, path): (Method, &str),
        body: Option<&Value>,
        id: Option<&str>,
    ) -> Result<Result<Value, TargetRefusal>, TransferError> {
        const LARGEST: usize = 64 << 20;
        let mut wait = Duration::from_millis(200);
        for attempt in 1.. {
            let reply = here.call(method.clone(), path, body, id).await;
            let mut reply = reply.map_err(TransferError::Target)?;
            let status = reply.status;
            if status.is_success() {
                let failed = |fault: AnswerFault| TransferError::Target(fault.to_string());
                let body = reply.bytes(LARGEST).await.map_err(failed)?;
                return Ok(Ok(serde_json::from_slice(&body).unwrap_or_default()));
            }
            let why = reply.problems().await;
            if status == StatusCode::TOO_MANY_REQUESTS || !status.is_server_error() {
                return Ok(Err(TargetRefusal { status, why }));
            }
            if attempt == ATTEMPTS {
                let why = format!("{path} answers {}: {why}", status.as_u16());
                return Err(TransferError::Target(why));
            }
            self.pause.wait(wait).await;
            wait *= 2;
        }
        Ok(Ok(Value::Null))
    }

    /// What a path of the account answers; nothing for an unknown id.
    async fn found(&self, here: &Here, path: &str) -> Result<Option<Value>, TransferError> {
        match self.call(here, (Method::GET, path), None, None).await? {
            Ok(value) => Ok(Some(value)),
            Err(refusal) if refusal.status == StatusCode::NOT_FOUND => Ok(None),
            Err(refusal) => {
                let status = refusal.status.as_u16();
                let why = format!("{path} answers {status}: {}", refusal.why);
                Err(TransferError::Target(why))
            }
        }
    }
}
