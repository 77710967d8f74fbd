//! Mail while the relay takes none: what it costs, what is reported, and when it leaves.

use std::time::Duration;

use delivery::handle;
use posthaste_model::{BounceType, Event, EventKind};
use posthaste_store::{Allowance, Mark, SuppressionList};
use posthaste_testkit::relay::{At, Does, Relay, Script};
use posthaste_testkit::{FaultProxy, Queues, sqs_event};

use crate::lists;
use crate::signing::TestApp;
use crate::simulation::Simulation;

pub(crate) const HOUR: i64 = 3600;

/// A relay that is down, in one of the ways that it can be.
fn down(at: At, reply: &str) -> Script {
    Script::new().on(at, Does::say(reply))
}

pub(crate) async fn on_relay(script: Script) -> (Simulation, Relay, TestApp) {
    let (relay, table) = (Relay::start(script).await, FaultProxy::default());
    let services = lists::services_on(table.table().await, &relay);
    let env = TestApp::on(services.clone(), Relay::start(Script::new()).await).await;
    (Simulation::new(services, table), relay, env)
}

#[tokio::test]
async fn an_outage_costs_each_mail_three_writes_and_one_event_however_long_it_is() {
    cost_of_an_outage(100, HOUR_LONG).await;
    cost_of_an_outage(100, DAY_LONG).await;
}

/// `cargo test -p delivery --test it -- --ignored --nocapture measure_an_hour`
#[tokio::test]
#[ignore = "takes a quarter of an hour; the figures for many mails"]
async fn measure_an_hour() {
    cost_of_an_outage(200_000, HOUR_LONG).await;
}

/// The same with `measure_a_day`.
#[tokio::test]
#[ignore = "takes hours unless it is optimized; the figures for many mails"]
async fn measure_a_day() {
    cost_of_an_outage(200_000, DAY_LONG).await;
}

/// An outage: its hours, and what the relay does.
type Outage = (i64, At, &'static str);

const HOUR_LONG: Outage = (1, At::Connect, "421 4.3.2 down");
const DAY_LONG: Outage = (24, At::Hello, "550 5.7.1 not you");

async fn cost_of_an_outage(mails: usize, (hours, at, reply): Outage) {
    let (mut world, relay, env) = on_relay(down(at, reply)).await;
    let before = world.writes();
    for _ in 0..mails {
        world.accept(&env.job("ann@example.com", 1));
    }
    world.run_for(hours * HOUR).await;
    assert_eq!(relay.received().len(), 0);
    // What waits is in the bucket, once.
    assert_eq!((world.stored, world.queue.len()), (mails, 0));
    assert_eq!(world.events.len(), 2 * mails);
    // After 1, 2, 4, 8 and 16 minutes, and then every ten.
    let probes = 5 + 6 * usize::try_from(hours).unwrap();
    let handed = world.handed;
    let each = handed as f64 / mails as f64;
    println!("{mails} mails, {hours} h: a message is received {each:.3} times");
    // Before it waits on the queue, once after that, and once for each six hours in the bucket; the first
    // probes of each turn are some batches of ten, whose others wait for them.
    let turns = usize::try_from((hours - 1) / 6).unwrap();
    let most = (2 + turns) * mails + 60 * (1 + turns) + probes;
    assert!(handed <= most, "{handed}");

    relay.follow(Script::new());
    world.run_for(1_800).await;
    assert_eq!((relay.received().len(), world.waiting()), (mails, 0));
    assert!(world.handed - handed <= mails + 40, "{}", world.handed);
    use EventKind::{Deferred, Delivered, Processed};
    for (message, kinds) in world.kinds() {
        assert_eq!(kinds, [Processed, Deferred, Delivered], "{message}");
    }
    let mut ids: Vec<_> = world.events.iter().map(|event| &event.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), world.events.len());

    // The copies that found the outage were claimed: no more than were under way at once. Each probe
    // is noted when it is released and when it comes back, and again after each six hours in the bucket.
    let writes = world.writes() - before;
    println!("{mails} mails, {hours} h: {writes} writes in all");
    let most = 3 * mails + 16 + (2 + turns) * (probes + 6);
    assert!((3 * mails..=most).contains(&writes), "{writes}");
}

#[tokio::test]
async fn a_process_that_has_just_started_does_not_hide_that_a_probe_failed() {
    let (mut world, relay, env) = on_relay(down(At::Connect, "421 4.3.2 down")).await;
    for _ in 0..200 {
        world.accept(&env.job("ann@example.com", 1));
    }
    world.run_for(300).await;
    assert_eq!(world.stored, 200);
    world.cold = true;
    let handed = world.handed;
    world.run_for(HOUR).await;
    assert_eq!((relay.received().len(), world.stored), (0, 200));
    // One each ten minutes at last.
    assert!(world.handed - handed <= 12, "{}", world.handed - handed);
}

