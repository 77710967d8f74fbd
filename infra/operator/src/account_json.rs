//! An account in what commands print.

use posthaste_store::{Account, AccountStatus, Region};
use serde_json::{Value, json};

pub(crate) fn to_json(account: &Account) -> Value {
    json!({
        "id": account.id,
        "username": account.username,
        "email": account.email,
        "user_id": account.user_id,
        "parent": account.parent,
        "customer": account.customer,
        "status": status(account.status),
        "disabled": account.status.is_disabled(),
        "suspended": account.status.is_suspended(),
        "region": region(account.region),
        "gzip": account.gzip,
        "metered": account.metered,
        "created_at": account.created_at,
    })
}

pub(crate) fn status(status: AccountStatus) -> &'static str {
    match status {
        AccountStatus::Active => "active",
        AccountStatus::Disabled => "disabled",
        AccountStatus::Suspended => "suspended",
        AccountStatus::DisabledAndSuspended => "disabled and suspended",
    }
}

pub(crate) fn region(region: Region) -> &'static str {
    match region {
        Region::Global => "global",
        Region::Eu => "eu",
    }
}
