//! Reads an account into a folder, part by part.

mod bounds;
mod left_behind;
mod lists;
mod settings;
mod templates;

use std::fs;
use std::io;
use std::sync::Arc;

use posthaste_store::{Account, Store, is_username};
use serde_json::{Value, json};

use crate::TransferError;
use crate::folder::{AccountFolder, LineWriter, Lines};
use crate::journal::ImportJournal;
use crate::part::AccountPart;
use crate::report::TransferReport;
use crate::source::{ReadFault, SourceApi};

use bounds::{ENDLESS, ListInMemory, PageEnd};

/// Items of a page, as the v3 API gives at most (API facts, "Pagination").
const PAGE: usize = 500;

/// One account that is read.
pub(crate) struct AccountReader<'a> {
    pub(crate) source: SourceApi,
    pub(crate) folder: AccountFolder,
    pub(crate) journal: &'a mut ImportJournal,
    /// What the names of parts begin with in the journal: empty, or the name of the subuser.
    pub(crate) prefix: String,
    pub(crate) report: &'a mut TransferReport,
    /// Where the accounts of subusers are found, if the functions of this process are read.
    pub(crate) store: Option<Store>,
    /// The folder of the account itself, where a subuser of another service is read.
    pub(crate) account: Option<AccountFolder>,
}