#[tokio::test]
async fn a_short_outage_delays_mail_by_less_than_a_minute() {
    let (mut world, relay, env) = on_relay(down(At::Connect, "421 4.3.2 down")).await;
    for _ in 0..30 {
        world.accept(&env.job("ann@example.com", 1));
    }
    world.run_for(10).await;
    assert_eq!((world.waiting(), world.stored), (30, 0));
    relay.follow(Script::new());
    world.run_for(49).await;
    assert_eq!((relay.received().len(), world.waiting()), (30, 0));
}

#[tokio::test]
async fn the_rows_of_mail_that_waits_say_so_and_end_as_usual() {
    let (mut world, relay, env) = on_relay(down(At::Connect, "421 4.3.2 down")).await;
    let job = env.job("ann@example.com", 3);
    world.accept(&job);
    world.run_for(HOUR).await;
    use EventKind::{Deferred, Delivered, Processed};
    for (end, kinds) in [
        (0, &[Processed, Deferred][..]),
        (1_800, &[Processed, Deferred, Delivered]),
    ] {
        if end > 0 {
            relay.follow(Script::new());
        }
        world.run_for(end).await;
        let rows = world.app.store.recipients(&job.account, &job.message).await;
        for row in rows.unwrap() {
            let events = row.events();
            let told: Vec<_> = events.iter().map(|event| event.kind).collect();
            assert_eq!(told, kinds);
            assert_eq!(events[1].response.as_deref(), Some("421 4.3.2 down"));
            assert_eq!(
                (row.email.as_str(), row.subject.as_str()),
                (events[0].email.as_str(), "Hello")
            );
        }
    }
}

#[tokio::test]
async fn mail_that_waited_for_three_days_expires() {
    let (mut world, relay, env) = on_relay(down(At::Connect, "421 4.3.2 down")).await;
    for _ in 0..3 {
        world.accept(&env.job("ann@example.com", 1));
    }
    world.sweeps = 600_000;
    world.run_for(72 * HOUR - 1).await;
    assert_eq!(world.waiting(), 3);
    world.run_for(901).await;
    assert_eq!((relay.received().len(), world.waiting()), (0, 0));
    use EventKind::{Bounce, Deferred, Processed};
    for (message, kinds) in world.kinds() {
        assert_eq!(kinds, [Processed, Deferred, Bounce], "{message}");
    }
    let ends = world.events.iter().filter(|event| event.kind == Bounce);
    for end in ends {
        assert_eq!(end.bounce_type, Some(BounceType::Expired));
        assert_eq!(end.bounce_classification.as_deref(), Some("Technical"));
    }
    // The relay's trouble says nothing about the address.
    let (account, emails) = (&env.tenant.account.id, ["bob0@example.net".to_owned()]);
    let suppressed = world.app.store.suppressed_among(account, &emails).await;
    assert!(suppressed.unwrap().is_empty());
}

#[tokio::test]
async fn a_sender_that_is_refused_holds_up_no_other() {
    let script = Script::new().on(At::MailFrom, Does::say("550 5.7.1 sender refused"));
    let (mut world, relay, env) = on_relay(script.times(20)).await;
    for _ in 0..20 {
        world.accept(&env.job("mallory@example.com", 1));
    }
    world.run_for(1).await;
    assert_eq!((relay.received().len(), world.waiting()), (0, 20));
    world.accept(&env.job("ann@example.com", 1));
    world.run_for(1).await;
    assert_eq!(relay.received().len(), 1);
}

#[tokio::test]
async fn a_wait_is_charged_once_when_it_ends() {
    let (mut world, relay, env) = on_relay(down(At::Connect, "421 4.3.2 down")).await;
    let account = &env.tenant.account.id;
    let allowance = Allowance {
        frequency: None,
        total: 10,
    };
    let now = world.now().seconds();
    let granted = world.app.store.set_credits(account, Some(allowance), now);
    assert!(granted.await.unwrap());
    for _ in 0..10 {
        world.accept(&env.job("ann@example.com", 1));
    }
    world.run_for(HOUR).await;
    let credits = world.app.store.credits(account, now);
    assert_eq!(credits.await.unwrap().unwrap().remain, 10);
    relay.follow(Script::new());
    world.run_for(1_800).await;
    assert_eq!(relay.received().len(), 10);
    let credits = world.app.store.credits(account, now);
    assert_eq!(credits.await.unwrap().unwrap().remain, 0);
}

