//! Of the lists of addresses that get no mail.

/// A list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListText {
    pub(crate) label: &'static str,
    /// How an address gets there, and what follows.
    pub(crate) about: &'static str,
}

pub(crate) const BOUNCES: ListText = ListText {
    label: "Bounces",
    about: "The receiving side refused the address for good. Mail to it is dropped.",
};
pub(crate) const BLOCKS: ListText = ListText {
    label: "Blocks",
    about: "The receiving side refused a mail for another reason. The next mail is tried.",
};
pub(crate) const INVALID_EMAILS: ListText = ListText {
    label: "Invalid addresses",
    about: "The domain or the address cannot take mail. Mail to it is dropped.",
};
pub(crate) const SPAM_REPORTS: ListText = ListText {
    label: "Spam reports",
    about: "The recipient reported a mail as spam. Mail to the address is dropped.",
};
pub(crate) const UNSUBSCRIBES: ListText = ListText {
    label: "Unsubscribed from everything",
    about: "The recipient left everything, or a call added the address. Mail to it is dropped.",
};
