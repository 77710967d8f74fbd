//! Templates: the list, one of them with its versions, its editor and what its frame shows.

use serde_json::{Value, json};

use crate::{HOST, ORIGIN, TestApp, sandbox_of};

const EVIL: &str = "<p>{{name}}</p><script>alert(1)</script>";

impl TestApp {
    /// A template and its first version.
    async fn letter(&self, generation: &str, version: &Value) -> (String, String) {
        let body = json!({"name": "A <b>letter</b>", "generation": generation});
        let template = self.made("/v3/templates", &body).await;
        let template = template["id"].as_str().unwrap().to_owned();
        let path = format!("/v3/templates/{template}/versions");
        let version = self.made(&path, version).await;
        (template, version["id"].as_str().unwrap().to_owned())
    }
}

fn first() -> Value {
    json!({"name": "first", "subject": "Hello {{name}}", "html_content": EVIL, "test_data": "{\"city\": \"Bath\"}"})
}

#[tokio::test]
async fn the_list_has_both_generations_page_by_page() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let page = app.page("/console/templates", &session).await;
    assert!(page.contains("No template yet."), "{page}");
    let (dynamic, _) = app.letter("dynamic", &first()).await;
    for n in 0..25 {
        app.hand.advance(1);
        let body = json!({"name": format!("old {n}"), "generation": "legacy"});
        app.made("/v3/templates", &body).await;
    }
    let page = app.page("/console/templates", &session).await;
    for words in [
        format!(r#"href="/console/templates/{dynamic}""#),
        "A &#60;b&#62;letter".to_owned(),
        "Hello {{name}}".to_owned(),
        "1 version".to_owned(),
        "none is active".to_owned(),
        "26 in all".to_owned(),
    ] {
        assert!(page.contains(&words), "{words}: {page}");
    }
    assert!(!page.contains("old 24"), "{page}");
    let next = page.split(r#"rel="next" href=""#).nth(1).unwrap();
    let next = next.split('"').next().unwrap().replace("&#38;", "&");
    let page = app.page(&next, &session).await;
    assert!(
        page.contains("old 24") && !page.contains("old 23"),
        "{page}"
    );
    let page = app
        .page("/console/templates?generation=dynamic", &session)
        .await;
    assert!(page.contains(&dynamic) && !page.contains("old 1"), "{page}");
}

#[tokio::test]
async fn a_version_is_in_its_editor_beside_what_its_data_lacks() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let (template, version) = app.letter("dynamic", &first()).await;
    let here = format!("/console/templates/{template}");
    let page = app.page(&here, &session).await;
    assert!(!page.contains("id=\"editor\""), "{page}");
    let page = app
        .page(&format!("{here}?version={version}"), &session)
        .await;
    for words in [
        "The test data lacks: name",
        "&#60;script&#62;alert(1)",
        "&#34;city&#34;",
        r#"<iframe class="mail" sandbox "#,
        "data-active",
        r#"<b class="pill good">active</b>"#,
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("<script>alert"), "{page}");
    // The plain text is made from the HTML, and no text of its own.
    assert!(
        page.contains(
            "name=\"plain_content\" data-empty rows=\"4\" spellcheck=\"false\">\n</textarea>"
        ),
        "{page}"
    );
    let missing = app.page(&format!("{here}?version=nothing"), &session).await;
    assert!(missing.contains("role=\"alert\""), "{missing}");
    app.get("/console/templates/d-nothing", &session)
        .send()
        .await
        .expect(404);
}

#[tokio::test]
async fn the_frame_shows_what_is_stored_and_what_is_written() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let (template, version) = app.letter("dynamic", &first()).await;
    let path = format!("/console/template-part/{template}?version={version}");
    let part = app.get(&path, &session).send().await.expect(200);
    assert!(part.body.starts_with(b"<p></p><script>"), "{:?}", part.body);
    let policy = sandbox_of(&part);
    let preview = r#"{"version":{"html_content":"<i>{{city}}</i>"}}"#;
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.append_pair("template", &template);
    form.append_pair("version", &version);
    form.append_pair("preview", preview);
    let form = form.finish();
    let ask = |origin: &'static str, cookie: String| {
        let ask = app.api.post("/console/template-part");
        let ask = ask.header("host", HOST).header("origin", origin);
        ask.header("cookie", &cookie).body(form.clone()).send()
    };
    let part = ask(ORIGIN, session.clone()).await.expect(200);
    assert_eq!(part.body.as_ref(), b"<i>Bath</i>");
    assert_eq!(part.header("content-security-policy"), policy);
    // Neither a page of another origin nor a request without a session gets anything.
    ask("http://evil.example", session.clone())
        .await
        .expect(403);
    ask(ORIGIN, String::new()).await.expect(401);
    app.get(&path, "").send().await.expect(401);
}

