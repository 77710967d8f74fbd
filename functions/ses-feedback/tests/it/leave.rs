//! Mails that ask to be written to no more.

use posthaste_model::{EmailAddress, Event, EventKind};
use posthaste_render::{KeyRing, LinkAction, LinkPart, LinkToken};
use posthaste_store::{Group, GroupSaved, SuppressionList};

use crate::{EMAIL, TestApp};

const MAILBOX: &str = "unsubscribe@bounce.post.example";

const OTHER: &str = "1:eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHg";

fn token(desk: &TestApp, action: LinkAction) -> LinkToken {
    LinkToken {
        account: desk.tenant.account.id.clone(),
        message: desk.message.clone(),
        recipient: 3,
        email: EMAIL.to_owned(),
        issued: desk.hand.now(),
        action,
    }
}

/// A mail of the recipient with this subject.
fn mail(subject: &str) -> String {
    format!("From: {EMAIL}\r\nTo: {MAILBOX}\r\nSubject: {subject}\r\n\r\n")
}

async fn group(desk: &TestApp) -> Group {
    let account = &desk.tenant.account.id;
    let made = desk.store.create_group(account, ("News", ""), false).await;
    match made.unwrap() {
        GroupSaved::Done(group) => *group,
        GroupSaved::NameTaken | GroupSaved::Full | GroupSaved::Missing => {
            unreachable!("it is the first")
        }
    }
}

fn check(event: &Event, kind: EventKind, group: Option<i64>) {
    assert_eq!((event.kind, event.email.as_str()), (kind, EMAIL));
    assert_eq!((event.asm_group_id, event.recipient), (group, 3));
}

#[tokio::test]
async fn a_mail_with_the_token_leaves_everything() {
    let desk = TestApp::new().await;
    let signed = desk.app.keys.sign(&token(&desk, LinkAction::Unsubscribe));
    // Some servers fold a long line where they like.
    let (begin, end) = signed.split_at(40);
    desk.mailed(&[MAILBOX], &mail(&format!("{begin}\r\n {end}")))
        .await;
    let event = desk.one();
    check(&event, EventKind::Unsubscribe, None);
    assert_eq!(event.smtp_id.as_deref(), Some("x@post.example"));
    assert!(desk.is_on(SuppressionList::Unsubscribes).await);
    assert!(desk.row().await.events().contains(&event));
}

#[tokio::test]
async fn a_mail_leaves_one_group_again_and_again() {
    let desk = TestApp::new().await;
    let id = group(&desk).await.id;
    let action = LinkAction::GroupUnsubscribe { group: id };
    let signed = desk.app.keys.sign(&token(&desk, action));
    for n in 0..2 {
        let subject = format!("{signed}\r\nDate: {n}");
        desk.mailed(&["UNSUBSCRIBE@Bounce.Post.Example"], &mail(&subject))
            .await;
        check(&desk.one(), EventKind::GroupUnsubscribe, Some(id));
        assert!(desk.is_on(SuppressionList::Group(id)).await);
        assert!(!desk.is_on(SuppressionList::Unsubscribes).await);
        // The recipient comes back by the preferences page.
        let (account, folded) = (
            &desk.tenant.account.id,
            EmailAddress::parse(EMAIL).unwrap().folded(),
        );
        let back = desk.store.change_suppressed(account, &folded, |lists| {
            lists.take(SuppressionList::Group(id));
        });
        back.await.unwrap();
    }
    // The very same mail again tells nothing new.
    desk.mailed(&[MAILBOX], &mail(&format!("{signed}\r\nDate: 1")))
        .await;
    assert!(desk.told().is_empty());
}

#[tokio::test]
async fn a_group_that_is_gone_is_everything() {
    let desk = TestApp::new().await;
    let action = LinkAction::GroupUnsubscribe { group: 77 };
    let signed = desk.app.keys.sign(&token(&desk, action));
    desk.mailed(&[MAILBOX], &mail(&signed)).await;
    check(&desk.one(), EventKind::Unsubscribe, None);
    assert!(desk.is_on(SuppressionList::Unsubscribes).await);
}

#[tokio::test]
async fn the_token_counts_when_the_copy_is_forgotten() {
    let desk = TestApp::empty().await;
    let signed = desk.app.keys.sign(&token(&desk, LinkAction::Unsubscribe));
    desk.mailed(&[MAILBOX], &mail(&signed)).await;
    check(&desk.one(), EventKind::Unsubscribe, None);
    assert!(desk.is_on(SuppressionList::Unsubscribes).await);
}

#[tokio::test]
async fn nobody_leaves_by_another_token() {
    let desk = TestApp::new().await;
    let keys = &desk.app.keys;
    let part = LinkPart::Html;
    let preferences = LinkAction::Preferences {
        group: 1,
        display: vec![1],
    };
    let stranger: KeyRing = OTHER.parse().unwrap();
    let sound = keys.sign(&token(&desk, LinkAction::Unsubscribe));
    for subject in [
        String::new(),
        "unsubscribe".to_owned(),
        keys.sign(&token(&desk, LinkAction::Open { part })),
        keys.sign(&token(&desk, preferences)),
        stranger.sign(&token(&desk, LinkAction::Unsubscribe)),
        sound.to_lowercase(),
        format!("Re: {sound}"),
    ] {
        desk.mailed(&[MAILBOX], &mail(&subject)).await;
        assert!(desk.told().is_empty(), "{subject}");
    }
    // Nor is a token heard at another address.
    desk.mailed(&["postmaster@bounce.post.example"], &mail(&sound))
        .await;
    assert!(desk.told().is_empty());
    assert!(!desk.is_on(SuppressionList::Unsubscribes).await);
}
