//! Sessions of the console, and the links that open one: secrets that are shown once and stored only
//! as a hash.
//!
//! Both live in the partition of their account, and their secrets name it, so that each is one row.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, Entropy, KeyId, Timestamp, cut};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::api_keys::{ApiKey, KeyKind, Maker};
use crate::key::Key;
use crate::table::{PageQuery, Store, StoreError, Transact, UpdateBuilder, number};

/// Seconds after its last request at which a session ends: a working day and the way home.
pub const SESSION_IDLE: i64 = 12 * 3_600;

/// Seconds after its beginning at which a session ends, however much it is used.
pub const SESSION_LIFE: i64 = 7 * 86_400;

/// Seconds for which a link opens a session.
pub const LINK_LIFE: i64 = 15 * 60;

/// The page of the console behind a link.
pub const SIGN_IN_PATH: &str = "/console/sign-in";

/// Seconds between two writes of when a session was last used.
const TOUCH: i64 = 15 * 60;

/// Sessions of an account. One more ends the one that was used longest ago.
pub const MOST_SESSIONS: usize = 50;

/// The longest name of a browser that is stored, in bytes.
const LONGEST_AGENT: usize = 200;

/// The secret of a session or of a link: `<account, 10>.<id, 22>.<secret, 43>`, 77 characters that
/// cookies and URLs take as they are. Hash it, compare it, never print it.
#[derive(Clone)]
pub struct ConsoleToken {
    account: AccountId,
    id: KeyId,
    text: String,
}

impl ConsoleToken {
    /// A new token for this account.
    pub fn generate(account: &AccountId, entropy: &Entropy) -> Self {
        let id = entropy.key_id();
        let secret = URL_SAFE_NO_PAD.encode(entropy.bytes::<32>());
        Self {
            text: format!("{account}.{id}.{secret}"),
            account: account.clone(),
            id,
        }
    }

    /// Reads a token; `None` when it is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        let (account, rest) = text.split_once('.')?;
        let (id, secret) = rest.split_once('.')?;
        let url_safe = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        (secret.len() == 43 && secret.bytes().all(url_safe)).then_some(())?;
        Some(Self {
            account: AccountId::parse(account).ok()?,
            id: KeyId::parse(id).ok()?,
            text: text.to_owned(),
        })
    }

    /// The account that it is of.
    pub fn account(&self) -> &AccountId {
        &self.account
    }

    /// The public part: the id of the session or of the link.
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// The token in clear, for the one time it is handed over.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// The link that this token opens a session with, of the service at this address.
    pub fn link(&self, base: &str) -> String {
        let base = base.trim_end_matches('/');
        format!("{base}{SIGN_IN_PATH}?token={}", self.text)
    }

    /// What is stored. The secret has 256 random bits, so a plain hash cannot be brute-forced.
    fn hash(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.text.as_bytes()))
    }

    /// Whether this is the token of a row, compared in constant time.
    fn opens(&self, stored: &str) -> bool {
        bool::from(stored.as_bytes().ct_eq(self.hash().as_bytes()))
    }
}

impl fmt::Debug for ConsoleToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConsoleToken({}.{}.…)", self.account, self.id)
    }
}

/// A session of the console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleSession {
    pub id: KeyId,
    pub account: AccountId,
    /// The API key that it was opened with, whose scopes are the session's for as long as the key
    /// exists. `None`: it was opened by a link and has full access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    pub hash: String,
    pub created_at: Timestamp,
    /// When it was last used, not older than a quarter of an hour.
    pub seen_at: Timestamp,
    /// What the browser called itself when the session began.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
}

impl ConsoleSession {
    /// The session of this token, which begins now.
    pub fn new(token: &ConsoleToken, key: Option<KeyId>, agent: &str, now: Timestamp) -> Self {
        Self {
            id: token.id.clone(),
            account: token.account.clone(),
            key,
            hash: token.hash(),
            created_at: now,
            seen_at: now,
            agent: cut(agent, LONGEST_AGENT).to_owned(),
        }
    }

    /// The second at which it ends unless it is used before.
    pub fn ends_at(&self) -> Timestamp {
        let idle = self.seen_at.plus(SESSION_IDLE);
        idle.min(self.created_at.plus(SESSION_LIFE))
    }

    /// Whether this token opens it at `now`.
    pub fn is_opened_by(&self, token: &ConsoleToken, now: Timestamp) -> bool {
        token.opens(&self.hash) && now < self.ends_at()
    }

    /// What a session without a key may do, as the key that it stands for: full access.
    pub fn full_access(&self) -> ApiKey {
        ApiKey {
            id: self.id.clone(),
            account: self.account.clone(),
            name: "Console".to_owned(),
            kind: KeyKind::Full,
            scopes: Vec::new(),
            hash: self.hash.clone(),
            created_at: self.created_at,
            is_test: false,
        }
    }

    fn place(&self) -> Key {
        Key::session(&self.account, &self.id)
    }
}

/// A link that opens one session.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SignInLink {
    hash: String,
    until: Timestamp,
}