#[tokio::test]
async fn two_versions_are_compared_line_by_line() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let (template, from) = app.letter("dynamic", &first()).await;
    let second = json!({"name": "second", "subject": "Hello {{name}}", "html_content": "<p>{{name}}</p>\n<b>new</b>"});
    let versions = format!("/v3/templates/{template}/versions");
    let to = app.made(&versions, &second).await;
    let to = to["id"].as_str().unwrap().to_owned();
    let path = |from: &str, to: &str| format!("/console/templates/{template}?from={from}&to={to}");
    let page = app.page(&path(&from, &to), &session).await;
    assert!(
        page.contains("From “<bdi>first</bdi>” to “<bdi>second</bdi>”"),
        "{page}"
    );
    assert!(page.contains("added: </b>&#60;b&#62;new"), "{page}");
    assert!(
        page.contains("removed: </b>&#60;p&#62;{{name}}&#60;/p&#62;&#60;script"),
        "{page}"
    );
    assert!(!page.contains("<h3>Subject</h3>"), "{page}");
    let page = app.page(&path(&from, &from), &session).await;
    assert!(page.contains("Their texts are the same."), "{page}");
}

#[tokio::test]
async fn texts_too_long_for_a_page_come_with_the_script() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    for (bytes, is_inside) in [(16 << 10, true), ((16 << 10) + 1, false)] {
        let version = json!({"name": "long", "subject": "Long", "html_content": "x".repeat(bytes), "generate_plain_content": false});
        let (template, version) = app.letter("dynamic", &version).await;
        let path = format!("/console/templates/{template}?version={version}");
        let page = app.page(&path, &session).await;
        assert_eq!(page.contains("data-load"), !is_inside);
        assert_eq!(page.contains(&"x".repeat(5_000)), is_inside);
    }
}

#[tokio::test]
async fn a_legacy_template_is_shown_around_a_text() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let version =
        json!({"name": "old", "subject": "<%subject%>!", "html_content": "<h1><%body%></h1>"});
    let (template, version) = app.letter("legacy", &version).await;
    let path = format!("/console/templates/{template}?version={version}");
    let page = app.page(&path, &session).await;
    assert!(page.contains("Substitutions, a JSON object"), "{page}");
    assert!(!page.contains("name=\"test_data\""), "{page}");
}

#[tokio::test]
async fn a_key_that_may_only_read_gets_no_forms() {
    let app = TestApp::new().await;
    let (template, version) = app.letter("dynamic", &first()).await;
    let path = format!("/console/templates/{template}?version={version}");
    for (scopes, words) in [
        (
            vec!["templates.read", "templates.versions.read"],
            "The test data lacks: name",
        ),
        (
            vec!["templates.read"],
            "lacks the scope templates.versions.read",
        ),
    ] {
        let key = app.tenant.restricted(&app.store, &scopes).await;
        let session = app.sign_in(&format!("key={key}")).await;
        let page = app.page(&path, &session).await;
        assert!(page.contains(words), "{words}: {page}");
        for label in [
            ">Rename<",
            ">Activate<",
            "Delete…",
            ">Save",
            "Create the",
            ">Duplicate<",
            "Send the test mail",
        ] {
            assert!(!page.contains(label), "{label}: {page}");
        }
        let list = app.page("/console/templates", &session).await;
        assert!(!list.contains("Create the template"), "{list}");
    }
    let key = app.tenant.restricted(&app.store, &["stats.read"]).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let list = app.page("/console/templates", &session).await;
    assert!(list.contains("lacks the scope templates.read"), "{list}");
}
