//! Mails that ask to be written to no more.

use posthaste_model::{EmailAddress, Event, Kind};
use posthaste_render::{Action, KeyRing, Part, Token};
use posthaste_store::{Group, GroupSaved, List};

use crate::{Desk, EMAIL};

const MAILBOX: &str = "unsubscribe@bounce.post.example";

const OTHER: &str = "1:eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHg";

fn token(desk: &Desk, action: Action) -> Token {
    Token {
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

async fn group(desk: &Desk) -> Group {
    let account = &desk.tenant.account.id;
    let made = desk.store.create_group(account, ("News", ""), false).await;
    match made.unwrap() {
        GroupSaved::Done(group) => *group,
        GroupSaved::NameTaken | GroupSaved::Full | GroupSaved::Missing => {
            unreachable!("it is the first")
        }
    }
}

fn check(event: &Event, kind: Kind, group: Option<i64>) {
    assert_eq!((event.kind, event.email.as_str()), (kind, EMAIL));
    assert_eq!((event.asm_group_id, event.recipient), (group, 3));
}

#[tokio::test]
async fn a_mail_with_the_token_leaves_everything() {
    let desk = Desk::new().await;
    let signed = desk.app.keys.sign(&token(&desk, Action::Unsubscribe));
    // Some servers fold a long line where they like.
    let (begin, end) = signed.split_at(40);
    desk.mailed(&[MAILBOX], &mail(&format!("{begin}\r\n {end}")))
        .await;
    let event = desk.one();
    check(&event, Kind::Unsubscribe, None);
    assert_eq!(event.smtp_id.as_deref(), Some("x@post.example"));
    assert!(desk.is_on(List::Unsubscribes).await);
    assert!(desk.row().await.events().contains(&event));
}

#[tokio::test]
async fn a_mail_leaves_one_group_again_and_again() {
    let desk = Desk::new().await;
    let id = group(&desk).await.id;
    let action = Action::GroupUnsubscribe { group: id };
    let signed = desk.app.keys.sign(&token(&desk, action));
    for n in 0..2 {
        let subject = format!("{signed}\r\nDate: {n}");
        desk.mailed(&["UNSUBSCRIBE@Bounce.Post.Example"], &mail(&subject))
            .await;
        check(&desk.one(), Kind::GroupUnsubscribe, Some(id));
        assert!(desk.is_on(List::Group(id)).await);
        assert!(!desk.is_on(List::Unsubscribes).await);
        // The recipient comes back by the preferences page.
        let (account, folded) = (
            &desk.tenant.account.id,
            EmailAddress::parse(EMAIL).unwrap().folded(),
        );
        let back = desk
            .store
            .change_suppressed(account, &folded, |lists| lists.take(List::Group(id)));
        back.await.unwrap();
    }
    // The very same mail again tells nothing new.
    desk.mailed(&[MAILBOX], &mail(&format!("{signed}\r\nDate: 1")))
        .await;
    assert!(desk.told().is_empty());
}

#[tokio::test]
async fn a_group_that_is_gone_is_everything() {
    let desk = Desk::new().await;
    let action = Action::GroupUnsubscribe { group: 77 };
    let signed = desk.app.keys.sign(&token(&desk, action));
    desk.mailed(&[MAILBOX], &mail(&signed)).await;
    check(&desk.one(), Kind::Unsubscribe, None);
    assert!(desk.is_on(List::Unsubscribes).await);
}

#[tokio::test]
async fn the_token_counts_when_the_copy_is_forgotten() {
    let desk = Desk::empty().await;
    let signed = desk.app.keys.sign(&token(&desk, Action::Unsubscribe));
    desk.mailed(&[MAILBOX], &mail(&signed)).await;
    check(&desk.one(), Kind::Unsubscribe, None);
    assert!(desk.is_on(List::Unsubscribes).await);
}

#[tokio::test]
async fn nobody_leaves_by_another_token() {
    let desk = Desk::new().await;
    let keys = &desk.app.keys;
    let part = Part::Html;
    let preferences = Action::Preferences {
        group: 1,
        display: vec![1],
    };
    let stranger: KeyRing = OTHER.parse().unwrap();
    let sound = keys.sign(&token(&desk, Action::Unsubscribe));
    for subject in [
        String::new(),
        "unsubscribe".to_owned(),
        keys.sign(&token(&desk, Action::Open { part })),
        keys.sign(&token(&desk, preferences)),
        stranger.sign(&token(&desk, Action::Unsubscribe)),
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
    assert!(!desk.is_on(List::Unsubscribes).await);
}
