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

impl Links<'_> {
    /// The text with each token of the message `before` signed anew for this message, in which the recipient has
    /// this number: those of a mail that is sent again. The targets, and what else is in the tokens, stay.
    ///
    /// Tokens of other messages stay too: what a mail quotes is not its own.
    pub fn renewed(&self, text: &str, before: &MessageId, recipient: u32) -> String {
        let renew = |token: &str| {
            let old = self.keys.verify(token).ok()?;
            let is_own = old.account == *self.account && old.message == *before;
            is_own.then(|| {
                self.keys.sign(&LinkToken {
                    message: self.message.clone(),
                    recipient,
                    issued: self.now,
                    ..old
                })
            })
        };
        // A token follows either of these: in a link, and in the address of an unsubscribe mail.
        let links = after(text, &format!("?{TOKEN_PARAMETER}="), renew);
        after(&links, "?subject=", renew)
    }
}

/// The text with each token that follows the mark replaced, where there is a new one.
fn after(text: &str, mark: &str, renew: impl Fn(&str) -> Option<String>) -> String {
    let mut pieces = text.split(mark);
    let mut out = String::with_capacity(text.len());
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let end = piece.find(is_end).unwrap_or(piece.len());
        let (token, rest) = piece.split_at_checked(end).unwrap_or((piece, ""));
        out.push_str(mark);
        match renew(token) {
            Some(new) => out.push_str(&new),
            None => out.push_str(token),
        }
        out.push_str(rest);
    }
    out
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

#[cfg(test)]
mod tests {
    use posthaste_model::{AccountId, Timestamp};

    use super::*;
    use crate::KeyRing;

    #[test]
    fn own_tokens_are_signed_anew_and_all_else_stays() {
        let ring = KeyRing::new(&[(1, &[7; 32])]).unwrap();
        let foreign = KeyRing::new(&[(1, &[8; 32])]).unwrap();
        let account = AccountId::from_bytes([1; 10]);
        let [before, new, other] = [1, 2, 3].map(|n| MessageId::from_bytes([n; 16]));
        let token = |message: &MessageId, issued| LinkToken {
            account: account.clone(),
            message: message.clone(),
            recipient: 0,
            email: "ann@example.com".to_owned(),
            issued: Timestamp(issued),
            host: Some("links.example".to_owned()),
            action: LinkAction::Click {
                part: LinkPart::Html,
                index: 3,
                url: "https://shop.example/?a=1".to_owned(),
            },
        };
        let links = Links {
            base: "https://links.example",
            host: None,
            keys: &ring,
            account: &account,
            message: &new,
            now: Timestamp(9),
            mailbox: None,
        };
        let text = |own: &str| {
            let (quoted, false_) = (
                ring.sign(&token(&other, 1)),
                foreign.sign(&token(&before, 1)),
            );
            format!(
                "<a href=\"https://links.example{CLICK_PATH}?upn={own}\">ä?upn=</a> ?upn={own}&amp;x \
                 <mailto:leave@x.co?subject={own}>, ?subject=Hello ?upn={quoted} ?upn={false_}?upn="
            )
        };
        let got = links.renewed(&text(&ring.sign(&token(&before, 1))), &before, 0);
        assert_eq!(got, text(&ring.sign(&token(&new, 9))));
        assert_eq!(links.renewed("", &before, 0), "");
    }
}
