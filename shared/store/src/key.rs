//! Every primary key of the single table, built here and nowhere else.
//!
//! | row                  | pk                          | sk                               |
//! |----------------------|-----------------------------|----------------------------------|
//! | account              | `A#<account>`               | `ACCOUNT`                        |
//! | account, all of them | `ACCOUNTS`                  | `<account>`                      |
//! | subuser, by its name | `A#<parent>`                | `SUB#<name, lower case>`         |
//! | counter of a limit   | `A#<account>`               | `COUNT#<what>`                   |
//! | allowed IP           | `A#<account>`               | `IP#<CIDR>`                      |
//! | sending allowance    | `A#<account>`               | `CREDITS`                        |
//! | mail, tracking settings | `A#<account>`            | `SETTINGS`                       |
//! | customer of a parent    | `A#<parent>`             | `CUSTOMER#<account>`             |
//! | contact data            | `A#<account>`            | `PROFILE`                        |
//! | access attempt       | `SEEN#<account>`            | `<allowed>#<method>#<network>`   |
//! | change of an account | `AUDIT#<account>`           | `<end of time - at, in ms>#<request>` |
//! | rate-limit window    | `RATE#<account>#<endpoint>` | `<window, 12 digits>`            |
//! | API key              | `A#<account>`               | `KEY#<key id>`                   |
//! | API key, by its id   | `KEY#<key id>`              | `KEY`                            |
//! | session of the console | `A#<account>`             | `SESSION#<session id>`           |
//! | link that opens one  | `A#<account>`               | `SIGNIN#<link id>`               |
//! | event webhook        | `A#<account>`               | `HOOK#<webhook>`                 |
//! | its URL, held once   | `A#<account>`               | `HOOKURL#<hash of the URL>`      |
//! | undelivered events   | `DEAD#<account>`            | `<time, 12>#<webhook>#<hash>`    |
//! | parse setting        | `A#<account>`               | `PARSE#<hostname>`               |
//! | security policy      | `A#<account>`               | `POLICY#<policy>`                |
//! | its hostname, held   | `MX#<hostname>`             | `MX`                             |
//! | received mails, count| `RECEIVED#<account>`        | `<day>`                          |
//! | received mail        | `IN#<account>#<id>`         | `IN`                             |
//! | undelivered mail     | `LOST#<account>`            | `<received, 12>#<id>`            |
//! | recipient's copy     | `M#<account>#<message>`     | `R#<recipient, 5 digits>`        |
//! | first open, click   | `M#<account>#<message>`     | `FIRST#<recipient>#<kind>`       |
//! | report without a copy | `M#<account>#<message>`   | `TOLD#<recipient>#<event>`       |
//! | composed mail        | `KEPT#<account>#<p>`        | `<message>#<recipient, 5 digits>` |
//! | search row          | `SEEKS#<account>#<p>`       | `<end of time - at>#<message>#<r>` |
//! | its place under its recipient | `SEEK#<account>#<address>` | the same                |
//! | scheduled mail, shown | `WAITS#<account>#<p>`     | the same                         |
//! | counters of a day   | `STATS#<account>`           | `<YYYY-MM-DD>#<category>`        |
//! | bounces of a day    | `BOUNCED#<account>`         | `<YYYY-MM-DD>#<class>#<domain>`  |
//! | batch that counts   | `COUNTED#<account>#<hash>`  | `<part, 4 digits>`               |
//! | domain               | `A#<account>`               | `DOMAIN#<id, 10 digits>`         |
//! | template             | `A#<account>`               | `TPL#<template>`                 |
//! | texts of a version   | `A#<account>`               | `TPLTEXT#<texts>#<part>`         |
//! | verified sender      | `A#<account>`               | `SENDER#<id, 10 digits>`         |
//! | pools of sending addresses | `A#<account>`         | `IPPOOLS`                        |
//! | names of addresses   | `A#<account>`               | `REVERSEDNS`                     |
//! | branded links        | `A#<account>`               | `LINKS`                          |
//! | host of branded links | `BRANDED#<host>`          | `BRANDED`                        |
//! | alert                | `A#<account>`               | `ALERT#<id, 10 digits>`          |
//! | name to send from    | `A#<account>`               | `FROM#<domain or address>`       |
//! | request with a key   | `ONCE#<account>#<hash>`     | `ONCE`                           |
//! | mailed link          | `LINK#<hash of the token>`  | `LINK`                           |
//! | address to forward to| `A#<account>`               | `FORWARD#<hash of the address>`  |
//! | system mails caused  | `A#<topmost account>`       | `SYSTEMMAILS`                    |
//! | system mails received| `SYSTEMMAILS#<hash of the mailbox>` | `SYSTEMMAILS`            |
//! | unsubscribe group    | `A#<account>`               | `GROUP#<id, 10 digits>`          |
//! | its name, held once  | `A#<account>`               | `GROUPNAME#<hash of the name>`   |
//! | the default group    | `A#<account>`               | `DEFAULTGROUP`                   |
//! | suppressed address   | `SUP#<account>#<address>`   | `SUP`                            |
//! | its place in a list  | `SUPS#<account>#<list>#<p>` | `<end of time - at>#<address>`   |
//! | address to forget   | `A#<account>`               | `FORGET#<hash of the address>`   |
//! | batch id             | `A#<account>`               | `BATCH#<batch>`                  |
//! | holds of an account  | `A#<account>`               | `HOLDS`                          |
//! | piece of scheduled mail | `M#<account>#<message>`  | `LATER#<first recipient>`        |
//! | listing of a batch   | `B#<account>#<batch>#<p>`   | `<at>#<message>#<first>`         |
//! | held message         | `HELD#<account>#<batch>#<p>`| `<at>#<message>#<first>`         |
//! | due row              | `DUE#<minute>#<shard>`      | `<account>#<at>#<target>#<id>`     |
//! | minute with due rows | `DUES#<p>`                  | `<minute>#<shards>`              |
//!
//! `<p>` is one of a fixed number of partitions. Numbers in sort keys are padded. A row that must
//! be found before the account is known (a key by its id) names the account inside.

