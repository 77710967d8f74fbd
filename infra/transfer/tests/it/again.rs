//! An import that is stopped anywhere, and one that is repeated.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use posthaste_store::SuppressionList;
use posthaste_transfer::import;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::fixture::{Service, args, from_folder};
use crate::masked::masked;

/// Runs an import up to its `steps`th line of progress; whether it came to its end.
pub(crate) async fn stopped_after(to: &Service, flags: &str, steps: usize) -> bool {
    let (count, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let notify = Arc::clone(&stop);
    let tools = to.tools_with(move |_| {
        if count.fetch_add(1, Ordering::SeqCst) + 1 == steps {
            notify.notify_one();
        }
    });
    let args = args(flags);
    tokio::select! {
        biased;
        () = stop.notified() => false,
        done = import(&args, &tools) => {
            done.unwrap();
            true
        }
    }
}

#[tokio::test]
async fn an_import_that_is_stopped_anywhere_goes_on() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    from.fill().await;
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    from.export(&first).await;
    let flags = from_folder(&first) + " --trust-senders";
    let mut steps = 1;
    while !stopped_after(&to, &flags, steps).await {
        steps += 1;
    }
    assert!(steps > 15, "{steps}");
    to.export(&second).await;
    let (before, after) = (masked(&first), masked(&second));
    for (name, text) in &before {
        assert_eq!(text, &after[name], "{name}");
    }
}

#[tokio::test]
async fn a_later_run_takes_only_what_changed() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    from.fill().await;
    let folder = tempfile::tempdir().unwrap();
    let (first, state) = (folder.path().join("first"), folder.path().join("state"));
    from.export(&first).await;
    let flags = |from: &str| {
        let from = folder.path().join(from);
        format!(
            "--from {} --state {} --trust-senders",
            from.display(),
            state.display()
        )
    };
    to.import(&flags("first")).await.unwrap();
    let report = to.import(&flags("first")).await.unwrap();
    for (part, counts) in &report.parts {
        assert_eq!(
            (counts.created, counts.changed, counts.refused),
            (0, 0, 0),
            "{part}"
        );
        assert_eq!(counts.unchanged, counts.read, "{part}");
    }
    assert_eq!(report.keys, []);

    // What was changed here stays; what was changed there comes.
    to.call(
        "DELETE",
        "/v3/suppression/bounces/bounced7@example.org",
        Value::Null,
    )
    .await;
    let own = to
        .call(
            "GET",
            "/v3/templates?generations=legacy,dynamic",
            Value::Null,
        )
        .await;
    let ids: Vec<&str> = own["templates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["id"].as_str().unwrap())
        .collect();
    to.call(
        "PATCH",
        &format!("/v3/templates/{}", ids[0]),
        json!({"name": "Mine"}),
    )
    .await;
    from.call(
        "PATCH",
        &format!("/v3/templates/{}", ids[1]),
        json!({"name": "Theirs"}),
    )
    .await;
    from.suppress(SuppressionList::Bounces, "later", 3).await;
    let again = folder.path().join("again");
    from.export(&again).await;
    let report = to.import(&flags("again")).await.unwrap();
    assert_eq!(report.parts["templates"].changed, 1, "{}", report.text());
    assert_eq!(
        report.parts["bounces"].created, 4,
        "three, and one whose list begins anew"
    );
    let name = |id: &str| format!("/v3/templates/{id}");
    assert_eq!(
        to.call("GET", &name(ids[0]), Value::Null).await["name"],
        "Mine"
    );
    assert_eq!(
        to.call("GET", &name(ids[1]), Value::Null).await["name"],
        "Theirs"
    );
}

/// A run that is killed after it made a domain has printed none of its records.
#[tokio::test]
async fn records_that_are_yet_to_be_published_are_printed_by_each_import() {
    let to = Service::strict("ada").await;
    let folder = tempfile::tempdir().unwrap();
    let dkim =
        json!({"type": "cname", "host": "s1._domainkey.example.com", "data": "s1.example.net"});
    let domain =
        json!({"id": 1, "domain": "example.com", "subdomain": "em1", "dns": {"dkim1": dkim}});
    std::fs::write(folder.path().join("domains.jsonl"), domain.to_string()).unwrap();
    for (created, unchanged) in [(1, 0), (0, 1)] {
        let report = to.import(&from_folder(folder.path())).await.unwrap();
        let domains = report.parts["domains"];
        assert_eq!((domains.created, domains.unchanged), (created, unchanged));
        let [change] = report.dns.as_slice() else {
            panic!("{}", report.text());
        };
        assert_eq!(
            change.before,
            ["CNAME s1._domainkey.example.com s1.example.net"]
        );
        assert!(change.publish[0].contains("ph._domainkey.example.com"));
    }
}

