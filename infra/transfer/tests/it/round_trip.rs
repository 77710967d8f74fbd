//! Out to a folder and into an empty account: nothing is lost.

use posthaste_store::SuppressionList;
use serde_json::{Value, json};

use crate::fixture::{Service, from_folder};
use crate::masked::masked;

#[tokio::test]
async fn an_account_is_the_same_after_an_export_and_an_import() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    from.fill().await;
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let written = from.export(&first).await;
    assert_eq!(written.parts["bounces"].read, 603);
    assert_eq!(written.subusers.len(), 1);

    let flags = from_folder(&first) + " --trust-senders";
    let report = to.import(&flags).await.unwrap();
    assert_eq!(report.not_taken, [], "{}", report.text());
    assert_eq!(report.subusers[0].not_taken, []);
    to.export(&second).await;
    let (before, after) = (masked(&first), masked(&second));
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>()
    );
    for (name, text) in &before {
        assert_eq!(text, &after[name], "{name}");
    }
    // Keys are in the order of their names, since ids of keys are others here.
    let keys = before["api_keys.jsonl"].lines();
    let keys: Vec<Value> = keys.map(|key| serde_json::from_str(key).unwrap()).collect();
    assert!(keys.is_sorted_by_key(|key| key["name"].as_str().unwrap().to_owned()));
    // The subuser has something of each part, and sends from the domain of the account.
    let parts = before.keys().filter(|name| name.starts_with("subusers/"));
    let filled = parts.filter(|name| !before[*name].is_empty());
    assert!(filled.count() >= 12, "{:?}", before.keys());
    assert!(
        after["subusers.jsonl"]
            .contains(r#""domains":[{"domain":"example.com","subdomain":"em1"}]"#)
    );
    // Lists are the same bytes, with their times.
    for name in ["bounces", "spam_reports", "group_members", "groups"] {
        for end in ["jsonl", "csv"] {
            let file = format!("{name}.{end}");
            let bytes = |folder: &std::path::Path| std::fs::read(folder.join(&file)).unwrap();
            assert!(bytes(&first) == bytes(&second), "{file}");
            assert!(!bytes(&first).is_empty(), "{file}");
        }
    }
    let csv = std::fs::read_to_string(first.join("bounces.csv")).unwrap();
    let line = "\"550 5.1.1 no \"\"bounced\"\", 0\",5.1.1\r\n";
    assert!(
        csv.starts_with("created,email,reason,status\r\n1790000000,"),
        "{csv:.80}"
    );
    assert!(csv.contains(line), "{csv:.200}");
}

#[tokio::test]
async fn every_setting_of_mails_and_tracking_is_in_an_export() {
    let from = Service::start("ada").await;
    let folder = tempfile::tempdir().unwrap();
    from.export(&folder.path().join("out")).await;
    for kind in ["mail_settings", "tracking_settings"] {
        let file = folder.path().join(format!("out/{kind}.jsonl"));
        let text = std::fs::read_to_string(file).unwrap();
        let shown = from.call("GET", &format!("/v3/{kind}"), Value::Null).await;
        let shown = shown["result"].as_array().unwrap();
        assert!(shown.len() >= 4, "{shown:?}");
        for setting in shown {
            let name = format!("\"name\":{}", setting["name"]);
            assert!(text.contains(&name), "{kind} lacks {name}");
        }
    }
}

