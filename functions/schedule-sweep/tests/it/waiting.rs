//! Mail that waits for the relay.

use posthaste_outage::StoredJob;
use posthaste_store::OutageScope;
use posthaste_testkit::{CapturedLog, Services};
use schedule_sweep::{App, Share, Swept, sweep};

/// Sweeps, after so many seconds; what it did, and the `relay_trouble` that it reports.
async fn swept(services: &Services, app: &App, seconds: i64, share: Share) -> (Swept, usize) {
    services.clock.advance(seconds);
    let log = CapturedLog::kept();
    let swept = sweep(app, share).await.unwrap();
    assert_eq!(swept.failed, 0);
    let text = log.text();
    let figures = text.lines().filter_map(|line| {
        let (_, figure) = line.split_once(" relay_trouble=")?;
        figure.split_whitespace().next()?.parse::<usize>().ok()
    });
    (swept, figures.sum())
}

#[tokio::test]
async fn the_first_part_of_a_sweep_releases_what_waits_and_reports_what_goes_on_waiting() {
    let services = Services::start().await;
    let app = services.open(App::from_env);
    for pack in 0..3 {
        let job = |n: u32| StoredJob {
            scope: OutageScope::Relay,
            text: format!("{pack}-{n}"),
            expires: services.clock.now().plus(86_400),
        };
        app.outage.put((0..10).map(job).collect()).await.unwrap();
    }
    let second = Share { part: 1, of: 2 };
    let (done, trouble) = swept(&services, &app, 60, second).await;
    assert_eq!((done.resent, trouble), (0, 0));
    let first = Share { part: 0, of: 2 };
    let (done, trouble) = swept(&services, &app, 0, first).await;
    assert_eq!((done.resent, trouble), (1, 3));
    // It does not come back.
    let (done, trouble) = swept(&services, &app, 120, first).await;
    assert_eq!((done.resent, trouble), (29, 0));
    assert_eq!(services.queues.drain("send").len(), 30);
}
