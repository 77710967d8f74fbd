//! Signed links: their paths, and how one is made.

use posthaste_model::{Asm, RecipientCopy};

use crate::copy::Links;
use crate::token::{LinkAction, LinkPart, LinkToken};

/// The open pixel.
pub const OPEN_PATH: &str = "/wf/open";
/// The click redirect.
pub const CLICK_PATH: &str = "/ls/click";
/// Off the group or off everything, as the token says. `GET` asks, `POST` does (RFC 8058).
pub const UNSUBSCRIBE_PATH: &str = "/asm/unsubscribe";
/// The page that lists groups.
pub const PREFERENCES_PATH: &str = "/asm/preferences";
/// The query parameter that holds the token.
pub const TOKEN_PARAMETER: &str = "upn";

/// Makes the links of one recipient's copy.
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

    /// Off every list.
    pub(crate) fn global(&self) -> String {
        self.url(UNSUBSCRIBE_PATH, LinkAction::Unsubscribe)
    }

    /// Off the group of the mail; without one, off every list.
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

    /// The groups page; without a group there is nothing to list, only everything to leave.
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

    /// Whether a link leads to us already.
    pub(crate) fn is_ours(&self, url: &str) -> bool {
        url.strip_prefix(self.base())
            .is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whether links of this copy may stand in AMP, which takes nothing but https.
    pub(crate) fn is_https(&self) -> bool {
        self.links.base.starts_with("https://")
    }

    /// Where an unsubscribe mail goes, with the token as its subject.
    pub(crate) fn mailto(&self) -> Option<String> {
        let mailbox = self.links.mailbox?;
        let action = match self.asm {
            Some(asm) => LinkAction::GroupUnsubscribe {
                group: asm.group_id,
            },
            None => LinkAction::Unsubscribe,
        };
        Some(format!("mailto:{mailbox}?subject={}", self.token(action)))
    }

    fn base(&self) -> &str {
        self.links.base.trim_end_matches('/')
    }

    fn url(&self, path: &str, action: LinkAction) -> String {
        let token = self.token(action);
        format!("{}{path}?{TOKEN_PARAMETER}={token}", self.base())
    }

    fn token(&self, action: LinkAction) -> String {
        self.links.keys.sign(&LinkToken {
            account: self.links.account.clone(),
            message: self.links.message.clone(),
            recipient: self.copy.recipient,
            email: self.copy.mailbox.email.as_str().to_owned(),
            issued: self.links.now,
            action,
        })
    }
}
