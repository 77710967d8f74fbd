//! When an engine has nothing left to do.

use std::time::Duration;

use posthaste_model::Millis;

use super::{Engine, Hand, SECOND};

#[tokio::test]
async fn an_engine_is_quiet_once_nothing_is_visible_and_no_worker_has_a_message() {
    let hand = Hand::new();
    let engine = Engine::start(None, hand.clock()).unwrap();
    let (queue, local) = (engine.queue("send"), engine.local("send"));
    let watch = engine.quiet_watch();
    assert_eq!(watch.quiet().await.unwrap(), None, "an empty engine");
    queue.send("later".to_owned(), 10 * SECOND).await.unwrap();
    queue.send("now".to_owned(), Duration::ZERO).await.unwrap();
    let waiting = tokio::spawn({
        let watch = watch.clone();
        async move { watch.quiet().await.unwrap() }
    });
    let held = local.receive(10, 900 * SECOND).await.unwrap();
    // A round trip: the engine has seen the question.
    engine.dead_jobs().list().await.unwrap();
    assert!(!waiting.is_finished(), "a worker has a message");
    local.delete(vec![held[0].id]).await.unwrap();
    assert_eq!(waiting.await.unwrap(), Some(Millis(1_010_000)));
    hand.advance(10 * SECOND);
    let held = local.receive(10, 900 * SECOND).await.unwrap();
    local.give_back(vec![held[0].id], 5 * SECOND).await.unwrap();
    assert_eq!(watch.quiet().await.unwrap(), Some(Millis(1_015_000)));
}
