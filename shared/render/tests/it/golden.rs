//! Whole copies, compared with what was reviewed once: `tests/golden/render/*.json` in, `*.txt` out.
//!
//! To accept new output: `UPDATE_GOLDEN=1 cargo test -p posthaste-render golden`, then read the diff.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use posthaste_model::Mail;
use posthaste_render::{
    AccountDefaults, Compiled, Generation, Input, Rendered, TemplateVersion, effective, render,
};
use serde::Deserialize;

use crate::test_app::TestApp;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    mail: serde_json::Value,
    #[serde(default)]
    account: AccountDefaults,
    template: Option<Version>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Version {
    dynamic: bool,
    #[serde(default)]
    subject: String,
    /// Lines, for the reader's sake.
    html_content: Vec<String>,
    #[serde(default)]
    plain_content: Vec<String>,
    #[serde(default)]
    generate_plain_content: bool,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/render")
}

/// Data and contents are written as JSON and as lines; the model wants texts.
fn mail(mut json: serde_json::Value) -> Mail {
    for envelope in json["personalizations"].as_array_mut().unwrap() {
        if let Some(data) = envelope.get_mut("dynamic_template_data") {
            *data = serde_json::Value::String(data.to_string());
        }
    }
    for part in json
        .get_mut("content")
        .and_then(|c| c.as_array_mut())
        .into_iter()
        .flatten()
    {
        let lines: Vec<String> = serde_json::from_value(part["value"].take()).unwrap();
        part["value"] = lines.join("\n").into();
    }
    serde_json::from_value(json).unwrap()
}

fn compile(version: &Version) -> Compiled {
    Compiled::compile(&TemplateVersion {
        generation: if version.dynamic {
            Generation::Dynamic
        } else {
            Generation::Legacy
        },
        subject: &version.subject,
        html_content: &version.html_content.join("\n"),
        plain_content: &version.plain_content.join("\n"),
        generate_plain_content: version.generate_plain_content,
    })
    .unwrap()
}

fn show(out: &mut String, app: &TestApp, copy: &Rendered) {
    writeln!(out, "Subject: {}", copy.subject).unwrap();
    for mailbox in &copy.reply_to {
        writeln!(
            out,
            "Reply-To: {} <{}>",
            mailbox.name.as_deref().unwrap_or("-"),
            mailbox.email
        )
        .unwrap();
    }
    for (name, value) in &copy.headers {
        writeln!(out, "{name}: {}", app.readable(value)).unwrap();
    }
    for part in &copy.parts {
        writeln!(
            out,
            "\n--- {}\n{}",
            part.mime_type,
            app.readable(&part.value)
        )
        .unwrap();
    }
}

#[test]
fn copies_are_as_they_were_reviewed() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let app = TestApp::new();
    let mut seen = 0;
    let mut names: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    names.sort();
    for path in names
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
    {
        let case: Case = serde_json::from_str(&fs::read_to_string(path).unwrap())
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mail = mail(case.mail);
        let template = case.template.as_ref().map(compile);
        let settings = effective(&case.account, &mail);
        let mut out = String::new();
        for copy in mail.copies() {
            writeln!(out, "=== {} {:?}", copy.mailbox.email, copy.role).unwrap();
            let input = Input {
                mail: &mail,
                copy,
                template: template.as_ref(),
                settings: &settings,
                links: Some(app.links()),
            };
            match render(&input) {
                Ok(rendered) => show(&mut out, &app, &rendered),
                Err(error) => writeln!(out, "dropped: {error}").unwrap(),
            }
            out.push('\n');
        }
        let golden = path.with_extension("txt");
        if update {
            fs::write(&golden, &out).unwrap();
        }
        let want = fs::read_to_string(&golden).unwrap_or_default();
        assert!(out == want, "{} differs; got:\n{out}", golden.display());
        seen += 1;
    }
    assert!(seen >= 10, "{seen} cases");
}