impl AccountReader<'_> {
    /// Reads every part that was not read in this run, except the data of subusers.
    pub(crate) async fn read(&mut self) -> Result<(), TransferError> {
        let is_subuser = !self.prefix.is_empty();
        for part in AccountPart::ALL {
            let name = self.name(part);
            if self.journal.is_read(&name) || (is_subuser && part == AccountPart::Subusers) {
                continue;
            }
            self.source.progress().say(format!("reading {name}"));
            let read = self.read_part(part).await;
            if self.source.take_mended() {
                let note = format!("{name}: U+FFFD stands for bytes there that are no text");
                self.report.notes.push(note);
            }
            match read {
                Ok(()) => self.journal.note_read(&name)?,
                Err(ReadFault::Folder(error)) => return Err(error.into()),
                Err(fault) => {
                    let what = format!("{name}: all that was not read");
                    self.report.refuse(what, fault.to_string());
                }
            }
        }
        if !is_subuser {
            self.note_left_behind().await?;
        }
        Ok(())
    }

    pub(crate) fn name(&self, part: AccountPart) -> String {
        format!("{}{}", self.prefix, part.name())
    }

    async fn read_part(&mut self, part: AccountPart) -> Result<(), ReadFault> {
        match part {
            AccountPart::Domains => {
                let items = self.pages(part, "/v3/whitelabel/domains?", 50).await?;
                self.replace(part, &items)
            }
            AccountPart::Senders => {
                let mut items = self.senders().await?;
                if self.are_the_accounts(part, &items)? {
                    let what = format!("{}: those of the subuser", self.name(part));
                    let why = "the other service lists those of the account in their place";
                    self.report.refuse(what, why);
                    items.clear();
                }
                self.replace(part, &items)
            }
            AccountPart::Groups => {
                let items = self.source.items("/v3/asm/groups").await?;
                self.replace(part, &items)
            }
            AccountPart::GroupMembers => self.read_members().await,
            AccountPart::Bounces
            | AccountPart::Blocks
            | AccountPart::InvalidEmails
            | AccountPart::SpamReports
            | AccountPart::Unsubscribes => self.read_list(part).await,
            AccountPart::Templates => self.read_templates().await,
            AccountPart::EventWebhooks => {
                let items = self.event_webhooks().await?;
                self.replace(part, &items)
            }
            AccountPart::ParseSettings => {
                let found = self
                    .source
                    .value("/v3/user/webhooks/parse/settings")
                    .await?;
                self.replace(part, list_in(&found, "result"))
            }
            AccountPart::MailSettings | AccountPart::TrackingSettings => {
                let items = self.settings(part).await?;
                self.replace(part, &items)
            }
            AccountPart::Alerts => {
                let items = self.source.items("/v3/alerts").await?;
                self.replace(part, &items)
            }
            AccountPart::ApiKeys => {
                let items = self.keys().await?;
                self.replace(part, &items)
            }
            AccountPart::Subusers => {
                let items = self.subusers().await?;
                self.replace(part, &items)
            }
        }
    }

    /// Whether the service gave the account's own items for those of a subuser: not every call of SendGrid's takes
    /// `on-behalf-of` (API facts, "On-behalf-of").
    fn are_the_accounts(&self, part: AccountPart, items: &[Value]) -> io::Result<bool> {
        let Some(account) = self.account.as_ref().filter(|_| !items.is_empty()) else {
            return Ok(false);
        };
        let mut own = Vec::new();
        for line in Lines::open(&account.file(part))? {
            own.extend(line?.value().ok());
        }
        Ok(own == items)
    }

    /// Writes the file of a part anew.
    fn replace(&mut self, part: AccountPart, items: &[Value]) -> Result<(), ReadFault> {
        let draft = self.folder.draft(part);
        let mut out = LineWriter::after(&draft, 0)?;
        for item in items {
            out.push(item)?;
        }
        out.flush()?;
        drop(out);
        fs::rename(draft, self.folder.file(part))?;
        Ok(())
    }

    /// A list that comes in pages by `limit` and `offset`, up to a page without other items; a service that knows no
    /// pages gives the same again.
    async fn pages(
        &mut self,
        part: AccountPart,
        path: &str,
        limit: usize,
    ) -> Result<Vec<Value>, ReadFault> {
        let mut all = ListInMemory::default();
        let mut offset = 0;
        loop {
            let page = format!("{path}limit={limit}&offset={offset}");
            let items = self.source.items(&page).await?;
            let count = items.len();
            offset += count;
            match all.add(items, self.source.last_bytes()) {
                PageEnd::More if count <= limit => {}
                PageEnd::More | PageEnd::Last => return Ok(all.items),
                PageEnd::Endless => return Ok(self.cut_off(part, all)),
            }
        }
    }

    /// What was read of a list that has no end.
    fn cut_off(&mut self, part: AccountPart, list: ListInMemory) -> Vec<Value> {
        let what = format!(
            "{}: what follows {} items",
            self.name(part),
            list.items.len()
        );
        self.report.refuse(what, ENDLESS);
        list.items
    }

    async fn subusers(&mut self) -> Result<Vec<Value>, ReadFault> {
        let mut all = self
            .pages(AccountPart::Subusers, "/v3/subusers?", PAGE)
            .await?;
        for subuser in &mut all {
            let Some(name) = username(subuser) else {
                continue;
            };
            if !is_username(&name) {
                continue;
            }
            let path = format!("/v3/subusers/{}/credits", in_path(&name));
            let credits = match self.source.value(&path).await {
                Ok(credits) => Some(credits),
                // Not every plan has them.
                Err(ReadFault::Refused(..)) => None,
                Err(fault @ ReadFault::Broken(_)) => {
                    let what = format!("subusers: the credits of {name}");
                    self.report.refuse(what, fault.to_string());
                    None
                }
                Err(fault) => return Err(fault),
            };
            let domains = self.lent_domains(&name).await?;
            let Some(subuser) = subuser.as_object_mut() else {
                continue;
            };
            if let Some(credits) = credits {
                subuser.insert("credits".to_owned(), credits);
            }
            if !domains.is_empty() {
                subuser.insert("domains".to_owned(), domains.into());
            }
        }
        Ok(all)
    }

    /// The domains of the account that a subuser sends from, by their names.
    async fn lent_domains(&mut self, name: &str) -> Result<Vec<Value>, ReadFault> {
        let name_in = in_query(name);
        let path = format!("/v3/whitelabel/domains/subuser/all?username={name_in}");
        let found = match self.source.value(&path).await {
            Ok(found) => found,
            // It has none, or the plan has no subusers with domains.
            Err(ReadFault::Refused(..)) => return Ok(Vec::new()),
            Err(fault @ ReadFault::Broken(_)) => {
                let what = format!("subusers: the domains of the account that {name} sends from");
                self.report.refuse(what, fault.to_string());
                return Ok(Vec::new());
            }
            Err(fault) => return Err(fault),
        };
        let names = found.as_array().into_iter().flatten();
        let names = names
            .map(|domain| json!({"domain": domain["domain"], "subdomain": domain["subdomain"]}));
        Ok(names.collect())
    }

    /// The reader of a subuser's data.
    ///
    /// # Errors
    /// When its folder cannot be made, or its account not be read. `None` for a name that no account here can have.
    pub(crate) async fn subuser<'s>(
        &'s mut self,
        name: &str,
        report: &'s mut TransferReport,
    ) -> Result<Option<AccountReader<'s>>, TransferError> {
        if !is_username(name) {
            return Ok(None);
        }
        let account = match (&self.store, self.source.service()) {
            (Some(store), crate::service::Service::Here(here)) => {
                account_of(store, here.account(), name).await?
            }
            _ => None,
        };
        if self.source.is_here() && account.is_none() {
            return Ok(None);
        }
        let folder = AccountFolder::create(self.folder.subuser(name))?;
        let service = self.source.service().for_subuser(name, account);
        Ok(Some(AccountReader {
            source: self.source.with_service(service),
            folder,
            journal: &mut *self.journal,
            prefix: format!("subusers/{name}/"),
            report,
            store: self.store.clone(),
            account: (!self.source.is_here()).then(|| self.folder.clone()),
        }))
    }
}

/// The account of a subuser here.
pub(crate) async fn account_of(
    store: &Store,
    parent: &Account,
    name: &str,
) -> Result<Option<Arc<Account>>, TransferError> {
    let Some(id) = store.subuser_id(&parent.id, name).await? else {
        return Ok(None);
    };
    Ok(store.account(&id).await?.map(Arc::new))
}

/// The list under this name; none if it is no list.
pub(crate) fn list_in<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    let list = value.get(name).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// The text under this name.
pub(crate) fn text_in<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

pub(crate) fn username(subuser: &Value) -> Option<String> {
    text_in(subuser, "username").map(str::to_owned)
}

/// A text as a value of a query, where a plus is a blank.
pub(crate) fn in_query(text: &str) -> String {
    in_path(text).replace('+', "%2B")
}

/// A text as one segment of a path.
pub(crate) fn in_path(text: &str) -> String {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    const KEPT: percent_encoding::AsciiSet = NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'_')
        .remove(b'.')
        .remove(b'@')
        .remove(b'+');
    utf8_percent_encode(text, &KEPT).to_string()
}
