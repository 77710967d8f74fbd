//! Sessions of the console: secrets that are shown once and stored only as a hash.
//!
//! They live in the partition of their account, and their secrets name it, so that each is one row.

use std::fmt;
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, Entropy, KeyId, Timestamp, cut};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::api_keys::{ApiKey, KeyKind, Maker};
use crate::key::Key;
use crate::table::{PageQuery, Store, StoreError, UpdateBuilder, number, text};

/// Seconds after its last request at which a session ends: a working day and the way home.
pub const SESSION_IDLE: i64 = 12 * 3_600;

/// Seconds after its beginning at which a session ends, however much it is used.
pub const SESSION_LIFE: i64 = 7 * 86_400;

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

    /// What is stored. The secret has 256 random bits, so a plain hash cannot be brute-forced.
    pub(super) fn hash(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.text.as_bytes()))
    }

    /// Whether this is the token of a row, compared in constant time.
    pub(super) fn opens(&self, stored: &str) -> bool {
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
    /// Where it was used from at `seen_at`; `None` where the host does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpAddr>,
}

/// What is stored of the browser that opens a session.
#[derive(Clone, Debug)]
pub struct SessionOrigin {
    /// The name that the browser gives itself.
    pub agent: String,
    pub ip: Option<IpAddr>,
}

impl ConsoleSession {
    /// The session of this token, which begins now.
    pub fn new(
        token: &ConsoleToken,
        key: Option<KeyId>,
        from: &SessionOrigin,
        now: Timestamp,
    ) -> Self {
        Self {
            id: token.id.clone(),
            account: token.account.clone(),
            key,
            hash: token.hash(),
            created_at: now,
            seen_at: now,
            agent: cut(&from.agent, LONGEST_AGENT).to_owned(),
            ip: from.ip,
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

    /// What a session without a key may do, as the key that it stands for: full access, and to read what it costs. No key
    /// holds both (API facts 1), but the session is the account's owner.
    pub fn full_access(&self) -> ApiKey {
        ApiKey {
            id: self.id.clone(),
            account: self.account.clone(),
            name: "Console".to_owned(),
            kind: KeyKind::Full,
            scopes: vec!["billing.read".to_owned()],
            hash: self.hash.clone(),
            created_at: self.created_at,
            is_test: false,
            used_at: None,
        }
    }

    pub(super) fn place(&self) -> Key {
        Key::session(&self.account, &self.id)
    }
}

impl Store {
    /// Writes a new session. Past [`MOST_SESSIONS`] those that were used longest ago end.
    pub async fn create_session(&self, session: &ConsoleSession) -> Result<(), StoreError> {
        self.end_oldest_sessions(&session.account).await?;
        let ends = Some(session.ends_at());
        self.put(&session.place(), session, ends).await
    }

    pub(super) async fn end_oldest_sessions(&self, account: &AccountId) -> Result<(), StoreError> {
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

    /// Notes that a session was used from this address, at most once in a quarter of an hour. The
    /// session as it is now; `None` where nothing was written.
    pub async fn touch_session(
        &self,
        session: &ConsoleSession,
        ip: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<Option<ConsoleSession>, StoreError> {
        if now.since(session.seen_at) < TOUCH {
            return Ok(None);
        }
        let used = ConsoleSession {
            seen_at: now,
            ip,
            ..session.clone()
        };
        // A session that was ended meanwhile must not be there again.
        let update = UpdateBuilder::default()
            .set("seen_at", number(now.0))
            .set("exp", number(used.ends_at().0))
            .condition("attribute_exists(pk)", []);
        let update = match ip {
            Some(ip) => update.set("ip", text(ip.to_string())),
            None => update.remove(["ip"]),
        };
        let is_there = self.update(&used.place(), &update).await?;
        Ok(is_there.then_some(used))
    }

    /// Ends a session of this account; `false` when there is none.
    pub async fn end_session(&self, account: &AccountId, id: &KeyId) -> Result<bool, StoreError> {
        self.delete(&Key::session(account, id)).await
    }

    /// Ends the sessions of an account, except this one; those that have ended by now.
    pub async fn end_sessions(
        &self,
        account: &AccountId,
        except: Option<&KeyId>,
    ) -> Result<Vec<KeyId>, StoreError> {
        let sessions = self.sessions(account, Timestamp(0)).await?;
        let mut ended = Vec::new();
        for session in sessions {
            if except != Some(&session.id) {
                self.end_session(account, &session.id).await?;
                ended.push(session.id);
            }
        }
        Ok(ended)
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
        let from = SessionOrigin {
            agent: String::new(),
            ip: None,
        };
        let mut session = ConsoleSession::new(&token, None, &from, now);
        let opens = |session: &ConsoleSession, at: i64| session.is_opened_by(&token, now.plus(at));
        assert!(opens(&session, SESSION_IDLE - 1));
        assert!(!opens(&session, SESSION_IDLE));
        session.seen_at = now.plus(SESSION_LIFE - 10);
        assert!(opens(&session, SESSION_LIFE - 1));
        assert!(!opens(&session, SESSION_LIFE));
    }
}