#[tokio::test]
async fn mail_that_breaks_one_connection_after_another_waits_longer_each_time() {
    // The relay hangs up on this mail only: the others keep the breaker closed.
    let hangs = Does::HangUp;
    let script = Script::new().on_recipient(At::RcptTo, "bob0@example.net", hangs);
    let (mut world, relay, env) = on_relay(script).await;
    world.accept(&env.job("ann@example.com", 2));
    world.run_for(24 * HOUR).await;
    assert_eq!((relay.received().len(), world.waiting()), (1, 1));
    // After 5, 5 … seconds, then 1, 2, 4 … and then every ten minutes.
    let attempts = relay.connections();
    assert!(attempts < 24 * 6 * 2, "{attempts}");
}

#[tokio::test]
async fn a_drop_that_ends_a_wait_is_not_that_of_a_first_attempt() {
    let (mut world, relay, env) = on_known_outage().await;
    let job = env.job("ann@example.com", 1);
    world.accept(&job);
    world.run_for(1).await;
    let account = &job.account;
    let (emails, mark) = (
        ["bob0@example.net".to_owned()],
        Mark::at(world.now().seconds()),
    );
    let store = &world.app.store;
    let listed = store.suppress_all(account, &emails, SuppressionList::Bounces, &mark);
    listed.await.unwrap();
    world.run_for(1_800).await;
    relay.follow(Script::new());
    world.run_for(1_800).await;
    use EventKind::{Deferred, Dropped, Processed};
    assert_eq!(
        world.kinds()[job.message.as_str()],
        [Processed, Deferred, Dropped]
    );
    let first = Event::derived_id(&job.message, 0, Dropped, 0);
    assert!(world.events.iter().all(|event| event.id != first));
    assert_eq!((relay.received().len(), world.waiting()), (0, 0));
}

/// A relay that is down, which this process has found already.
async fn on_known_outage() -> (Simulation, Relay, TestApp) {
    let (mut world, relay, env) = on_relay(down(At::Connect, "421 4.3.2 down")).await;
    for _ in 0..3 {
        world.accept(&env.job("ann@example.com", 1));
    }
    world.run_for(1).await;
    assert_eq!(world.waiting(), 3);
    world.returns_after = Some(Duration::from_secs(120));
    (world, relay, env)
}

#[tokio::test]
async fn a_wait_that_could_not_be_recorded_loses_no_processed() {
    let (mut world, relay, env) = on_known_outage().await;
    let job = env.job("ann@example.com", 1);
    world.table.deny("UpdateItem", 1);
    world.accept(&job);
    world.run_for(1).await;
    assert_eq!(world.waiting(), 4);
    relay.follow(Script::new());
    world.run_for(1_800).await;
    assert_eq!((relay.received().len(), world.waiting()), (4, 0));
    use EventKind::{Delivered, Processed};
    let kinds = &world.kinds()[job.message.as_str()];
    assert_eq!(kinds, &[Processed, Delivered]);
}

#[tokio::test]
async fn a_queue_that_fails_makes_no_job_be_stored_again() {
    let (mut world, _relay, env) = on_known_outage().await;
    // A probe has failed since, so that the next one is not due.
    world.run_for(24).await;
    assert_eq!(world.stored, 3);
    let mut waits = env.job("ann@example.com", 1);
    waits.waits_since = Some(world.now().seconds().plus(-20));
    let begins = env.job("ann@example.com", 1);
    let broken = Queues::start();
    broken.set_broken(true);
    world.app.send = broken.queue("send");
    let texts = [&waits, &begins].map(|job| job.to_text().unwrap());
    let result = handle(&world.app, &sqs_event(texts)).await;
    assert_eq!(
        (result.again, result.failed),
        (vec!["1".to_owned()], vec![])
    );
    world.run_for(0).await;
    assert_eq!(world.stored, 4);
}

#[tokio::test]
async fn jobs_that_wait_do_not_multiply_while_events_cannot_be_queued() {
    let (mut world, relay, env) = on_known_outage().await;
    let broken = Queues::start();
    broken.set_broken(true);
    world.app.events = broken.queue("events");
    world.accept(&env.job("ann@example.com", 2));
    world.run_for(HOUR).await;
    assert_eq!(world.waiting(), 4);
    world.app.events = world.services.queues.queue("events");
    relay.follow(Script::new());
    world.run_for(1_800).await;
    assert_eq!((relay.received().len(), world.waiting()), (5, 0));
}
