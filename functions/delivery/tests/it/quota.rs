//! Sending under SES's quota, against a stand-in that enforces it.

use std::time::Duration;

use posthaste_model::{Event, EventKind};
use posthaste_queue::Job;
use posthaste_store::{Claim, Claimant, Described, HANDED_PARTS};
use posthaste_testkit::Tenant;

use crate::ses_account::on_ses;

#[tokio::test]
async fn mail_leaves_at_the_rate_of_the_account_and_ses_refuses_none() {
    let (mut world, ses, app) = on_ses(14, 50_000).await;
    let before = world.writes();
    for _ in 0..100 {
        world.accept(&app.job("ann@example.com", 1));
    }
    // One mail to many shares the same pace.
    world.accept(&app.job("ann@example.com", 40));
    world.run_for(5).await;
    let early = ses.account(|account| account.sent);
    assert!((40..=98).contains(&early), "{early}");
    world.run_for(40).await;
    assert_eq!(world.waiting(), 0);
    let (sent, refused) = ses.account(|account| (account.sent, account.refused));
    // The bucket holds a second of the rate, so that the first second may meet SES's own count.
    assert_eq!(sent, 140);
    assert!(refused <= 14, "{refused}");
    assert!(
        world
            .events
            .iter()
            .all(|event| event.kind == EventKind::Processed)
    );
    assert_eq!(world.events.len(), 140);
    let writes = world.writes() - before;
    assert_eq!(writes, 2 * 140 + 2 * refused as usize);
}

#[tokio::test]
async fn another_account_s_mail_leaves_beside_the_backlog_of_one() {
    let (mut world, ses, app) = on_ses(14, 50_000).await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    for _ in 0..600 {
        world.accept(&app.job("ann@example.com", 1));
    }
    world.run_for(1).await;
    for n in 1..=5 {
        let job = app.job("cyd@example.org", 2);
        world.accept(&Job {
            account: other.account.id.clone(),
            ..job
        });
        world.run_for(4).await;
        let theirs = |event: &&Event| event.account == other.account.id;
        assert_eq!(world.events.iter().filter(theirs).count(), 2 * n, "{n}");
    }
    assert!(world.waiting() > 200, "{}", world.waiting());
    world.run_for(60).await;
    let sent = ses.account(|account| account.sent);
    assert_eq!((sent, world.waiting()), (610, 0));
}

#[tokio::test]
async fn a_throttle_is_no_attempt_and_makes_no_event() {
    let (mut world, ses, app) = on_ses(14, 50_000).await;
    ses.account(|account| account.refuses = 3);
    let job = app.job("ann@example.com", 2);
    let before = world.writes();
    world.accept(&job);
    world.run_for(30).await;
    assert_eq!(
        ses.account(|account| (account.sent, account.refused)),
        (2, 3)
    );
    assert_eq!(world.waiting(), 0);
    assert!(
        world
            .events
            .iter()
            .all(|event| event.kind == EventKind::Processed)
    );
    assert_eq!(world.events.len(), 2);
    let rows = world.app.store.recipients(&job.account, &job.message).await;
    assert!(rows.unwrap().iter().all(|row| row.attempt == 0));
    // A claim and its release for each refusal.
    assert_eq!(world.writes() - before, 2 * 2 + 3 * 2);
}

#[tokio::test]
async fn the_quota_is_read_again_every_few_minutes() {
    let (mut world, ses, app) = on_ses(1, 50_000).await;
    for _ in 0..600 {
        world.accept(&app.job("ann@example.com", 1));
    }
    world.run_for(120).await;
    let slow = ses.account(|account| account.sent);
    assert!((100..=123).contains(&slow), "{slow}");
    ses.account(|account| account.per_second = 50);
    // At the latest after five minutes; a mail that waits returns within a quarter of an hour.
    world.run_for(1_200).await;
    assert_eq!(
        (ses.account(|account| account.sent), world.waiting()),
        (600, 0)
    );
    assert!(ses.account(|account| account.asked) <= 6);
}

#[tokio::test]
async fn mail_leaves_slowly_until_the_quota_can_be_read_and_then_by_the_last_that_was() {
    let (mut world, ses, app) = on_ses(14, 50_000).await;
    ses.account(|account| account.refuses_to_say = true);
    for _ in 0..200 {
        world.accept(&app.job("ann@example.com", 1));
    }
    world.run_for(20).await;
    let (sent, refused) = ses.account(|account| (account.sent, account.refused));
    assert!(
        (18..=22).contains(&sent) && refused == 0,
        "{sent} {refused}"
    );
    ses.account(|account| account.refuses_to_say = false);
    world.run_for(200).await;
    assert_eq!(world.waiting(), 0);
    // Older than it may be, and still the best that is known.
    ses.account(|account| account.refuses_to_say = true);
    world.run_for(1_000).await;
    for _ in 0..140 {
        world.accept(&app.job("ann@example.com", 1));
    }
    world.run_for(5).await;
    let sent = ses.account(|account| account.sent) - 200;
    assert!((50..=98).contains(&sent), "{sent}");
}

