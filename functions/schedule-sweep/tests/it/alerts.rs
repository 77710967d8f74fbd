//! Alerts: mails with the figures of a period, and when much of an allowance is used.

use std::collections::BTreeMap;

use posthaste_model::{EmailAddress, Timestamp};
use posthaste_queue::{Job, JobBody};
use posthaste_store::{Alert, AlertKind, Allowance, Frequency, SenderLink, Tally};
use posthaste_testkit::{Services, Tenant};
use schedule_sweep::{App, Share, sweep};

const TO: &str = "ops@example.org";

struct TestAlerts {
    services: Services,
    tenant: Tenant,
    app: App,
}

impl TestAlerts {
    async fn new() -> Self {
        let services = Services::start().await;
        Self {
            tenant: Tenant::new(&services.store, "ann", services.clock.now()).await,
            app: services.open(App::from_env),
            services,
        }
    }

    /// As if the owner of the address had pressed the button.
    async fn confirm(&self) {
        let (store, account) = (&self.services.store, &self.tenant.account.id);
        let now = self.services.clock.now();
        let to = EmailAddress::parse(TO).unwrap();
        let link = SenderLink::new("token", now.plus(3_600));
        store
            .ask_to_forward(account, &to, &link, now)
            .await
            .unwrap();
        assert!(store.confirm_forward("token", now).await.unwrap().is_some());
    }

    async fn alert(&self, kind: AlertKind) -> Alert {
        let clock = self.services.clock.clock();
        let now = clock.now();
        let alert = Alert {
            id: self
                .services
                .store
                .next_alert_id(&self.tenant.account.id)
                .await
                .unwrap(),
            account: self.tenant.account.id.clone(),
            email_to: TO.to_owned(),
            kind,
            created_at: now,
            updated_at: now,
            next: kind.next(now),
            is_past: false,
        };
        self.services.store.put_alert(&alert, &clock).await.unwrap();
        alert
    }

