//! Accounts, and what lets a caller act for them: keys, networks, rates, allowances, settings.

mod account_cache;
mod accounts;
mod allowed_ips;
mod api_keys;
mod attempts;
mod audit;
mod credits;
mod first_account;
mod profile;
mod rates;
mod secret;
mod sessions;
mod settings;
mod sign_in_links;
mod status;
mod suspension;
mod username;

pub use account_cache::AccountCache;
pub(crate) use account_cache::Ancestors;
pub use accounts::{Account, Monitor, Region, Renamed};
pub use allowed_ips::{Allow, AllowedIp, Disallow};
pub use api_keys::{ApiKey, Granted, KeyKind, Maker, Regranted};
pub use attempts::{AccessRecord, AttemptSummary};
pub use audit::{AuditEntry, AuditPage, AuditWindow, ChangedBy};
pub use credits::{Allowance, Credits, Frequency};
pub use profile::Profile;
pub use rates::RateWindow;
pub use secret::Secret;
pub use sessions::{
    ConsoleSession, ConsoleToken, MOST_SESSIONS, SESSION_IDLE, SESSION_LIFE, SessionOrigin,
};
pub use settings::{
    AccountSettings, BouncePurge, Forward, KEPT_DAYS, KeptMailSetting, Landing, SpamCheck,
    Whitelist,
};
pub use sign_in_links::{LINK_LIFE, OWNER_LINK_LIFE, SIGN_IN_PATH};
pub use status::{AccountStatus, SuspensionCause, SuspensionChange};
pub use suspension::SuspensionRequest;
pub use username::{LONGEST_USERNAME, is_username};
