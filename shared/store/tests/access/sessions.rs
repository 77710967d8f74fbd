//! Sessions of the console and the links that open them.

use posthaste_model::{KeyId, Timestamp};
use posthaste_store::{
    ApiKey, ConsoleSession, ConsoleToken, Granted, KeyKind, LINK_LIFE, MOST_SESSIONS, SESSION_IDLE,
    Secret, SessionOrigin,
};
use posthaste_testkit::{HOME, entropy};

use crate::{NOW, new_account};

fn session_at(
    account: &posthaste_store::Account,
    now: Timestamp,
) -> (ConsoleToken, ConsoleSession) {
    let token = ConsoleToken::generate(&account.id, &entropy());
    let from = SessionOrigin {
        agent: "a browser".to_owned(),
        ip: Some(HOME),
    };
    let session = ConsoleSession::new(&token, None, &from, now);
    (token, session)
}

#[tokio::test]
async fn a_link_opens_one_session() {
    let (store, account) = new_account().await;
    let link = ConsoleToken::generate(&account.id, &entropy());
    store.create_sign_in_link(&link, NOW).await.unwrap();
    let (_, first) = session_at(&account, NOW);
    let (_, second) = session_at(&account, NOW);
    // At the same time, as a browser that sends a form twice.
    let both = tokio::join!(
        store.redeem_link(&link, &first),
        store.redeem_link(&link, &second)
    );
    let opened = [both.0.unwrap(), both.1.unwrap()];
    assert_eq!(opened.iter().filter(|opened| **opened).count(), 1);
    assert_eq!(store.is_sign_in_link(&link, NOW).await, Ok(false));
    assert_eq!(store.sessions(&account.id, NOW).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_link_that_is_late_or_altered_opens_nothing() {
    let (store, account) = new_account().await;
    let link = ConsoleToken::generate(&account.id, &entropy());
    store.create_sign_in_link(&link, NOW).await.unwrap();
    let (token, late) = session_at(&account, NOW.plus(LINK_LIFE));
    assert_eq!(store.redeem_link(&link, &late).await, Ok(false));
    let text = link.expose();
    let (kept, secret) = text.split_at(text.len() - 43);
    let altered: String = secret.chars().rev().collect();
    let altered = ConsoleToken::parse(&format!("{kept}{altered}")).unwrap();
    let (_, session) = session_at(&account, NOW);
    assert_eq!(store.redeem_link(&altered, &session).await, Ok(false));
    // The token of a session is no link, and the token of a link is no session.
    store.create_session(&session).await.unwrap();
    assert_eq!(store.is_sign_in_link(&token, NOW).await, Ok(false));
    assert_eq!(store.session(&account.id, link.id()).await, Ok(None));
    // Nothing of this used it up.
    let (_, good) = session_at(&account, NOW.plus(LINK_LIFE - 1));
    assert_eq!(store.redeem_link(&link, &good).await, Ok(true));
}

#[tokio::test]
async fn one_session_too_many_ends_the_one_used_longest_ago() {
    let (store, account) = new_account().await;
    let mut tokens = Vec::new();
    for n in 0..=MOST_SESSIONS {
        let at = NOW.plus(i64::try_from(n).unwrap());
        let (token, session) = session_at(&account, at);
        store.create_session(&session).await.unwrap();
        tokens.push(token);
    }
    let left = store.sessions(&account.id, NOW).await.unwrap();
    assert_eq!(left.len(), MOST_SESSIONS);
    let first = store.session(&account.id, tokens[0].id()).await;
    assert_eq!(first, Ok(None));
    assert_eq!(&left[0].id, tokens[MOST_SESSIONS].id());
}

#[tokio::test]
async fn all_sessions_but_one_end_at_once() {
    let (store, account) = new_account().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let (_, session) = session_at(&account, NOW);
        store.create_session(&session).await.unwrap();
        ids.push(session.id);
    }
    let ended = store.end_sessions(&account.id, Some(&ids[1])).await;
    assert_eq!(ended.unwrap().len(), 2);
    let left = store.sessions(&account.id, NOW).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!((&left[0].id, left[0].ip), (&ids[1], Some(HOME)));
    let ended = store.end_sessions(&account.id, None).await;
    assert_eq!(ended, Ok(vec![ids[1].clone()]));
}

#[tokio::test]
async fn use_prolongs_a_session_and_does_not_bring_an_ended_one_back() {
    let (store, account) = new_account().await;
    let (token, session) = session_at(&account, NOW);
    store.create_session(&session).await.unwrap();
    let soon = store.touch_session(&session, None, NOW.plus(899)).await;
    assert_eq!(soon, Ok(None), "no write for each request");
    let later = NOW.plus(SESSION_IDLE - 1);
    let abroad = Some([203, 0, 113, 9].into());
    let used = store.touch_session(&session, abroad, later).await;
    let used = used.unwrap().unwrap();
    assert_eq!(used.ip, abroad);
    let stored = store.session(&account.id, token.id()).await.unwrap();
    assert_eq!(stored.as_ref(), Some(&used));
    assert!(used.is_opened_by(&token, NOW.plus(SESSION_IDLE)));

    assert_eq!(store.end_session(&account.id, token.id()).await, Ok(true));
    let gone = store.touch_session(&used, None, later.plus(10_000)).await;
    assert_eq!(gone, Ok(None));
    assert_eq!(store.session(&account.id, token.id()).await, Ok(None));
    assert_eq!(store.end_session(&account.id, token.id()).await, Ok(false));
}

#[tokio::test]
async fn an_ended_session_makes_no_key() {
    let (store, account) = new_account().await;
    let (token, session) = session_at(&account, NOW);
    store.create_session(&session).await.unwrap();
    let maker = store.session_maker(&account.id, token.id()).await;
    let maker = maker.unwrap().unwrap();
    let key = || {
        let secret = Secret::generate(&entropy());
        ApiKey {
            id: secret.id().clone(),
            hash: secret.hash(),
            kind: KeyKind::Full,
            ..maker.key.clone()
        }
    };
    assert_eq!(
        store.grant_key(&key(), 100, &maker).await,
        Ok(Granted::Done)
    );
    assert_eq!(store.end_session(&account.id, token.id()).await, Ok(true));
    let outdated = store.grant_key(&key(), 100, &maker).await;
    assert_eq!(outdated, Ok(Granted::Outdated));
    let gone = store.session_maker(&account.id, token.id()).await;
    assert!(gone.unwrap().is_none());
}

#[tokio::test]
async fn a_session_of_a_key_makes_no_key_by_itself() {
    let (store, account) = new_account().await;
    let (token, mut session) = session_at(&account, NOW);
    session.key = Some(KeyId::from_bytes([7; 16]));
    store.create_session(&session).await.unwrap();
    let maker = store.session_maker(&account.id, token.id()).await;
    assert!(maker.unwrap().is_none());
}

#[tokio::test]
async fn an_account_takes_its_sessions_and_links_along() {
    let (store, account) = new_account().await;
    let (token, session) = session_at(&account, NOW);
    store.create_session(&session).await.unwrap();
    let link = ConsoleToken::generate(&account.id, &entropy());
    store.create_sign_in_link(&link, NOW).await.unwrap();
    store.delete_account(&account).await.unwrap();
    assert_eq!(store.session(&account.id, token.id()).await, Ok(None));
    assert_eq!(store.is_sign_in_link(&link, NOW).await, Ok(false));
}
