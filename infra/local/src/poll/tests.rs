//! A poller continues whatever its queue or its worker does.

use posthaste_queue::EngineCommand;
use tokio::sync::mpsc;

use super::*;

const PACE: Pace = Pace {
    pollers: 1,
    batch: 10,
    visibility: Duration::from_secs(30),
    again: Duration::from_secs(5),
};

/// An engine that answers each receive with the next of these, and returns the answers it received.
fn scripted(
    receives: Vec<Result<Vec<i64>, &'static str>>,
) -> (Local, mpsc::UnboundedReceiver<(&'static str, Vec<i64>)>) {
    let (commands, mut asked) = mpsc::unbounded_channel();
    let (tell, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut receives = receives.into_iter();
        while let Some(command) = asked.recv().await {
            match command {
                EngineCommand::Receive { done, .. } => {
                    let Some(next) = receives.next() else { return };
                    let received = |id| ReceivedMessage {
                        id,
                        body: id.to_string(),
                        count: 1,
                    };
                    let next = next.map(|ids| ids.into_iter().map(received).collect());
                    done.send(next.map_err(str::to_owned)).unwrap();
                }
                EngineCommand::Delete { ids, done, .. } => {
                    tell.send(("deleted", ids)).unwrap();
                    done.send(Ok(())).unwrap();
                }
                EngineCommand::Return { ids, done, .. } => {
                    tell.send(("given back", ids)).unwrap();
                    done.send(Ok(())).unwrap();
                }
                other => unreachable!("{other:?}"),
            }
        }
    });
    (Local::new("send", commands), told)
}

#[tokio::test]
async fn neither_a_queue_that_fails_nor_a_worker_that_panics_ends_a_poller() {
    let receives = vec![Err("the disk is full"), Ok(vec![1, 2]), Ok(vec![3])];
    let (queue, mut told) = scripted(receives);
    let (_signal, stop) = watch::channel(false);
    let pollers = start(
        &queue,
        PACE,
        &Disk::none(),
        &stop,
        |event: SqsEvent| async move {
            assert!(event.records.len() == 1, "outside of any job");
            BatchResult::default()
        },
    );
    drop(queue);
    assert_eq!(told.recv().await, Some(("given back", vec![1, 2])));
    assert_eq!(told.recv().await, Some(("deleted", vec![3])));
    // The engine has ended; so do the pollers.
    for poller in pollers {
        poller.await.unwrap();
    }
}

#[tokio::test]
async fn what_is_not_safe_on_the_disk_is_given_back() {
    let (queue, mut told) = scripted(vec![Ok(vec![1, 2])]);
    let (_signal, stop) = watch::channel(false);
    let table = crate::table::Table::start(None).await.expect("a table");
    let store = table.store.clone();
    let _pollers = start(&queue, PACE, &Disk::broken(), &stop, move |_| {
        let store = store.clone();
        async move {
            let key = posthaste_store::Key {
                pk: "A#somebody".to_owned(),
                sk: "ROW".to_owned(),
            };
            store.put(&key, &1, None).await.expect("a write");
            BatchResult::default()
        }
    });
    assert_eq!(told.recv().await, Some(("given back", vec![1, 2])));
}