    /// Counts mails of a day.
    async fn count(&self, day: &str, batch: &str, counters: &[(&'static str, i64)]) {
        let counters: BTreeMap<_, _> = counters.iter().copied().collect();
        let tally = Tally {
            counters: [((day.to_owned(), String::new()), counters)].into(),
            ..Tally::default()
        };
        let (store, now) = (&self.services.store, self.services.clock.now());
        let counted = store.count_batch(&self.tenant.account.id, batch, &tally, now);
        counted.await.unwrap();
    }

    /// Moves the clock to a time and sweeps; the jobs of the mails that leave.
    async fn at(&self, at: Timestamp) -> Vec<Job> {
        self.services
            .clock
            .advance(at.since(self.services.clock.now()));
        self.sweep().await
    }

    async fn sweep(&self) -> Vec<Job> {
        let swept = sweep(&self.app, Share::ALL).await.unwrap();
        assert_eq!((swept.failed, swept.unreadable), (0, 0));
        let jobs = self.services.queues.drain("send").into_iter();
        jobs.map(|(text, _)| Job::from_text(&text).unwrap())
            .collect()
    }
}

/// Subject and text.
fn mail(job: &Job) -> (&str, &str) {
    let JobBody::Mail(mail) = &job.body else {
        unreachable!("{:?}", job.body);
    };
    assert_eq!(mail.personalizations[0].to[0].email.as_str(), TO);
    (mail.subject.as_deref().unwrap(), &mail.content[0].value)
}

#[tokio::test]
async fn the_figures_of_a_day_are_mailed_at_its_end_day_after_day() {
    let app = TestAlerts::new().await;
    app.confirm().await;
    let daily = AlertKind::StatsNotification {
        frequency: Frequency::Daily,
    };
    let alert = app.alert(daily).await;
    let today = app.services.clock.now().day();
    app.count(&today, "1", &[("requests", 5), ("delivered", 4)])
        .await;
    app.count(&today, "2", &[("requests", 2), ("bounces", 1)])
        .await;
    app.count("2020-01-01", "3", &[("requests", 100)]).await;
    assert_eq!(
        alert.next.0 % 86_400,
        1_800,
        "when the last mails of the day are counted"
    );
    assert!(
        app.at(alert.next.plus(-1)).await.is_empty(),
        "not before its time"
    );

    let jobs = app.at(alert.next).await;
    assert_eq!(jobs.len(), 1);
    let (subject, text) = mail(&jobs[0]);
    assert_eq!(subject, format!("Your mail on {today}"));
    assert!(text.contains("Requests: 7\nDelivered: 4\n"), "{text}");
    assert!(
        text.contains("Bounces: 1\n") && text.contains("Spam reports: 0\n"),
        "{text}"
    );
    assert!(
        text.contains("an alert of the account ann.") && text.contains("DELETE /v3/alerts/1"),
        "{text}"
    );
    assert!(app.sweep().await.is_empty(), "once");

    let next = alert.next.plus(86_400);
    let jobs = app.at(next).await;
    let (subject, text) = mail(&jobs[0]);
    assert_eq!(subject, format!("Your mail on {}", alert.next.day()));
    assert!(text.contains("Requests: 0\n"), "{text}");
}

#[tokio::test]
async fn a_week_and_a_month_are_whole() {
    let app = TestAlerts::new().await;
    app.confirm().await;
    for (frequency, from, to) in [
        // The tests begin on 2027-01-15, a Friday.
        (Frequency::Weekly, "2027-01-11", "2027-01-17"),
        (Frequency::Monthly, "2027-01-01", "2027-01-31"),
    ] {
        let alert = app.alert(AlertKind::StatsNotification { frequency }).await;
        for (day, batch) in [(from, "a"), (to, "b")] {
            let batch = format!("{frequency:?}{batch}");
            app.count(day, &batch, &[("blocks", 3)]).await;
        }
        let jobs = app.at(alert.next).await;
        let (subject, text) = mail(jobs.last().unwrap());
        assert_eq!(subject, format!("Your mail from {from} to {to}"));
        assert!(text.contains("Blocks: "), "{text}");
        app.services
            .store
            .delete_alert(&alert.account, alert.id)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn an_address_that_is_not_confirmed_gets_nothing() {
    let app = TestAlerts::new().await;
    let daily = AlertKind::StatsNotification {
        frequency: Frequency::Daily,
    };
    let alert = app.alert(daily).await;
    assert!(app.at(alert.next).await.is_empty());
    app.confirm().await;
    assert_eq!(app.at(alert.next.plus(86_400)).await.len(), 1);
}

#[tokio::test]
async fn usage_is_mailed_once_when_it_reaches_the_threshold_and_again_in_the_next_period() {
    let app = TestAlerts::new().await;
    app.confirm().await;
    let (store, account) = (&app.services.store, &app.tenant.account);
    let allowance = Allowance {
        frequency: Some(Frequency::Daily),
        total: 10,
    };
    let now = app.services.clock.now();
    store
        .set_credits(&account.id, Some(allowance), now)
        .await
        .unwrap();
    let account = store.account(&account.id).await.unwrap().unwrap();
    let alert = app.alert(AlertKind::UsageLimit { percentage: 80 }).await;
    let spend = async |count| {
        let now = app.services.clock.now();
        assert_eq!(
            store.spend_credits(&account, count, now).await.unwrap(),
            count
        );
    };
    spend(7).await;
    let mut at = alert.next;
    assert!(app.at(at).await.is_empty(), "70 %");
    spend(1).await;
    at = at.plus(900);
    let jobs = app.at(at).await;
    let (subject, text) = mail(&jobs[0]);
    assert_eq!(subject, "80 % of your sending allowance are used");
    assert!(text.contains("used 8 of the 10 mails"), "{text}");
    spend(2).await;
    at = at.plus(900);
    assert!(app.at(at).await.is_empty(), "once in a period");

    at = at.next_day().plus(900);
    assert!(app.at(at).await.is_empty(), "a new period");
    spend(9).await;
    at = at.plus(900);
    assert_eq!(app.at(at).await.len(), 1);
}

#[tokio::test]
async fn usage_of_an_account_without_an_allowance_is_no_news() {
    let app = TestAlerts::new().await;
    app.confirm().await;
    let alert = app.alert(AlertKind::UsageLimit { percentage: 1 }).await;
    assert!(app.at(alert.next).await.is_empty());
    let seen = app.services.store.alert(&alert.account, alert.id).await;
    assert_eq!(
        seen.unwrap().unwrap().next,
        alert.next.plus(3_600),
        "looked at less often"
    );
    assert!(app.at(alert.next.plus(3_600)).await.is_empty());
}

#[tokio::test]
async fn an_alert_that_was_changed_or_deleted_is_not_sent_at_its_old_time() {
    let app = TestAlerts::new().await;
    app.confirm().await;
    let daily = AlertKind::StatsNotification {
        frequency: Frequency::Daily,
    };
    let (changed, deleted) = (app.alert(daily).await, app.alert(daily).await);
    let (store, clock) = (&app.services.store, app.services.clock.clock());
    let monthly = AlertKind::StatsNotification {
        frequency: Frequency::Monthly,
    };
    let change = store.change_alert(&changed.account, changed.id, &clock, |alert| {
        alert.kind = monthly;
    });
    let now = change.await.unwrap().unwrap();
    assert!(
        store
            .delete_alert(&deleted.account, deleted.id)
            .await
            .unwrap()
    );
    assert!(app.at(deleted.next).await.is_empty());
    assert_eq!(app.at(now.next).await.len(), 1);
}

/// A sweep that dies after the mail was queued, or two at the same time: the mail has one id, under which it is
/// delivered once.
#[tokio::test]
async fn a_sweep_that_is_repeated_writes_the_same_mail() {
    let app = TestAlerts::new().await;
    app.confirm().await;
    let daily = AlertKind::StatsNotification {
        frequency: Frequency::Daily,
    };
    let alert = app.alert(daily).await;
    let first = app.at(alert.next).await;
    // As it was before the sweep.
    let clock = app.services.clock.clock();
    app.services.store.put_alert(&alert, &clock).await.unwrap();
    let second = app.sweep().await;
    assert_eq!(first[0].message, second[0].message);
}
