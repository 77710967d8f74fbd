//! Mails that ask to be written to no more.

use posthaste_model::{EmailAddress, Event, EventKind};
use posthaste_render::{KeyRing, LinkAction, LinkPart, LinkToken};
use posthaste_store::{Group, GroupSaved, SuppressionList};

use crate::{EMAIL, TestApp};

const MAILBOX: &str = "unsubscribe@bounce.post.example";

const OTHER: &str = "1:eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHg";

fn token(service: &TestApp, action: LinkAction) -> LinkToken {
    LinkToken {
        account: service.tenant.account.id.clone(),
        message: service.message.clone(),
        recipient: 3,
        email: EMAIL.to_owned(),
        issued: service.hand.now(),
        host: None,
        action,
    }
}

/// A mail of the recipient with this subject.
fn mail(subject: &str) -> String {
    format!("From: {EMAIL}\r\nTo: {MAILBOX}\r\nSubject: {subject}\r\n\r\n")
}

async fn group(service: &TestApp) -> Group {
    let account = &service.tenant.account.id;
    let made = service
        .store
        .create_group(account, ("News", ""), false)
        .await;
    match made.unwrap() {
        GroupSaved::Done(group) => *group,
        GroupSaved::NameTaken | GroupSaved::Full | GroupSaved::IdTaken | GroupSaved::Missing => {
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
    let service = TestApp::new().await;
    let signed = service
        .app
        .keys
        .sign(&token(&service, LinkAction::Unsubscribe));
    // Some servers fold a long line where they like.
    let (begin, end) = signed.split_at(40);
    service
        .mailed(&[MAILBOX], &mail(&format!("{begin}\r\n {end}")))
        .await;
    let event = service.one();
    check(&event, EventKind::Unsubscribe, None);
    assert_eq!(event.smtp_id.as_deref(), Some("x@post.example"));
    assert!(service.is_on(SuppressionList::Unsubscribes).await);
    assert!(service.row().await.events().contains(&event));
}

#[tokio::test]
async fn a_mail_leaves_one_group_again_and_again() {
    let service = TestApp::new().await;
    let id = group(&service).await.id;
    let action = LinkAction::GroupUnsubscribe { group: id };
    let signed = service.app.keys.sign(&token(&service, action));
    for n in 0..2 {
        let subject = format!("{signed}\r\nDate: {n}");
        service
            .mailed(&["UNSUBSCRIBE@Bounce.Post.Example"], &mail(&subject))
            .await;
        check(&service.one(), EventKind::GroupUnsubscribe, Some(id));
        assert!(service.is_on(SuppressionList::Group(id)).await);
        assert!(!service.is_on(SuppressionList::Unsubscribes).await);
        // The recipient comes back by the preferences page.
        let (account, folded) = (
            &service.tenant.account.id,
            EmailAddress::parse(EMAIL).unwrap().folded(),
        );
        let back = service.store.change_suppressed(account, &folded, |lists| {
            lists.take(SuppressionList::Group(id));
        });
        back.await.unwrap();
    }
    // The same mail again changes nothing.
    service
        .mailed(&[MAILBOX], &mail(&format!("{signed}\r\nDate: 1")))
        .await;
    assert!(service.queued_events().is_empty());
}

#[tokio::test]
async fn a_group_that_is_gone_is_everything() {
    let service = TestApp::new().await;
    let action = LinkAction::GroupUnsubscribe { group: 77 };
    let signed = service.app.keys.sign(&token(&service, action));
    service.mailed(&[MAILBOX], &mail(&signed)).await;
    check(&service.one(), EventKind::Unsubscribe, None);
    assert!(service.is_on(SuppressionList::Unsubscribes).await);
}

#[tokio::test]
async fn the_token_counts_when_the_copy_is_forgotten() {
    let service = TestApp::empty().await;
    let signed = service
        .app
        .keys
        .sign(&token(&service, LinkAction::Unsubscribe));
    service.mailed(&[MAILBOX], &mail(&signed)).await;
    check(&service.one(), EventKind::Unsubscribe, None);
    assert!(service.is_on(SuppressionList::Unsubscribes).await);
}

#[tokio::test]
async fn a_token_for_another_action_unsubscribes_no_address() {
    let service = TestApp::new().await;
    let keys = &service.app.keys;
    let part = LinkPart::Html;
    let preferences = LinkAction::Preferences {
        group: 1,
        display: vec![1],
    };
    let stranger: KeyRing = OTHER.parse().unwrap();
    let sound = keys.sign(&token(&service, LinkAction::Unsubscribe));
    for subject in [
        String::new(),
        "unsubscribe".to_owned(),
        keys.sign(&token(&service, LinkAction::Open { part })),
        keys.sign(&token(&service, preferences)),
        stranger.sign(&token(&service, LinkAction::Unsubscribe)),
        sound.to_lowercase(),
        format!("Re: {sound}"),
    ] {
        service.mailed(&[MAILBOX], &mail(&subject)).await;
        assert!(service.queued_events().is_empty(), "{subject}");
    }
    // Nor is a token heard at another address.
    service
        .mailed(&["postmaster@bounce.post.example"], &mail(&sound))
        .await;
    assert!(service.queued_events().is_empty());
    assert!(!service.is_on(SuppressionList::Unsubscribes).await);
}
