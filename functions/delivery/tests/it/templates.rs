//! The template of a mail, from the table to the copy.

use delivery::handle;
use posthaste_model::{Mail, TemplateId, VersionId};
use posthaste_queue::{BatchResult, Job, JobBody};
use posthaste_store::{Placed, StoreError, Template, Version, VersionTexts};
use posthaste_testkit::relay::Script;
use posthaste_testkit::{entropy, sqs_event};
use serde_json::{Value, json};

use crate::lists::TestApp;

impl TestApp {
    /// A template whose one version says this.
    async fn template(&self, html: &str) -> Template {
        let (store, now) = (&self.app.store, self.hand.now());
        let template = Template {
            id: entropy().dynamic_template_id(),
            account: self.account.clone(),
            name: "Letter".to_owned(),
            created_at: now,
            updated_at: now,
            versions: Vec::new(),
        };
        let made = store.create_template(&template, 300).await.unwrap();
        assert_eq!(made, Placed::Done(()));
        let id = entropy().version_id();
        let version = Version {
            texts: id.clone(),
            id,
            name: "first".to_owned(),
            subject: "From the template".to_owned(),
            updated_at: now,
            active: true,
            generate_plain_content: false,
            editor: "code".to_owned(),
            has_content: true,
        };
        self.says(&version.texts, html).await;
        let added = store.add_version(&self.account, &template.id, &version, 300);
        assert!(matches!(added.await.unwrap(), Placed::Done(_)));
        let stored = store.template(&self.account, &template.id).await;
        stored.unwrap().unwrap()
    }

    async fn says(&self, texts: &VersionId, html: &str) {
        let all = VersionTexts {
            html_content: html.to_owned(),
            ..VersionTexts::default()
        };
        let put = self.app.store.put_texts(&self.account, texts, &all);
        put.await.unwrap();
    }

    /// Gives the version other texts, as a change of it does.
    async fn rewrite(&self, template: &Template, html: &str) {
        let texts = entropy().version_id();
        self.says(&texts, html).await;
        let store = &self.app.store;
        let changed = store.change_template(&self.account, &template.id, |template| {
            template.versions[0].texts = texts.clone();
            Ok::<_, StoreError>(())
        });
        assert!(matches!(changed.await, Ok(Placed::Done(_))));
        let old = &template.versions[0].texts;
        store.delete_texts(&self.account, old).await.unwrap();
    }

    async fn write(&self, template: &TemplateId) -> Vec<(String, String)> {
        let more = json!({"template_id": template, "content": []});
        self.send(&["ann@example.com"], more).await
    }

    /// The mails so far that hold this text.
    fn with(&self, text: &str) -> usize {
        let mails = self.relay.received();
        let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(text);
        mails.iter().filter(|mail| holds(&mail.bytes)).count()
    }
}

#[tokio::test]
async fn a_template_is_remembered_for_ten_seconds() {
    let app = TestApp::new(Script::new()).await;
    let template = app.template("<p>old</p>").await;
    app.write(&template.id).await;
    app.rewrite(&template, "<p>new</p>").await;
    app.write(&template.id).await;
    assert_eq!((app.with("<p>old</p>"), app.with("<p>new</p>")), (2, 0));
    app.hand.advance(10);
    app.write(&template.id).await;
    assert_eq!((app.with("<p>old</p>"), app.with("<p>new</p>")), (2, 1));
}

/// Only what compiled was stored, so a later release is what refuses it: the sender lost nothing.
#[tokio::test]
async fn a_stored_template_that_no_longer_compiles_holds_its_mail_and_drops_none() {
    let app = TestApp::new(Script::new()).await;
    let template = app.template("{{#if}}").await;
    let job = app.job(&template.id).to_text().unwrap();
    for _ in 0..3 {
        let answer = handle(&app.app, &sqs_event([job.clone()])).await;
        assert_eq!(answer.unfinished().count(), 1);
    }
    assert!(app.told().is_empty() && app.relay.received().is_empty());
    app.rewrite(&template, "<p>mended</p>").await;
    let answer = handle(&app.app, &sqs_event([job])).await;
    assert_eq!(answer, BatchResult::default());
    assert_eq!(app.with("<p>mended</p>"), 1);
}

#[tokio::test]
async fn a_template_that_went_after_the_mail_was_accepted_drops_it_with_a_reason() {
    let app = TestApp::new(Script::new()).await;
    let store = &app.app.store;
    let dropped =
        |id: &TemplateId, why: &str| vec![("dropped".to_owned(), format!("template {id} {why}"))];
    let off = app.template("<p>x</p>").await;
    let changed = store.change_template(&app.account, &off.id, |template| {
        template.versions[0].active = false;
        Ok::<_, StoreError>(())
    });
    assert!(matches!(changed.await, Ok(Placed::Done(_))));
    let why = "has no active version any more";
    assert_eq!(app.write(&off.id).await, dropped(&off.id, why));

    let gone = store.delete_template(&app.account, &off.id);
    assert!(gone.await.unwrap());
    let why = "does not exist any more";
    assert_eq!(app.write(&off.id).await, dropped(&off.id, why));
    assert!(app.relay.received().is_empty());
}

#[tokio::test]
async fn a_template_whose_text_is_being_replaced_is_waited_for() {
    let app = TestApp::new(Script::new()).await;
    let template = app.template("<p>old</p>").await;
    let texts = &template.versions[0].texts;
    let store = &app.app.store;
    store.delete_texts(&app.account, texts).await.unwrap();
    let job = app.job(&template.id).to_text().unwrap();
    let answer = handle(&app.app, &sqs_event([job.clone()])).await;
    assert_eq!(answer.unfinished().count(), 1);
    assert!(app.told().is_empty() && app.relay.received().is_empty());

    app.says(texts, "<p>new</p>").await;
    let answer = handle(&app.app, &sqs_event([job])).await;
    assert_eq!(answer, BatchResult::default());
    assert_eq!(app.with("<p>new</p>"), 1);
}

impl TestApp {
    fn job(&self, template: &TemplateId) -> Job {
        let mail: Value = json!({
            "from": {"email": "shop@example.com"},
            "subject": "Hello",
            "template_id": template,
            "personalizations": [{"to": [{"email": "ann@example.com"}]}],
        });
        let mail: Mail = serde_json::from_value(mail).unwrap();
        Job {
            v: 1,
            account: self.account.clone(),
            message: entropy().message_id(),
            accepted: self.hand.clock().now_ms(),
            spans: Vec::new(),
            attempt: 0,
            due: None,
            left: false,
            waits_since: None,
            key: None,
            client_ip: None,
            is_test: false,
            body: JobBody::Mail(Box::new(mail)),
        }
    }
}
