//! Links that open one session of the console: secrets that are shown once and stored only as a hash,
//! in the partition of their account.

use posthaste_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::sessions::{ConsoleSession, ConsoleToken};
use crate::key::Key;
use crate::table::{Store, StoreError, Transact, Write};

/// Seconds for which a link opens a session.
pub const LINK_LIFE: i64 = 15 * 60;

/// Seconds for which the link of a new stack opens a session: a deployment may run overnight, and is looked at the next
/// morning.
pub const OWNER_LINK_LIFE: i64 = 24 * 3_600;

/// The page of the console behind a link.
pub const SIGN_IN_PATH: &str = "/console/sign-in";

impl ConsoleToken {
    /// The link that this token opens a session with, of the service at this address.
    pub fn link(&self, base: &str) -> String {
        let base = base.trim_end_matches('/');
        format!("{base}{SIGN_IN_PATH}?token={}", self.expose())
    }
}

/// A link that opens one session.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SignInLink {
    hash: String,
    until: Timestamp,
}

fn row(token: &ConsoleToken, until: Timestamp) -> (Key, SignInLink) {
    let link = SignInLink {
        hash: token.hash(),
        until,
    };
    (Key::sign_in_link(token.account(), token.id()), link)
}

impl Store {
    /// Writes a link that opens a session within [`LINK_LIFE`] of `now`, once.
    pub async fn create_sign_in_link(
        &self,
        token: &ConsoleToken,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (place, link) = row(token, now.plus(LINK_LIFE));
        self.put(&place, &link, Some(link.until)).await
    }

    /// The step that writes a link which opens a session until this second.
    pub(super) fn step_of_link(
        &self,
        token: &ConsoleToken,
        until: Timestamp,
    ) -> Result<Write, StoreError> {
        let (place, link) = row(token, until);
        self.write_new(&place, &link, Some(until))
    }

    /// Whether a link still opens a session.
    pub async fn is_sign_in_link(
        &self,
        token: &ConsoleToken,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        Ok(self.link(token, now).await?.is_some())
    }

    /// Its place and revision.
    async fn link(
        &self,
        token: &ConsoleToken,
        now: Timestamp,
    ) -> Result<Option<(Key, u64)>, StoreError> {
        let place = Key::sign_in_link(token.account(), token.id());
        let row = self.get::<SignInLink>(&place).await?;
        let row = row.filter(|row| token.opens(&row.value.hash) && now < row.value.until);
        Ok(row.map(|row| (row.key, row.rev)))
    }

    /// Uses a link up and writes the session that it opens, both or neither; `false` when the link
    /// does not open one. Of two uses at the same time one opens a session.
    pub async fn redeem_link(
        &self,
        link: &ConsoleToken,
        session: &ConsoleSession,
    ) -> Result<bool, StoreError> {
        let now = session.created_at;
        let Some((place, rev)) = self.link(link, now).await? else {
            return Ok(false);
        };
        self.end_oldest_sessions(&session.account).await?;
        let steps = vec![
            self.write_delete_unchanged(&place, rev)?,
            self.write_new(&session.place(), session, Some(session.ends_at()))?,
        ];
        Ok(self.transact(steps).await? == Transact::Done)
    }
}
