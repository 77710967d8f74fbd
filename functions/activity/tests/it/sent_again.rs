//! Composed mails sent again: what is new about them, and what is not.

use posthaste_model::MessageId;
use posthaste_render::{KeyRing, LinkAction};
use posthaste_store::{Mark, SuppressionList};
use posthaste_testkit::Response;
use posthaste_testkit::relay::RelayedMail;
use serde_json::json;

use crate::DAY;
use crate::kept::{ANN, KeptEnv, mail, to_ann};

fn text_of(mail: &RelayedMail) -> String {
    String::from_utf8(mail.bytes.clone()).unwrap()
}

#[tokio::test]
async fn a_mail_sent_again_is_the_same_mail_with_names_of_its_own() {
    let env = KeptEnv::new().await;
    let first = mail(&to_ann(), "Hello");
    let (id, before) = env.send(&env.tenant.key, &first).await;
    env.hand.advance(100);
    let answer = env.again(&id, None).await.expect(202);
    let new = answer.header("x-message-id").to_owned();
    assert_ne!(new, id);
    let after = env.deliver().await;
    let (before, after) = (&before[0], &after[0]);
    assert_eq!(after.envelope.to, [ANN]);
    // Bounces find the new copy.
    assert_ne!(after.envelope.from, before.envelope.from);
    let (old_text, new_text) = (text_of(before), text_of(after));
    assert!(new_text.contains(&format!("Message-ID: <{new}@post.example>")));
    assert_eq!(new_text.matches("Message-ID:").count(), 1);
    assert_eq!(
        new_text.matches("\r\nDate:").count() + usize::from(new_text.starts_with("Date:")),
        1
    );
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.map(str::to_owned)
    };
    for name in ["From:", "To:", "Subject:", "Content-Type:"] {
        assert_eq!(field(&old_text, name), field(&new_text, name), "{name}");
    }
    assert_ne!(field(&old_text, "Date:"), field(&new_text, "Date:"));
    // The link leads where it led, and its click is that of the new mail.
    let shown = env.content(&new).await.expect(200).json();
    let html = shown["html"].as_str().unwrap();
    let token = html
        .split("?upn=")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let ring: KeyRing = env
        .services
        .platform()
        .env()
        .parsed("STACK_SECRET")
        .unwrap();
    let token = ring.verify(token).unwrap();
    assert_eq!(token.message, MessageId::parse(&new).unwrap());
    assert!(
        matches!(token.action, LinkAction::Click { url, .. } if url == "https://shop.example/")
    );
    // What events have of it is there too.
    let copy = env
        .get(&format!("/v3/messages/{new}"))
        .await
        .expect(200)
        .json();
    assert_eq!(copy["categories"], json!(["receipts"]));
    assert_eq!(copy["unique_args"], r#"{"order":"7"}"#);
}

#[tokio::test]
async fn one_request_to_send_again_is_one_mail_however_often_it_comes() {
    let env = KeptEnv::new().await;
    let (id, _) = env.send(&env.tenant.key, &mail(&to_ann(), "Hello")).await;
    let sent = |answer: Response| answer.expect(202).header("x-message-id").to_owned();
    let first = sent(env.again(&id, None).await);
    env.hand.advance(59);
    let repeated = env.again(&id, None).await;
    assert_eq!(repeated.header("idempotency-replayed"), "true");
    assert_eq!(sent(repeated), first);
    assert_eq!(env.deliver().await.len(), 1);
    env.hand.advance(1);
    let second = sent(env.again(&id, None).await);
    assert_ne!(second, first);
    // A key of the client's own is remembered as long as that of any mail.
    let third = sent(env.again(&id, Some("a")).await);
    env.hand.advance(DAY - 1);
    assert_eq!(sent(env.again(&id, Some("a")).await), third);
    assert_eq!(env.deliver().await.len(), 2);
    // It is a key of mail/send too, which another request has.
    let body = mail(&to_ann(), "Hello");
    let ask = env
        .sending
        .post("/v3/mail/send")
        .key(&env.tenant.key)
        .json(&body);
    ask.header("idempotency-key", "a").send().await.expect(422);
}

#[tokio::test]
async fn what_keeps_a_mail_back_keeps_it_back_again() {
    let env = KeptEnv::new().await;
    let (id, _) = env.send(&env.tenant.key, &mail(&to_ann(), "Hello")).await;
    let key = env
        .tenant
        .restricted(&env.store, &["messages.content.read"])
        .await;
    let path = format!("/v3/messages/{id}/send_again");
    env.sending.post(&path).key(&key).send().await.expect(403);
    let (mark, ann) = (Mark::at(env.hand.now()), [ANN.to_owned()]);
    let account = &env.tenant.account.id;
    let list = SuppressionList::SpamReports;
    let marked = env.store.suppress_all(account, &ann, list, &mark);
    marked.await.unwrap();
    let new = env
        .again(&id, None)
        .await
        .expect(202)
        .header("x-message-id")
        .to_owned();
    assert!(env.deliver().await.is_empty());
    let copy = env
        .get(&format!("/v3/messages/{new}"))
        .await
        .expect(200)
        .json();
    assert_eq!(copy["events"][0]["reason"], "Spam Reporting Address");
}
