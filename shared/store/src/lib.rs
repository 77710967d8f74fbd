//! The only crate that accesses DynamoDB: one table, keys, rows, conditions, paging, expiry.
//!
//! [`Store`] has the primitives, and every subject adds its operations to it. Locally the same SDK
//! talks to an embedded DynamoDB.
//!
//! | module | what it stores |
//! |---|---|
//! | `table` | nothing: the primitives of rows, transactions, expressions, expiry |
//! | `key` | the primary key of every row, in one table |
//! | `access` | accounts, API keys, sessions, allowed networks, attempts, allowances, rates, settings |
//! | `identity` | domains, verified senders, addresses to forward to, system mails, pools of sending addresses, branded links |
//! | `mail` | templates, copies of recipients and their events, visits, the search |
//! | `schedule` | due rows, scheduled mail, batches and what they hold back, alerts |
//! | `lists` | suppressions, unsubscribe groups |
//! | `webhooks` | event webhooks, posts to them, undelivered events, jobs that post events again |
//! | `inbound` | parse settings and their security policies, received mail, undelivered mail |
//! | `stats` | counters of a day |
//! | `idempotency` | requests with an `Idempotency-Key` |
//! | `privacy` | erasure of addresses or an account, across the other subjects |
//! | [`largest`] | how large the rows of each family can become |
//!
//! A module uses `table` and `key`, and others only in one direction (`tests/it/circles.rs`).
//!
//! # Errors
//!
//! Where a method does not say more, its error means that the table failed, that a row is not of a
//! form that this release reads, or that a row kept changing while the method tried to change it.

mod access;
mod idempotency;
mod identity;
mod inbound;
mod key;
mod lists;
mod mail;
mod privacy;
mod schedule;
mod stats;
mod table;
mod webhooks;

pub use access::{
    AccessRecord, Account, AccountCache, AccountSettings, AccountStatus, Allow, Allowance,
    AllowedIp, ApiKey, AttemptSummary, AuditEntry, AuditPage, AuditWindow, BouncePurge, ChangedBy,
    ConsoleSession, ConsoleToken, Credits, Disallow, Forward, Frequency, Granted, KEPT_DAYS,
    KeptMailSetting, KeyKind, LINK_LIFE, LONGEST_USERNAME, Landing, MOST_SESSIONS, Maker, Monitor,
    OWNER_LINK_LIFE, Profile, RateWindow, Region, Regranted, Renamed, SESSION_IDLE, SESSION_LIFE,
    SIGN_IN_PATH, Secret, SessionOrigin, SpamCheck, SuspensionCause, SuspensionChange,
    SuspensionRequest, Whitelist, is_username,
};
pub use idempotency::{Acquire, IdempotentRequest, KeyHold, LONGEST_REQUEST, REMEMBERED};
pub use identity::{
    Borrower, BrandedLink, Counted, CountedMail, DkimKey, Domain, ForwardTo, IpPools, Lent,
    LentLink, LinkBranding, MOST_BRANDED_LINKS, MOST_IP_POOLS, MOST_IPS_IN_POOLS, MOST_REVERSE_DNS,
    Resaved, ReverseDns, SYSTEM_MAIL_PAUSE, SYSTEM_MAIL_PERIOD, SYSTEM_MAILS_PER_ACCOUNT,
    SYSTEM_MAILS_PER_ADDRESS, SenderAuthority, SenderFields, SenderLink, SystemMail,
    VerifiedSender,
};
pub use inbound::{
    ArrivalStage, Arriving, LostMail, ParseSetting, PolicyDeletion, PolicyOauth, SecurityPolicy,
    SettingChange, SettingCreation,
};
pub use key::Key;
pub use lists::{
    DateWindow as ListWindow, EXAMINED_ENTRIES, Group, GroupChange, GroupSaved, ListEntry,
    ListPart, Mark, Suppressed, SuppressedAddress, SuppressionList,
};
pub use mail::{
    AttemptOutcome, Claim, Claimant, CopyState, Described, Download, FeedbackOutcome,
    FeedbackUpdate, HANDED_PARTS, HandedCopies, HandedCopy, KeepTerm, LONGEST_SUBJECT, MOST_VISITS,
    NewsWatch, OutageScope, OutageWait, Placed, Recipient, SearchStatus, Seek, Sought, Template,
    Version, VersionTexts, Visit, VisitKind,
};
pub use privacy::{
    CopiesPage, CopyTrace, Erasure, ErasurePhase, ErasureState, MOST_ERASED, ScanPosition,
};
pub use schedule::{
    Alert, AlertKind, AlertLook, Batch, BatchListing, Due, DueCursor, DuePage, DueTarget, Entries,
    GRACE, HeldMessage, HoldError, Minute, MoveError, NEAR, PendingRows, Reach, Released,
    ScheduledMail, ScheduledPart, StoredArgs, WaitingCopies, WaitingCopy, WaitingDetails,
    WaitingPage,
};
pub use stats::{
    Added, Bounced, DayBounces, DayStats, Hours, METRICS, MailEnd, SegmentCounts, SendingRates,
    Tally,
};
pub use table::{
    Attempts, DUE_SHARDS, Embedded, PageQuery, Put, ResultPage, RowChange, Store, StoreError,
    StoredRow, TableResponse, Transact, Write, largest,
};
pub use webhooks::{
    CreateOutcome, DeadLetter, DeadLetterFilter, EventReplay, LISTED_POSTS, POST_LIFE, PostFilter,
    PostId, PostPage, ReplaySpan, ReplayStart, Saved, Signing, Webhook, WebhookPost,
};