#[tokio::test]
async fn a_throttled_question_about_the_account_leaves_no_breaker_open() {
    let (mut world, ses, app) = on_ses(14, 50_000).await;
    ses.account(|account| account.is_paused = true);
    for _ in 0..5 {
        world.accept(&app.job("ann@example.com", 1));
    }
    world.run_for(30).await;
    assert_eq!(ses.account(|account| account.sent), 0);
    ses.account(|account| {
        account.is_paused = false;
        account.refuses_to_say = true;
    });
    world.sweeps = 60_000;
    world.run_for(4_000).await;
    assert_eq!(
        (ses.account(|account| account.sent), world.waiting()),
        (5, 0)
    );
}

#[tokio::test]
async fn the_quota_of_the_day_waits_without_calls_until_there_is_some_again() {
    let (mut world, ses, app) = on_ses(14, 5).await;
    for _ in 0..20 {
        world.accept(&app.job("ann@example.com", 1));
    }
    world.run_for(6 * 3600).await;
    assert_eq!(ses.account(|account| account.sent), 5);
    // Counted here before SES has to say so.
    assert_eq!(ses.account(|account| account.refused), 0);
    assert_eq!(world.waiting(), 15);
    ses.account(|account| account.per_day = 50_000);
    world.run_for(1_200).await;
    assert_eq!(
        (ses.account(|account| account.sent), world.waiting()),
        (20, 0)
    );
    assert!(
        world
            .events
            .iter()
            .all(|event| event.kind == EventKind::Processed)
    );
}

#[tokio::test]
async fn mails_to_many_leave_at_the_whole_rate() {
    let (mut world, ses, app) = on_ses(7, 50_000).await;
    for _ in 0..20 {
        world.accept(&app.job("ann@example.com", 50));
    }
    // 1000 copies take 143 seconds, and longer where SES, whose seconds begin at other moments,
    // refuses some.
    world.run_for(220).await;
    assert_eq!(
        (ses.account(|account| account.sent), world.waiting()),
        (1_000, 0)
    );
}

#[tokio::test]
async fn a_copy_that_is_too_old_waits_for_its_turn_all_the_same() {
    let (mut world, ses, app) = on_ses(14, 50_000).await;
    let job = app.job("ann@example.com", 20);
    world.run_for(80 * 3600).await;
    ses.account(|account| account.refuses = 3);
    world.accept(&job);
    world.run_for(60).await;
    assert_eq!(
        (ses.account(|account| account.sent), world.waiting()),
        (20, 0)
    );
    assert!(
        world
            .events
            .iter()
            .all(|event| event.kind == EventKind::Processed)
    );
}

#[tokio::test]
async fn copies_that_wait_are_queued_once_though_another_copy_of_their_job_is_busy() {
    let (mut world, ses, app) = on_ses(14, 50_000).await;
    world.returns_after = Some(Duration::from_secs(300));
    let job = app.job("ann@example.com", 2);
    let other = Claimant {
        owner: "another process",
        single_process: false,
        now: world.now().seconds(),
        lease: 600,
        retention: 86_400,
    };
    let described = Described {
        email: "bob0@example.net",
        from: "ann@example.com",
        subject: "Hello",
        accepted_at: job.accepted.seconds(),
    };
    let which = (&job.account, &job.message, 0);
    let claim = world.app.store.claim(which, 0, other, &described).await;
    assert!(matches!(claim.unwrap(), Claim::Won));
    ses.account(|account| account.refuses = 1);
    world.accept(&job);
    world.run_for(0).await;
    // The job, which returns.
    assert_eq!(world.waiting(), 1);
    world.run_for(1_800).await;
    assert_eq!(
        (ses.account(|account| account.sent), world.waiting()),
        (2, 0)
    );
}

#[tokio::test]
async fn what_ses_takes_is_noted_with_the_id_that_it_gives() {
    let (mut world, ses, app) = on_ses(1_000, 50_000).await;
    let jobs = [app.job("ann@example.com", 3), app.job("bob@example.com", 1)];
    jobs.iter().for_each(|job| world.accept(job));
    world.run_for(5).await;
    assert_eq!(ses.account(|account| account.sent), 4);
    let hour = app.hand.now().0 / 3_600;
    let mut noted = Vec::new();
    for part in 0..HANDED_PARTS {
        let rows = app.store.handed_in(hour, part, None, 100).await.unwrap();
        noted.extend(rows.into_iter().flat_map(|row| row.value.copies));
    }
    assert!(noted.iter().all(|copy| copy.service_id == "0100-abc"));
    let silent = app.store.without_news(&noted).await.unwrap();
    assert_eq!((noted.len(), silent.len()), (4, 4));
}

#[tokio::test]
async fn mail_leaves_once_each_though_ses_refuses_one_call_in_twenty() {
    let (mut world, ses, app) = on_ses(1_000, 50_000).await;
    ses.account(|account| account.refuses_one_in = 20);
    for _ in 0..200 {
        world.accept(&app.job("ann@example.com", 1));
    }
    world.run_for(120).await;
    assert_eq!(world.waiting(), 0);
    let (sent, refused) = ses.account(|account| (account.sent, account.refused));
    assert_eq!(sent, 200);
    assert!(refused >= 10, "{refused}");
    assert_eq!(world.events.len(), 200);
    let kinds = world.events.iter().map(|event| event.kind);
    assert!(kinds.into_iter().all(|kind| kind == EventKind::Processed));
}