impl Store {
    /// Writes a new session. Past [`MOST_SESSIONS`] those that were used longest ago end.
    pub async fn create_session(&self, session: &ConsoleSession) -> Result<(), StoreError> {
        self.end_oldest_sessions(&session.account).await?;
        let ends = Some(session.ends_at());
        self.put(&session.place(), session, ends).await
    }

    async fn end_oldest_sessions(&self, account: &AccountId) -> Result<(), StoreError> {
        let sessions = self.sessions(account, Timestamp(0)).await?;
        for oldest in sessions.iter().skip(MOST_SESSIONS - 1) {
            self.end_session(account, &oldest.id).await?;
        }
        Ok(())
    }

    /// The session with this id, which may have ended: see [`ConsoleSession::is_opened_by`].
    pub async fn session(
        &self,
        account: &AccountId,
        id: &KeyId,
    ) -> Result<Option<ConsoleSession>, StoreError> {
        let row = self.get(&Key::session(account, id)).await?;
        Ok(row.map(|row| row.value))
    }

    /// The sessions of an account that have not ended, the one that was used last first.
    pub async fn sessions(
        &self,
        account: &AccountId,
        now: Timestamp,
    ) -> Result<Vec<ConsoleSession>, StoreError> {
        let pk = Key::account_pk(account);
        let rows = self
            .list::<ConsoleSession>(&pk, Key::sessions(), &PageQuery::all())
            .await?;
        let sessions = rows.into_iter().map(|row| row.value);
        let mut sessions: Vec<_> = sessions.filter(|one| now < one.ends_at()).collect();
        sessions.sort_by(|a, b| (b.seen_at, &b.id).cmp(&(a.seen_at, &a.id)));
        Ok(sessions)
    }

    /// Notes that a session was used, at most once in a quarter of an hour. The session as it is
    /// now; `None` where nothing was written.
    pub async fn touch_session(
        &self,
        session: &ConsoleSession,
        now: Timestamp,
    ) -> Result<Option<ConsoleSession>, StoreError> {
        if now.since(session.seen_at) < TOUCH {
            return Ok(None);
        }
        let used = ConsoleSession {
            seen_at: now,
            ..session.clone()
        };
        // A session that was ended meanwhile must not be there again.
        let update = UpdateBuilder::default()
            .set("seen_at", number(now.0))
            .set("exp", number(used.ends_at().0))
            .condition("attribute_exists(pk)", []);
        let is_there = self.update(&used.place(), &update).await?;
        Ok(is_there.then_some(used))
    }

    /// Ends a session of this account; `false` when there is none.
    pub async fn end_session(&self, account: &AccountId, id: &KeyId) -> Result<bool, StoreError> {
        self.delete(&Key::session(account, id)).await
    }

    /// A session without a key, to create keys with.
    pub async fn session_maker(
        &self,
        account: &AccountId,
        id: &KeyId,
    ) -> Result<Option<Maker>, StoreError> {
        let row = self
            .get::<ConsoleSession>(&Key::session(account, id))
            .await?;
        let row = row.filter(|row| row.value.key.is_none());
        Ok(row.map(|row| Maker::of_session(row.value.full_access(), row.key, row.rev)))
    }

    /// Writes a link that opens a session within [`LINK_LIFE`] of `now`, once.
    pub async fn create_sign_in_link(
        &self,
        token: &ConsoleToken,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let link = SignInLink {
            hash: token.hash(),
            until: now.plus(LINK_LIFE),
        };
        let place = Key::sign_in_link(&token.account, &token.id);
        self.put(&place, &link, Some(link.until)).await
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
        let place = Key::sign_in_link(&token.account, &token.id);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> ConsoleToken {
        let entropy = Entropy::counting();
        ConsoleToken::generate(&entropy.account_id(), &entropy)
    }

    #[test]
    fn a_token_has_77_characters_of_a_cookie_and_does_not_print() {
        let token = token();
        let text = token.expose();
        assert_eq!(text.len(), 77);
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        assert!(text.bytes().all(is_plain), "{text}");
        let read = ConsoleToken::parse(text).unwrap();
        assert!(read.opens(&token.hash()));
        let printed = format!("{token:?}");
        let secret = text.rsplit('.').next().unwrap();
        assert!(!printed.contains(secret), "{printed}");
    }

    #[test]
    fn what_has_not_the_form_of_a_token_is_none() {
        let good = token().expose().to_owned();
        let longer = format!("{good}a");
        let api_key = "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";
        for bad in ["", "..", "a.b.c", &longer, api_key, good.get(..76).unwrap()] {
            assert!(ConsoleToken::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn a_session_ends_by_itself_idle_or_used() {
        let (token, now) = (token(), Timestamp(1_000));
        let mut session = ConsoleSession::new(&token, None, "", now);
        let opens = |session: &ConsoleSession, at: i64| session.is_opened_by(&token, now.plus(at));
        assert!(opens(&session, SESSION_IDLE - 1));
        assert!(!opens(&session, SESSION_IDLE));
        session.seen_at = now.plus(SESSION_LIFE - 10);
        assert!(opens(&session, SESSION_LIFE - 1));
        assert!(!opens(&session, SESSION_LIFE));
    }
}