#[tokio::test]
async fn what_the_account_gets_works() {
    let (from, to) = (Service::start("ada").await, Service::start("grace").await);
    from.fill().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    from.export(&path).await;
    let report = to
        .import(&(from_folder(&path) + " --trust-senders"))
        .await
        .unwrap();

    // A new secret, which opens what its scopes say.
    let key = report.keys.iter().find(|key| key.name == "Shop").unwrap();
    assert!(key.api_key.starts_with("SG."), "{key:?}");
    assert!(
        !format!("{key:?}").contains(&key.api_key),
        "a secret in a log"
    );
    for file in masked(&path).values() {
        assert!(!file.contains("SG."), "a secret in a file");
    }
    // New records, beside the old ones, under another selector.
    let change = &report.dns[0];
    assert_eq!(change.domain, "example.com");
    let (before, publish) = (change.before.join("\n"), change.publish.join("\n"));
    assert!(before.contains("s1._domainkey.example.com"), "{before}");
    assert!(publish.contains("ph._domainkey.example.com"), "{publish}");
    // The webhook is signed again, by a key of this service.
    let hooks = to
        .call("GET", "/v3/user/webhooks/event/settings/all", Value::Null)
        .await;
    let own = from
        .call("GET", "/v3/user/webhooks/event/settings/all", Value::Null)
        .await;
    let key = |hooks: &Value| {
        hooks["webhooks"][0]["public_key"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_ne!(key(&hooks), key(&own));
    // The counts of groups are right, so that a page of them is.
    let groups = to.call("GET", "/v3/asm/groups", Value::Null).await;
    assert_eq!(groups[0]["unsubscribes"], 5);
    let next = to
        .call(
            "POST",
            "/v3/asm/groups",
            json!({"name": "Later", "description": ""}),
        )
        .await;
    assert_eq!(next["id"], 4);
}

#[tokio::test]
async fn a_group_whose_id_is_in_use_gets_another_one() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    from.fill().await;
    // Group 2 is another one here, and `offers` is here already.
    for name in ["offers", "Own"] {
        to.call(
            "POST",
            "/v3/asm/groups",
            json!({"name": name, "description": ""}),
        )
        .await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    from.export(&path).await;
    let report = to.import(&from_folder(&path)).await.unwrap();
    assert_eq!(report.group_ids, [(2, 3), (3, 1)].into());
    let store = &to.services.store;
    let lists = store
        .suppressed(&to.tenant.account.id, "left4@example.org")
        .await
        .unwrap();
    assert!(lists.on(SuppressionList::Group(3)).is_some());
    assert!(lists.on(SuppressionList::Group(2)).is_none());
    let offers = to.call("GET", "/v3/asm/groups/1", Value::Null).await;
    assert_eq!(
        (&offers["name"], &offers["unsubscribes"]),
        (&"Offers".into(), &3.into())
    );
}

#[tokio::test]
async fn a_sender_is_mailed_a_link_unless_the_operator_vouches_for_it() {
    for (flag, verified) in [("", false), ("--trust-senders", true)] {
        let (from, to) = (Service::start("ada").await, Service::start("ada").await);
        from.call(
            "POST",
            "/v3/whitelabel/domains",
            json!({"domain": "example.com", "subdomain": "em1"}),
        )
        .await;
        let sender = json!({"nickname": "Ada", "from_email": "ada@example.com",
            "reply_to": "ada@example.com"});
        from.call("POST", "/v3/verified_senders", sender).await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        from.export(&path).await;
        // Without the domain, which would cover the address.
        std::fs::remove_file(path.join("domains.jsonl")).unwrap();
        let report = to
            .import(&format!("{} {flag}", from_folder(&path)))
            .await
            .unwrap();
        assert_eq!(
            report.parts["verified_senders"].created,
            1,
            "{}",
            report.text()
        );
        assert_eq!(report.notes.is_empty(), verified, "{:?}", report.notes);
        let own = to.call("GET", "/v3/verified_senders", Value::Null).await;
        assert_eq!(own["results"][0]["verified"], verified);
    }
}

#[tokio::test]
async fn a_folder_of_a_stranger_is_read_line_by_line() {
    let to = Service::start("ada").await;
    let folder = tempfile::tempdir().unwrap();
    let bounces = "{\"created\":5,\"email\":\"a@example.org\"}\nnonsense\n{\"created\":5,\"email\":\"no\"}\n\
                   {\"email\":\"b@example.org\"}\n{\"created\":-1,\"email\":\"c@example.org\"}\n";
    std::fs::write(folder.path().join("bounces.jsonl"), bounces).unwrap();
    let templates = "{\"id\":\"T1\",\"name\":\"Old\",\"generation\":\"dynamic\",\"versions\":[\
                     {\"id\":\"V1\",\"name\":\"a\",\"subject\":\"\",\"html_content\":\"{{#if\",\"active\":1},\
                     {\"id\":\"V2\",\"name\":\"b\",\"subject\":\"\",\"html_content\":\"[%x%]\"}]}\n";
    std::fs::write(folder.path().join("templates.jsonl"), templates).unwrap();
    let subusers = "{\"username\":\"../up\",\"email\":\"a@example.org\"}\n";
    std::fs::write(folder.path().join("subusers.jsonl"), subusers).unwrap();
    let report = to.import(&from_folder(folder.path())).await.unwrap();
    let bounces = report.parts["bounces"];
    assert_eq!((bounces.read, bounces.created, bounces.refused), (5, 1, 4));
    assert_eq!(report.parts["subusers"].refused, 1);
    // One version is not taken, the other is, under an id of this service.
    let id = &report.template_ids["T1"];
    let template = to
        .call("GET", &format!("/v3/templates/{id}"), Value::Null)
        .await;
    assert_eq!(template["versions"].as_array().unwrap().len(), 1);
    let remarks: Vec<&str> = report
        .template_notes
        .iter()
        .map(|note| &*note.reason)
        .collect();
    assert!(
        remarks[0].starts_with("not read: html_content, line 1"),
        "{remarks:?}"
    );
    assert_eq!(
        remarks[1],
        "a tag of marketing campaigns stays as it is: [%x%]"
    );
}
