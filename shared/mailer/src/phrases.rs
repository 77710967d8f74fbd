//! The phrases mail servers use when they refuse, in lower case. Each list is one kind of refusal;
//! `classify` defines the order in which they are checked.

/// The mailbox cannot take mail now.
pub(super) const FULL: &[&str] = &[
    "mailbox full",
    "mailbox is full",
    "inbox is full",
    "over quota",
    "overquota",
    "quota exceeded",
    "exceeded storage",
    "insufficient storage",
];

/// The mailbox no longer exists, or is disabled.
pub(super) const GONE: &[&str] = &[
    "account disabled",
    "account is disabled",
    "mailbox disabled",
    "mailbox is disabled",
    "user is disabled",
    "is inactive",
    "account inactive",
    "suspended",
];

/// The sending rate is too high.
pub(super) const VOLUME: &[&str] = &[
    "rate limit",
    "ratelimit",
    "rate-limit",
    "too many",
    "too fast",
    "throttl",
    "unusual rate",
    "unexpected volume",
    "volume of",
    "frequency",
    "sending limit",
    "message limit",
];

/// The receiver does not trust the sender: blocklists and sender authentication.
pub(super) const REPUTATION: &[&str] = &[
    "blacklist",
    "black list",
    "blocklist",
    "block list",
    "blocked using",
    "denylist",
    "spamhaus",
    "spamcop",
    "barracuda",
    "sorbs",
    "dnsbl",
    "rbl",
    "reputation",
    "banned",
    "is blocked",
    "been blocked",
    "blocked by",
    "permanently deferred",
    "spf",
    "dkim",
    "dmarc",
    "unauthenticated",
    "reverse dns",
    "ptr record",
];

/// The mailbox does not exist.
pub(super) const INVALID: &[&str] = &[
    "user unknown",
    "unknown user",
    "no such user",
    "no such recipient",
    "no such mailbox",
    "no such address",
    "no mailbox here",
    "unknown recipient",
    "recipient unknown",
    "unknown address",
    "unknown mailbox",
    "unknown or illegal alias",
    "does not exist",
    "doesn't exist",
    "doesn't have",
    "user not found",
    "recipient not found",
    "mailbox not found",
    "address not found",
    "invalid recipient",
    "invalid mailbox",
    "invalid address",
    "not our customer",
    "no longer valid",
    "no longer available",
    "not a valid mailbox",
];

/// The content of the mail.
pub(super) const CONTENT: &[&str] = &[
    "spam",
    "virus",
    "malware",
    "phish",
    "attachment",
    "message content",
    "content rejected",
    "due to content",
    "message size",
    "message too large",
    "message is too large",
    "unsolicited",
];

/// The phrases of RFC 5321 section 4.2.3 for 450 and 550, which say little.
pub(super) const UNAVAILABLE: &[&str] = &[
    "mailbox unavailable",
    "mailbox not available",
    "mailbox busy",
];

/// The receiver's machines, or the network in between.
pub(super) const TECHNICAL: &[&str] = &[
    "dns",
    "mx record",
    "timed out",
    "timeout",
    "mail loop",
    "routing",
    "configuration error",
    "tls",
];
