//! Processes that die at any call, and such that run at the same time.

use posthaste_store::ScheduledMail;
use posthaste_testkit::entropy;
use schedule_sweep::{Share, sweep};

use crate::env::{End, TestEnv, job};

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;

#[tokio::test]
async fn a_sweep_may_die_at_any_call_and_nothing_is_lost_or_sent_twice() {
    let mut env = TestEnv::new().await;
    let mut died = 0;
    for calls in 0..16 {
        for deaf in [false, true] {
            let at = env.now().plus(10 * MINUTE);
            let messages = [
                env.send_later(at, None).await,
                env.send_later(at.plus(1), None).await,
                env.send_later(at.plus(70), None).await,
            ];
            env.hand.set(at.plus(-30));

            env.faults.fail_after(calls, deaf);
            env.try_sweep().await;
            died += u32::from(env.faults.restore());
            env.sweep().await;
            env.wait_until(at.plus(2 * MINUTE)).await;

            for (message, at) in messages.iter().zip([at, at.plus(1), at.plus(70)]) {
                assert_eq!(env.ends(message, at), [(End::Sent, 0)], "{calls} {deaf}");
            }
        }
    }
    assert!(died > 16, "only {died} sweeps died");
}

#[tokio::test]
async fn a_worker_may_die_at_any_call_while_it_holds_a_message_back() {
    let mut env = TestEnv::new().await;
    for calls in 0..12 {
        for deaf in [false, true] {
            let start = env.now();
            let batch = env.open_batch().await;
            let at = start.plus(20 * MINUTE);
            let message = env.send_later(at, Some(&batch)).await;
            env.hold(&batch, "pause").await.expect(201);
            env.hand.set(at);
            env.sweep().await;

            env.faults.fail_after(calls, deaf);
            env.deliver().await;
            env.faults.restore();
            env.resume(&batch).await.expect(204);
            env.deliver().await;

            let ends = env.ends(&message, at);
            assert_eq!(ends, [(End::Sent, 0)], "{calls} {deaf}");
            assert!(
                env.store
                    .held(env.account(), &batch)
                    .await
                    .unwrap()
                    .is_empty()
            );
        }
    }
}

#[tokio::test]
async fn a_resume_may_die_at_any_call_and_the_sweep_finishes_it() {
    let mut env = TestEnv::new().await;
    for calls in 0..24 {
        for deaf in [false, true] {
            let start = env.now();
            let batch = env.open_batch().await;
            let at = start.plus(20 * MINUTE);
            let mut messages = Vec::new();
            for _ in 0..3 {
                messages.push(env.send_later(at, Some(&batch)).await);
            }
            env.hold(&batch, "pause").await.expect(201);
            env.hand.set(at);
            env.sweep().await;
            env.deliver().await;

            env.faults.fail_after(calls, deaf);
            env.resume(&batch).await;
            env.faults.restore();
            if env.status(&batch).await.is_some() {
                env.resume(&batch).await.expect(204);
            }
            env.sweep().await;
            env.deliver().await;

            for message in &messages {
                let ends = env.ends(message, at);
                assert_eq!(ends, [(End::Sent, 0)], "{calls} {deaf}");
            }
        }
    }
}

#[tokio::test]
async fn a_move_may_die_at_any_call_and_the_message_still_leaves_once() {
    let mut env = TestEnv::new().await;
    for calls in 0..14 {
        for (deaf, wait) in [(false, 40), (true, 40), (false, 20), (true, 0)] {
            let start = env.now();
            let (old, new) = (start.plus(30 * MINUTE), start.plus(wait * MINUTE));
            let message = env.send_later(old, None).await;

            env.faults.fail_after(calls, deaf);
            let moved = env.move_message(&message, new).await.status == 200;
            env.faults.restore();
            env.pass_until(start.plus(HOUR)).await;

            let ends = env.ends(&message, start);
            assert_eq!(ends.len(), 1, "{calls} {deaf} {wait}: {ends:?}");
            let late = ends[0].1 / 1000;
            if moved {
                assert_eq!(late, wait * MINUTE, "{calls} {deaf}");
            } else {
                // The caller heard of trouble: either second is right.
                assert!(
                    [30 * MINUTE, wait * MINUTE].contains(&late),
                    "{calls} {wait}: {late}"
                );
            }
        }
    }
}

#[tokio::test]
async fn overlapping_sweeps_send_nothing_twice() {
    let mut env = TestEnv::new().await;
    let at = env.now().plus(10 * MINUTE);
    let mut messages = Vec::new();
    for n in 0..60 {
        messages.push(env.send_later(at.plus(n % 7), None).await);
    }
    env.hand.set(at.plus(-MINUTE));

    let sweeps = tokio::join!(
        sweep(&env.app, Share::ALL),
        sweep(&env.app, Share::ALL),
        sweep(&env.app, Share::ALL)
    );
    for swept in [sweeps.0, sweeps.1, sweeps.2] {
        assert_eq!(swept.unwrap().failed, 0);
    }
    env.collect();
    env.wait_until(at.plus(MINUTE)).await;

    assert_eq!(env.left.len(), messages.len());
}

#[tokio::test]
async fn a_pause_removed_while_a_worker_holds_a_message_back_holds_nothing() {
    let mut env = TestEnv::new().await;
    for round in 0..20 {
        let start = env.now();
        let batch = env.open_batch().await;
        let at = start.plus(20 * MINUTE);
        let message = entropy().message_id();
        env.accept(&message, 0, at, Some(&batch)).await.unwrap();
        env.hold(&batch, "pause").await.expect(201);
        env.hand.set(at);
        let job = job(env.account(), &message, 0, at, Some(&batch))
            .to_text()
            .unwrap();
        let later = ScheduledMail {
            account: env.account(),
            message: &message,
            first: 0,
            recipients: 1,
            accepted: env.now(),
            at,
            batch: Some(&batch),
            job: &job,
        };
        let path = format!("/v3/user/scheduled_sends/{batch}");
        let clock = env.hand.clock();

        // They interleave differently in every round: each awaits its own replies.
        let resume = env.api.delete(&path).key(&env.tenant.key).send();
        let worker = async {
            for _ in 0..round % 5 {
                tokio::task::yield_now().await;
            }
            env.store.begin_delivery(&later, &clock).await
        };
        let (fate, answer) = tokio::join!(worker, resume);
        answer.expect(204);
        let _ = fate.unwrap();
        env.sweep().await;
        env.deliver().await;

        // Whoever came first: it is on its way, and no row remembers it.
        let left = env.ends(&message, at);
        assert_eq!(left, [(End::Sent, 0)], "round {round}");
        assert!(
            env.store
                .held(env.account(), &batch)
                .await
                .unwrap()
                .is_empty()
        );
    }
}