mod lists;
mod schedule;

use std::borrow::Cow;

use ipnet::IpNet;
use posthaste_model::{
    AccountId, DownloadId, KeyId, MessageId, PolicyId, TemplateId, VersionId, WebhookId, cut,
};

pub(crate) use schedule::{HeldCursor, LAST, MINUTE_PARTS, SPREAD, hash, minute, padded, share};

/// External text as the end of a sort key, which DynamoDB limits to 1,024 bytes: a longer one is
/// cut and ends with its hash.
pub(crate) fn fitting(text: &str) -> Cow<'_, str> {
    // Leaves room for the longest prefix of such texts, a day or a time.
    const MOST: usize = 1_024 - "2026-11-29#".len();
    const HASH: usize = "#0123456789abcdef".len();
    if text.len() <= MOST {
        return Cow::Borrowed(text);
    }
    let (start, hash) = (cut(text, MOST - HASH), hash(&[text]));
    Cow::Owned(format!("{start}#{hash:016x}"))
}

/// A primary key of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub pk: String,
    pub sk: String,
}

impl Key {
    pub(crate) fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self {
            pk: pk.into(),
            sk: sk.into(),
        }
    }

    pub(crate) fn account_pk(account: &AccountId) -> String {
        format!("A#{account}")
    }

    /// A row of an account's own partition.
    pub(crate) fn of_account(account: &AccountId, sk: impl Into<String>) -> Self {
        Self::new(Self::account_pk(account), sk)
    }

    pub(crate) fn account(account: &AccountId) -> Self {
        Self::of_account(account, "ACCOUNT")
    }

    pub(crate) fn account_entry(account: &AccountId) -> Self {
        Self::new(Self::account_entries(), account.as_str())
    }

    pub(crate) fn account_entries() -> &'static str {
        "ACCOUNTS"
    }

    /// Which account a local host created for its developer.
    pub(crate) fn first_account() -> Self {
        Self::new("HOST", "FIRST_ACCOUNT")
    }

    pub(crate) fn subuser(parent: &AccountId, username: &str) -> Self {
        Self::of_account(parent, format!("SUB#{}", username.to_lowercase()))
    }

    pub(crate) fn customer(parent: &AccountId, customer: &AccountId) -> Self {
        Self::of_account(parent, format!("CUSTOMER#{customer}"))
    }

    /// Says that every customer account of the parent has its row.
    pub(crate) fn customers_indexed(parent: &AccountId) -> Self {
        Self::of_account(parent, "CUSTOMERS")
    }

    pub(crate) fn allowed_ip(account: &AccountId, net: &IpNet) -> Self {
        Self::of_account(account, format!("IP#{net}"))
    }

    pub(crate) fn credits(account: &AccountId) -> Self {
        Self::of_account(account, "CREDITS")
    }

    pub(crate) fn settings(account: &AccountId) -> Self {
        Self::of_account(account, "SETTINGS")
    }

    pub(crate) fn profile(account: &AccountId) -> Self {
        Self::of_account(account, "PROFILE")
    }

    pub(crate) fn attempts_pk(account: &AccountId) -> String {
        format!("SEEN#{account}")
    }

    pub(crate) fn audit_pk(account: &AccountId) -> String {
        format!("AUDIT#{account}")
    }

    pub(crate) fn rate(account: &AccountId, endpoint: &str, window: i64) -> Self {
        Self::new(
            format!("RATE#{account}#{endpoint}"),
            format!("{window:012}"),
        )
    }

    pub(crate) fn count(account: &AccountId, what: &str) -> Self {
        Self::of_account(account, format!("COUNT#{what}"))
    }

    pub(crate) fn api_key(account: &AccountId, key: &KeyId) -> Self {
        Self::of_account(account, format!("KEY#{key}"))
    }

    pub(crate) fn api_key_by_id(key: &KeyId) -> Self {
        Self::new(format!("KEY#{key}"), "KEY")
    }

    pub(crate) fn session(account: &AccountId, id: &KeyId) -> Self {
        Self::of_account(account, format!("{}{id}", Self::sessions()))
    }

    /// What the sort keys of an account's sessions begin with.
    pub(crate) fn sessions() -> &'static str {
        "SESSION#"
    }

    pub(crate) fn sign_in_link(account: &AccountId, id: &KeyId) -> Self {
        Self::of_account(account, format!("SIGNIN#{id}"))
    }

    pub(crate) fn webhook(account: &AccountId, webhook: &WebhookId) -> Self {
        Self::of_account(account, format!("HOOK#{webhook}"))
    }

    pub(crate) fn webhook_url(account: &AccountId, hash: &str) -> Self {
        Self::of_account(account, format!("HOOKURL#{hash}"))
    }

    pub(crate) fn template(account: &AccountId, template: &TemplateId) -> Self {
        Self::of_account(account, format!("TPL#{template}"))
    }

    /// A part of the texts of a template version.
    pub(crate) fn template_texts(account: &AccountId, texts: &VersionId, part: usize) -> Self {
        Self::of_account(account, format!("TPLTEXT#{texts}#{part:02}"))
    }

    pub(crate) fn domain(account: &AccountId, id: i64) -> Self {
        Self::of_account(account, format!("DOMAIN#{id:010}"))
    }

    pub(crate) fn sender(account: &AccountId, id: i64) -> Self {
        Self::of_account(account, format!("SENDER#{id:010}"))
    }

    pub(crate) fn ip_pools(account: &AccountId) -> Self {
        Self::of_account(account, "IPPOOLS")
    }

    pub(crate) fn reverse_dns(account: &AccountId) -> Self {
        Self::of_account(account, "REVERSEDNS")
    }

    pub(crate) fn link_branding(account: &AccountId) -> Self {
        Self::of_account(account, "LINKS")
    }

    pub(crate) fn branded_host(host: &str) -> Self {
        Self::new(format!("BRANDED#{host}"), "BRANDED")
    }

    pub(crate) fn alert(account: &AccountId, id: i64) -> Self {
        Self::of_account(account, format!("ALERT#{id:010}"))
    }

    /// The holder row of a domain or address that the account may send from.
    pub(crate) fn holder(account: &AccountId, name: &str) -> Self {
        Self::of_account(account, format!("FROM#{}", fitting(name)))
    }

    pub(crate) fn link(hash: &str) -> Self {
        Self::new(format!("LINK#{hash}"), "LINK")
    }

    /// An address that bounces and spam reports may be forwarded to once it is confirmed.
    pub(crate) fn forward(account: &AccountId, hash: &str) -> Self {
        Self::of_account(account, format!("FORWARD#{hash}"))
    }

    /// The system mails that an account and its subusers caused.
    pub(crate) fn system_mails(account: &AccountId) -> Self {
        Self::of_account(account, "SYSTEMMAILS")
    }

    /// The system mails that a mailbox received.
    pub(crate) fn system_mails_to(hash: &str) -> Self {
        Self::new(format!("SYSTEMMAILS#{hash}"), "SYSTEMMAILS")
    }

    /// A request with an idempotency key, by the hash of that key. A partition of its own each.
    pub(crate) fn replay(account: &AccountId, hash: &str) -> Self {
        Self::new(format!("ONCE#{account}#{hash}"), "ONCE")
    }

    /// A requested download of search results.
    pub(crate) fn download(account: &AccountId, id: &DownloadId) -> Self {
        Self::of_account(account, format!("{}{id}", Self::downloads()))
    }

    /// What the sort keys of an account's downloads begin with.
    pub(crate) fn downloads() -> &'static str {
        "DOWNLOAD#"
    }

    pub(crate) fn dead_letters_pk(account: &AccountId) -> String {
        format!("DEAD#{account}")
    }

    pub(crate) fn posts_pk(account: &AccountId) -> String {
        format!("POSTS#{account}")
    }

    /// The job of the account that posts events again.
    pub(crate) fn event_replay(account: &AccountId) -> Self {
        Self::of_account(account, "EVENTREPLAY")
    }

    pub(crate) fn parse_setting(account: &AccountId, hostname: &str) -> Self {
        Self::of_account(account, format!("PARSE#{hostname}"))
    }

    pub(crate) fn security_policy(account: &AccountId, policy: &PolicyId) -> Self {
        Self::of_account(account, format!("POLICY#{policy}"))
    }

    /// The owner of a hostname.
    pub(crate) fn parse_host(hostname: &str) -> Self {
        Self::new(format!("MX#{hostname}"), "MX")
    }

    pub(crate) fn received_pk(account: &AccountId) -> String {
        format!("RECEIVED#{account}")
    }

    pub(crate) fn received(account: &AccountId, day: &str) -> Self {
        Self::new(Self::received_pk(account), day)
    }

    pub(crate) fn arrival(account: &AccountId, id: &str) -> Self {
        Self::new(format!("IN#{account}#{id}"), "IN")
    }

    /// When content without a Message-ID was last received as a mail of its own.
    pub(crate) fn last_arrival(account: &AccountId, content: &str) -> Self {
        Self::new(format!("IN#{account}#{content}"), "LAST")
    }

    /// Which recipients need the raw mail of this name.
    pub(crate) fn raw_mail_pk(blob: &str) -> String {
        format!("RAW#{blob}")
    }

    pub(crate) fn lost_mails_pk(account: &AccountId) -> String {
        format!("LOST#{account}")
    }

    pub(crate) fn message_pk(account: &AccountId, message: &MessageId) -> String {
        format!("M#{account}#{message}")
    }

    pub(crate) fn recipient(account: &AccountId, message: &MessageId, recipient: u32) -> Self {
        Self::new(
            Self::message_pk(account, message),
            format!("R#{recipient:05}"),
        )
    }

    /// Position of the recipient within the message, from the key of a copy.
    pub(crate) fn recipient_number(&self) -> Option<u32> {
        self.sk.strip_prefix("R#")?.parse().ok()
    }
}