#[tokio::test]
async fn a_plan_changes_nothing() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    from.fill().await;
    let folder = tempfile::tempdir().unwrap();
    let [path, before, after] = ["out", "before", "after"].map(|name| folder.path().join(name));
    from.export(&path).await;
    to.export(&before).await;
    let files = || std::fs::read_dir(&path).unwrap().count();
    let count = files();
    let report = to
        .import(&(from_folder(&path) + " --dry-run"))
        .await
        .unwrap();
    assert_eq!(report.parts["bounces"].created, 603);
    assert_eq!(report.parts["templates"].created, 2);
    // Most settings are as an account has them from the beginning.
    let settings = report.parts["mail_settings"];
    assert_eq!(
        (settings.created, settings.changed),
        (0, 2),
        "{}",
        report.text()
    );
    assert_eq!(settings.unchanged + 2, settings.read);
    // So are those of a subuser that is yet to be created.
    let shop = &report.subusers[0].parts;
    assert_eq!(
        (shop["groups"].created, shop["mail_settings"].changed),
        (1, 1)
    );
    assert!(
        report.text().starts_with("Plan for account ada"),
        "{}",
        report.text()
    );
    assert_eq!(files(), count, "a file beside the export");
    to.export(&after).await;
    assert_eq!(masked(&before), masked(&after));
}

/// Groups are counted from 1 in each account.
#[tokio::test]
async fn groups_of_a_subuser_are_others_than_those_of_the_account_with_their_ids() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    let group = |name: &str| json!({"name": name, "description": ""});
    let subuser =
        json!({"username": "shop", "email": "shop@example.com", "password": "x", "ips": []});
    from.call("POST", "/v3/asm/groups", group("News")).await;
    from.call("POST", "/v3/subusers", subuser).await;
    from.call_as("shop", "POST", "/v3/asm/groups", group("Shop's"))
        .await;
    to.call("POST", "/v3/asm/groups", group("Own")).await;
    let folder = tempfile::tempdir().unwrap();
    let [first, second, state] = ["first", "second", "state"].map(|name| folder.path().join(name));
    from.export(&first).await;
    let flags = |from| format!("{} --state {}", from_folder(from), state.display());
    let report = to.import(&flags(&first)).await.unwrap();
    assert_eq!(report.group_ids, [(1, 2)].into());
    from.suppress(SuppressionList::Group(1), "left", 1).await;
    from.export(&second).await;
    let report = to.import(&flags(&second)).await.unwrap();
    assert_eq!(report.parts["group_members"].created, 1);
    let members = |id: u8| format!("/v3/asm/groups/{id}/suppressions");
    let own = to.call("GET", &members(1), Value::Null).await;
    let news = to.call("GET", &members(2), Value::Null).await;
    assert_eq!((own, news), (json!([]), json!(["left0@example.org"])));
}

#[tokio::test]
async fn a_plan_counts_a_renamed_template_as_changed() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    from.fill().await;
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    from.export(&first).await;
    to.import(&from_folder(&first)).await.unwrap();
    let all = "/v3/templates?generations=legacy,dynamic";
    let own = from.call("GET", all, Value::Null).await;
    let path = format!(
        "/v3/templates/{}",
        own["templates"][0]["id"].as_str().unwrap()
    );
    from.call("PATCH", &path, json!({"name": "Renamed"})).await;
    from.export(&second).await;
    let plan = to
        .import(&(from_folder(&second) + " --dry-run"))
        .await
        .unwrap();
    let templates = plan.parts["templates"];
    assert_eq!(
        (templates.created, templates.changed),
        (0, 2),
        "both, as no journal is there"
    );
}

#[tokio::test]
async fn a_folder_of_another_import_and_one_with_files_are_refused() {
    let (from, to) = (Service::start("ada").await, Service::start("grace").await);
    let folder = tempfile::tempdir().unwrap();
    let (path, state) = (folder.path().join("out"), folder.path().join("state"));
    from.export(&path).await;
    let flags = format!("{} --state {}", from_folder(&path), state.display());
    from.import(&flags).await.unwrap();
    let refused = to.import(&flags).await.unwrap_err();
    assert!(refused.to_string().contains("--state"), "{refused}");
    assert_eq!(refused.exit_code(), 4);
    let refused = to.import("--from nowhere").await.unwrap_err();
    assert_eq!(refused.exit_code(), 2);
}

/// A run that is stopped has shown no secret of the keys that it made.
#[tokio::test]
async fn the_last_run_shows_a_secret_that_works_for_each_key() {
    let (from, to) = (Service::start("ada").await, Service::start("grace").await);
    let names = ["Billing page", "Newsletter", "Shop"];
    for name in names {
        let key = json!({"name": name, "scopes": ["mail.send"]});
        from.call("POST", "/v3/api_keys", key).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    from.export(&path).await;
    let flags = from_folder(&path) + " --trust-senders";
    let mut stops = 0;
    for steps in 1.. {
        if stopped_after(&to, &flags, steps).await {
            break;
        }
        stops += 1;
        if to.keys().await.len() == names.len() {
            break;
        }
    }
    assert!(stops > names.len(), "{stops}");
    let report = to.import(&flags).await.unwrap();
    let mut shown: Vec<_> = report.keys.iter().map(|key| key.name.as_str()).collect();
    shown.sort_unstable();
    assert_eq!(shown, names);
    assert_eq!(to.keys().await, names);
    for key in &report.keys {
        // It is known, and may not read keys.
        assert_eq!(to.status_with(&key.api_key, "/v3/api_keys").await, 403);
    }
    // What was shown stays.
    let report = to.import(&flags).await.unwrap();
    assert_eq!(report.keys, []);
}
