//! One event, and those of a mail.

use posthaste_model::EventKind;
use posthaste_replay::{MailEvents, PostedAgain, QueuedEvents};
use posthaste_testkit::entropy;

use crate::env::TestEnv;

#[tokio::test]
async fn events_of_a_mail_go_to_the_webhooks_that_subscribe_to_them() {
    let env = TestEnv::new().await;
    let both = env
        .hook(&[EventKind::Processed, EventKind::Delivered])
        .await;
    let opens = env.hook(&[EventKind::Open]).await;
    let message = env.mail(2).await;
    let open = env.open(&message, 1).await;
    let id = |recipient, kind| env.event(&message, recipient, kind).id;
    let (both, opens) = (both.id, opens.id);
    let mail = |recipient, event: Option<&str>| MailEvents {
        message: message.clone(),
        recipient,
        event: event.map(str::to_owned),
    };
    let delivered = id(0, EventKind::Delivered);
    for (wanted, only, mut want) in [
        (
            mail(None, None),
            None,
            vec![
                (&both, id(0, EventKind::Processed)),
                (&both, id(0, EventKind::Delivered)),
                (&both, id(1, EventKind::Processed)),
                (&both, id(1, EventKind::Delivered)),
                (&opens, open.clone()),
            ],
        ),
        (
            mail(Some(0), None),
            Some(&both),
            vec![
                (&both, id(0, EventKind::Processed)),
                (&both, id(0, EventKind::Delivered)),
            ],
        ),
        (
            MailEvents::of_event(&delivered).unwrap(),
            None,
            vec![(&both, delivered.clone())],
        ),
        (
            MailEvents::of_event(&open).unwrap(),
            None,
            vec![(&opens, open.clone())],
        ),
    ] {
        let posted = env.replayer().mail(&env.account, &wanted, only).await;
        let queued = QueuedEvents {
            events: u64::try_from(want.len()).unwrap(),
            messages: if want.len() == 5 { 2 } else { 1 },
        };
        assert_eq!(posted.unwrap(), PostedAgain::Queued(queued));
        want.sort();
        let want: Vec<_> = want
            .into_iter()
            .map(|(hook, id)| (hook.to_string(), id))
            .collect();
        assert_eq!(env.queued(), want);
    }
}

#[tokio::test]
async fn what_cannot_be_posted_says_why_and_queues_nothing() {
    let env = TestEnv::new().await;
    let hook = env.hook(&[EventKind::Open]).await;
    let message = env.mail(1).await;
    let mail = MailEvents {
        message: message.clone(),
        recipient: None,
        event: None,
    };
    let unknown = MailEvents {
        message: entropy().message_id(),
        ..mail.clone()
    };
    let other = MailEvents {
        event: Some("bounce-0".to_owned()),
        ..mail.clone()
    };
    let absent = entropy().webhook_id();
    for (mail, only, want) in [
        (&mail, None, PostedAgain::NoWebhook),
        (&mail, Some(&absent), PostedAgain::NoWebhook),
        (&unknown, Some(&hook.id), PostedAgain::NoEvent),
        (&other, None, PostedAgain::NoEvent),
    ] {
        let posted = env.replayer().mail(&env.account, mail, only).await;
        assert_eq!(posted.unwrap(), want);
    }
    // Of another account.
    let posted = env
        .replayer()
        .mail(&entropy().account_id(), &mail, None)
        .await;
    assert_eq!(posted.unwrap(), PostedAgain::NoEvent);
    assert_eq!(env.queued(), []);
}
