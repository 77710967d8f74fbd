//! Bounces and spam reports forwarded by mail.

use posthaste_model::{EmailAddress, EventKind};
use posthaste_queue::{Job, JobBody};
use posthaste_store::{Account, SenderLink, StoreError};
use posthaste_testkit::Tenant;

use crate::env::TestEnv;

impl TestEnv {
    /// An account that forwards both, to addresses that are confirmed.
    async fn forwarding() -> Self {
        let env = Self::unconfirmed().await;
        for email in ["bounces@owner.example", "abuse@owner.example"] {
            env.confirm(email).await;
        }
        env
    }

    /// Follows a link that was mailed to the address.
    async fn confirm(&self, email: &str) {
        let email = EmailAddress::parse(email).unwrap();
        let (now, token) = (self.hand.now(), email.folded());
        let link = SenderLink::new(&token, now.plus(60));
        let asked = self.store.ask_to_forward(&self.account, &email, &link, now);
        asked.await.unwrap();
        let confirmed = self.store.confirm_forward(&token, now).await;
        assert!(confirmed.unwrap().is_some());
    }

    /// An account that forwards both, to addresses that are not confirmed.
    async fn unconfirmed() -> Self {
        let env = Self::open().await;
        let account = Account::new(env.account.clone(), "owner", env.hand.now());
        assert!(env.store.create_account(&account).await.unwrap());
        let done = env.store.change_settings(&env.account, |settings| {
            for (forward, email) in [
                (&mut settings.forward_bounce, "bounces@owner.example"),
                (&mut settings.forward_spam, "abuse@owner.example"),
            ] {
                forward.enabled = true;
                forward.email = Some(email.to_owned());
            }
            Ok::<_, StoreError>(())
        });
        done.await.unwrap().unwrap();
        env
    }

    /// The notices on the send queue: id, recipient, subject, text.
    fn notices(&self) -> Vec<(String, String, String, String)> {
        let jobs = self.queues.drain("send").into_iter();
        jobs.map(|(text, _)| {
            let job = Job::from_text(&text).unwrap();
            assert_eq!(job.account, self.account);
            let JobBody::Mail(mail) = job.body else {
                panic!("a notice is small");
            };
            assert_eq!(mail.from.email.as_str(), "no-reply@post.example");
            assert_eq!(mail.headers["Auto-Submitted"], "auto-generated");
            let to = mail.personalizations[0].to[0].email.to_string();
            let subject = mail.subject.unwrap_or_default();
            (
                job.message.to_string(),
                to,
                subject,
                mail.content[0].value.clone(),
            )
        })
        .collect()
    }
}

#[tokio::test]
async fn each_goes_to_its_own_listener_and_a_repeat_is_the_same_mail() {
    let env = TestEnv::forwarding().await;
    let mut bounce = env.event(EventKind::Bounce);
    bounce.reason = Some("550 5.1.1 User unknown".to_owned());
    let events = [
        bounce,
        env.event(EventKind::SpamReport),
        env.event(EventKind::Delivered),
        env.event(EventKind::Dropped),
    ];
    env.send_events(&events).await;
    let first = env.notices();
    let to: Vec<_> = first.iter().map(|(_, to, ..)| to.as_str()).collect();
    assert_eq!(to, ["bounces@owner.example", "abuse@owner.example"]);
    assert_eq!(first[0].2, "Bounce: ann@example.com");
    assert!(
        first[0].3.contains("550 5.1.1 User unknown"),
        "{}",
        first[0].3
    );
    assert_eq!(first[1].2, "Spam report: ann@example.com");
    env.send_events(&events).await;
    assert_eq!(env.notices(), first);
}

#[tokio::test]
async fn a_spam_report_goes_to_every_confirmed_address_of_the_list_once() {
    let env = TestEnv::unconfirmed().await;
    let list = "abuse@owner.example, new@owner.example,ABUSE@owner.example, ops@owner.example";
    let done = env.store.change_settings(&env.account, |settings| {
        settings.forward_spam.email = Some(list.to_owned());
        Ok::<_, StoreError>(())
    });
    done.await.unwrap().unwrap();
    for confirmed in ["abuse@owner.example", "ops@owner.example"] {
        env.confirm(confirmed).await;
    }
    let events = [env.event(EventKind::SpamReport)];
    env.send_events(&events).await;
    let first = env.notices();
    let to: Vec<_> = first.iter().map(|(_, to, ..)| to.as_str()).collect();
    assert_eq!(to, ["abuse@owner.example", "ops@owner.example"]);
    assert_ne!(first[0].0, first[1].0, "each notice has an id of its own");
    env.send_events(&events).await;
    assert_eq!(env.notices(), first);
    // A notice that comes back makes no other, not even to the rest of the list.
    let mut about = env.event(EventKind::SpamReport);
    about.email = "Ops@owner.example".to_owned();
    env.send_events(&[about]).await;
    assert!(env.notices().is_empty());
}

#[tokio::test]
async fn a_notice_that_bounces_makes_no_other() {
    let env = TestEnv::forwarding().await;
    let mut bounce = env.event(EventKind::Bounce);
    bounce.email = "Bounces@Owner.example".to_owned();
    env.send_events(&[bounce]).await;
    assert!(env.notices().is_empty());
}

#[tokio::test]
async fn a_notice_that_cannot_be_queued_brings_its_batch_back() {
    let env = TestEnv::forwarding().await;
    let news = posthaste_queue::EventBatch::to_texts(&[env.event(EventKind::Bounce)]).unwrap();
    env.queues.set_broken(true);
    assert_eq!(env.work(news.clone()).await, ["0"]);
    env.queues.set_broken(false);
    assert_eq!(env.work(news).await, [""; 0]);
    assert_eq!(env.notices().len(), 1);
}

#[tokio::test]
async fn nothing_is_forwarded_to_an_address_that_is_not_confirmed() {
    let env = TestEnv::unconfirmed().await;
    let events = [
        env.event(EventKind::Bounce),
        env.event(EventKind::SpamReport),
    ];
    env.send_events(&events).await;
    assert_eq!(env.notices(), []);

    // A link that was mailed and not followed confirms nothing.
    let abuse = EmailAddress::parse("abuse@owner.example").unwrap();
    let link = SenderLink::new("token", env.hand.now().plus(60));
    let asked = env
        .store
        .ask_to_forward(&env.account, &abuse, &link, env.hand.now());
    asked.await.unwrap();
    env.send_events(&events).await;
    assert_eq!(env.notices(), []);

    // Each is confirmed by itself, and from then on.
    env.confirm("abuse@owner.example").await;
    env.send_events(&events).await;
    let to: Vec<_> = env.notices().into_iter().map(|(_, to, ..)| to).collect();
    assert_eq!(to, ["abuse@owner.example"]);
}

#[tokio::test]
async fn an_address_of_an_authenticated_domain_of_the_account_is_forwarded_to() {
    let env = TestEnv::unconfirmed().await;
    let other = Tenant {
        account: Account::new(env.entropy.account_id(), "other", env.hand.now()),
        key: String::new(),
    };
    other.domain(&env.store, "owner.example").await;
    let events = [env.event(EventKind::Bounce)];
    env.send_events(&events).await;
    assert_eq!(env.notices(), [], "another account's domain");

    let account = env.store.account(&env.account).await.unwrap();
    let own = Tenant {
        account: account.unwrap(),
        key: String::new(),
    };
    own.domain(&env.store, "owner.example").await;
    env.send_events(&events).await;
    let to: Vec<_> = env.notices().into_iter().map(|(_, to, ..)| to).collect();
    assert_eq!(to, ["bounces@owner.example"]);
}
