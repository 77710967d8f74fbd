//! A relay that breaks the connection off in the middle of some mails.

use posthaste_queue::JobBody;
use posthaste_testkit::Tenant;
use posthaste_testkit::relay::{At, Does, Script};

use crate::outage::{HOUR, on_relay};

/// The relay hangs up on each mail of one account, after its content.
#[tokio::test]
async fn a_relay_that_breaks_off_at_the_mails_of_one_account_takes_those_of_others() {
    let hangs = Does::HangUp;
    let script = Script::new().on_recipient(At::Message, "bob0@example.net", hangs);
    let (mut world, relay, env) = on_relay(script).await;
    let other = Tenant::new(&world.app.store, "other", world.now().seconds()).await;
    for _ in 0..100 {
        world.accept(&env.job("ann@example.com", 1));
    }
    world.run_for(1).await;
    assert_eq!((relay.received().len(), world.waiting()), (0, 100));
    for _ in 0..20 {
        let mut job = env.job("ann@example.com", 2);
        job.account = other.account.id.clone();
        let JobBody::Mail(mail) = &mut job.body else {
            panic!("a mail in the job");
        };
        // To another recipient than the first account's.
        mail.personalizations.remove(0);
        world.accept(&job);
    }
    world.run_for(1).await;
    assert_eq!((relay.received().len(), world.waiting()), (20, 100));

    // The others cost what mails that wait for a relay do, and its probes: one for each pause.
    let before = world.writes();
    world.run_for(HOUR).await;
    let probes = HOUR as usize / 300 + 6;
    let writes = world.writes() - before;
    assert!(writes <= 2 * probes + 20, "{writes}");
    relay.follow(Script::new());
    world.run_for(1_800).await;
    assert_eq!((relay.received().len(), world.waiting()), (120, 0));
}
