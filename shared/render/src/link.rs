//! Signed links: their paths, and how they are built.

use posthaste_model::{AccountId, Asm, MessageId, RecipientCopy, Timestamp};

use crate::token::{KeyRing, LinkAction, LinkPart, LinkToken};

/// The open pixel.
pub const OPEN_PATH: &str = "/wf/open";
/// The click redirect.
pub const CLICK_PATH: &str = "/ls/click";
/// Unsubscribes from the group or from everything, as the token says. `GET` shows a confirmation,
/// `POST` unsubscribes (RFC 8058).
pub const UNSUBSCRIBE_PATH: &str = "/asm/unsubscribe";
/// The page that lists groups.
pub const PREFERENCES_PATH: &str = "/asm/preferences";
/// The query parameter that holds the token.
pub const TOKEN_PARAMETER: &str = "upn";

/// The inputs of signed links.
#[derive(Clone, Copy, Debug)]
pub struct Links<'a> {
    /// The tracking host with its scheme, `https://links.example.com`; a trailing slash is ignored.
    pub base: &'a str,
    /// The host of `base`, where it is the account's own: its links work under no other account's.
    pub host: Option<&'a str>,
    pub keys: &'a KeyRing,
    pub account: &'a AccountId,
    pub message: &'a MessageId,
    pub now: Timestamp,
    /// The address that receives unsubscribe mails, if any: the second URI of List-Unsubscribe.
    pub mailbox: Option<&'a str>,
}

/// Builds the links of one recipient's copy.
#[derive(Clone, Copy)]
pub(crate) struct Maker<'a> {
    links: Links<'a>,
    copy: RecipientCopy<'a>,
    asm: Option<&'a Asm>,
}

impl<'a> Maker<'a> {
    pub(crate) fn new(links: Links<'a>, copy: RecipientCopy<'a>, asm: Option<&'a Asm>) -> Self {
        Self { links, copy, asm }
    }

    pub(crate) fn open(&self, part: LinkPart) -> String {
        self.url(OPEN_PATH, LinkAction::Open { part })
    }

    pub(crate) fn click(&self, part: LinkPart, index: u32, url: String) -> String {
        self.url(CLICK_PATH, LinkAction::Click { part, index, url })
    }

    /// Unsubscribes from every list.
    pub(crate) fn global(&self) -> String {
        self.url(UNSUBSCRIBE_PATH, LinkAction::Unsubscribe)
    }

    /// Unsubscribes from the group of the mail; without one, from every list.
    pub(crate) fn unsubscribe(&self) -> String {
        match self.asm {
            Some(asm) => self.url(
                UNSUBSCRIBE_PATH,
                LinkAction::GroupUnsubscribe {
                    group: asm.group_id,
                },
            ),
            None => self.global(),
        }
    }

    /// The groups page; without a group the page lists none, and offers only a global unsubscribe.
    pub(crate) fn preferences(&self) -> String {
        match self.asm {
            Some(asm) => self.url(
                PREFERENCES_PATH,
                LinkAction::Preferences {
                    group: asm.group_id,
                    display: asm.groups_to_display.clone(),
                },
            ),
            None => self.global(),
        }
    }

    /// Whether a link already leads to this service.
    pub(crate) fn is_ours(&self, url: &str) -> bool {
        url.strip_prefix(self.base())
            .is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whether links of this copy are allowed in AMP, which accepts only https.
    pub(crate) fn is_https(&self) -> bool {
        self.links.base.starts_with("https://")
    }

    /// The address of an unsubscribe mail, with the token as its subject.
    pub(crate) fn mailto(&self) -> Option<String> {
        let mailbox = self.links.mailbox?;
        let action = match self.asm {
            Some(asm) => LinkAction::GroupUnsubscribe {
                group: asm.group_id,
            },
            None => LinkAction::Unsubscribe,
        };
        // A mail comes to the service's own domain.
        let token = self.token(action, None);
        Some(format!("mailto:{mailbox}?subject={token}"))
    }

    fn base(&self) -> &str {
        self.links.base.trim_end_matches('/')
    }

    fn url(&self, path: &str, action: LinkAction) -> String {
        let token = self.token(action, self.links.host);
        format!("{}{path}?{TOKEN_PARAMETER}={token}", self.base())
    }

    fn token(&self, action: LinkAction, host: Option<&str>) -> String {
        self.links.keys.sign(&LinkToken {
            account: self.links.account.clone(),
            message: self.links.message.clone(),
            recipient: self.copy.recipient,
            email: self.copy.mailbox.email.as_str().to_owned(),
            issued: self.links.now,
            host: host.map(str::to_owned),
            action,
        })
    }
}
