//! `ERRORS.md` and the code say the same: each message that the tests provoke has its row, each row
//! is provoked, each help link has its anchor.

use std::collections::BTreeSet;

use mail_send::Senders;
use posthaste_mime::{HEADER_RULES, HeaderRule};
use posthaste_model::Problem;
use posthaste_store::{GroupSaved, StoreError};
use serde_json::{Value, json};

use crate::test_app::TestApp;
use crate::{refuse, rules, with};

const CATALOGUE: &str = include_str!("../../ERRORS.md");

/// A row of the messages: field and message, with `N` for an index and `«…»` for what varies.
struct Row {
    field: &'static str,
    message: &'static str,
}

impl Row {
    fn fits(&self, problem: &Problem) -> bool {
        let field: Vec<_> = problem
            .field
            .as_deref()
            .unwrap_or("null")
            .split('.')
            .collect();
        let field = field.iter().map(|step| match step.parse::<u32>() {
            Ok(_) => "N",
            Err(_) => step,
        });
        let field: Vec<_> = field.collect();
        (self.field == "any" || field.join(".") == self.field)
            && matches(self.message, &problem.message)
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('«') else {
        return pattern == text;
    };
    let (_, after) = rest.split_once('»').unwrap();
    let Some(text) = text.strip_prefix(before) else {
        return false;
    };
    (0..=text.len())
        .filter_map(|i| text.get(i..))
        .any(|rest| matches(after, rest))
}

/// The first two code spans of each row of the table below a heading.
fn rows(heading: &str) -> Vec<Row> {
    let (_, messages) = CATALOGUE.split_once(heading).unwrap();
    let messages = messages.split("\n## ").next().unwrap();
    let rows = messages.lines().filter(|line| line.starts_with("| "));
    rows.filter_map(|line| {
        let mut cells = line.split(" | ").map(|cell| cell.trim_start_matches("| "));
        let mut span = || {
            let cell = cells.next()?.trim();
            cell.strip_prefix('`')?.strip_suffix('`')
        };
        Some(Row {
            field: span()?,
            message: span()?,
        })
    })
    .collect()
}

fn provoked() -> Vec<Problem> {
    let mut problems: Vec<_> = rules::cases()
        .iter()
        .flat_map(|(changes, _)| refuse(&with(changes)))
        .collect();
    problems.extend(refuse(&with(&[("custom_args", json!({"a": 1}))])));
    problems.extend(refuse(&every_type_wrong()));
    problems
}

/// A request in which each field there is has a wrong type. `true` is wrong for all but booleans.
fn every_type_wrong() -> Value {
    let fields = CATALOGUE.split("## Messages").next().unwrap();
    let fields = fields.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut body = json!({});
    for row in fields {
        let (path, rest) = row.split_once('`').unwrap();
        let wrong = if rest.contains("boolean") {
            json!(1)
        } else {
            json!(true)
        };
        let mut at = &mut body;
        for step in path.split('.') {
            // A child makes its parent what it has to be.
            at = match step {
                "N" => {
                    if !at.is_array() {
                        *at = json!([true]);
                    }
                    &mut at[0]
                }
                key => {
                    if !at.is_object() {
                        *at = json!({});
                    }
                    &mut at[key]
                }
            };
        }
        *at = wrong;
    }
    body
}

#[test]
fn every_message_has_its_row_and_every_row_its_message() {
    let rows = rows("## Messages");
    agree(&rows, &provoked());
    assert!(rows.len() > 70, "{} rows", rows.len());
}

#[track_caller]
fn agree(rows: &[Row], problems: &[Problem]) {
    for problem in problems {
        let known = rows.iter().any(|row| row.fits(problem));
        assert!(known, "not in ERRORS.md: {problem:?}");
    }
    for row in rows {
        let provoked = problems.iter().any(|problem| row.fits(problem));
        assert!(provoked, "nothing answers {}: {}", row.field, row.message);
    }
}

#[test]
fn a_body_that_cannot_be_read_is_answered_with_help() {
    for body in ["{", r#"{"headers": {"a": 1}}"#] {
        let found = crate::read(body.as_bytes()).unwrap_err();
        let anchor = found[0].help.as_deref().unwrap();
        let row = format!("<a id=\"{anchor}\">");
        assert!(CATALOGUE.contains(&row), "{anchor}");
    }
}

#[test]
fn every_header_with_a_rule_of_its_own_is_listed() {
    for (name, rule) in HEADER_RULES {
        let heading = match rule {
            HeaderRule::Refused => "| `headers` | `Header can not be one of the reserved keys.`",
            HeaderRule::Replaces => "| replaces the service's own",
            HeaderRule::LeftOut => "| left out",
            HeaderRule::Written => continue,
        };
        let row = CATALOGUE.lines().find(|line| line.starts_with(heading));
        let row = row.unwrap().to_lowercase();
        let mut names = row.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        assert!(names.any(|listed| listed == name), "{name} in {row}");
    }
}

#[tokio::test]
async fn what_the_account_lacks_has_its_row_too() {
    let app = TestApp::new(Senders::verified()).await;
    let (store, account) = (&app.store, &app.tenant.account.id);
    app.tenant.domain(store, "example.com").await;
    let group = store.create_group(account, ("News", ""), false).await;
    assert!(matches!(group.unwrap(), GroupSaved::Done(group) if group.id == 1));
    let unknown = with(&[("ip_pool_name", json!("news"))]);
    app.send(&unknown).await.expect(400);
    let pools = store.change_ip_pools(account, |pools| {
        pools.pools.entry("news".to_owned()).or_default();
        Ok::<_, StoreError>(())
    });
    pools.await.unwrap();
    for pool in ["news", "operators"] {
        let known = with(&[("ip_pool_name", json!(pool))]);
        app.send(&known).await.expect(202);
        assert_eq!(app.queues.drain("send").len(), 1);
    }
    let bare = app.bare_template().await;
    let remove = json!("remove");
    let mut problems = Vec::new();
    for (changes, status) in [
        (vec![("from.email", json!("ann@example.net"))], 403),
        (
            vec![("personalizations.0.from", json!({"email": "a@b.co"}))],
            403,
        ),
        (vec![("template_id", json!("d-0123"))], 400),
        (
            vec![
                ("template_id", json!(bare)),
                ("subject", remove.clone()),
                ("content", remove),
            ],
            400,
        ),
        (vec![("batch_id", json!("unknown"))], 400),
        (vec![("ip_pool_name", json!("bulk"))], 400),
        (vec![("asm", json!({"group_id": 2}))], 400),
        (
            vec![(
                "asm",
                json!({"group_id": 1, "groups_to_display": [1, 2, 7]}),
            )],
            400,
        ),
    ] {
        let answer = app.send(&with(&changes)).await.expect(status);
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        for error in body["errors"].as_array().unwrap() {
            let text = |name: &str| error[name].as_str().unwrap().to_owned();
            problems.push(Problem::on(text("field"), text("message")));
        }
    }
    assert!(app.queues.drain("send").is_empty());
    agree(&rows("## What depends on the account"), &problems);
}

#[test]
fn every_help_link_has_an_anchor() {
    for problem in provoked() {
        let Some(anchor) = problem.help else { continue };
        let id = format!("<a id=\"{anchor}\"></a>");
        assert!(CATALOGUE.contains(&id), "no {id}");
    }
}

#[test]
fn every_field_of_the_catalogue_has_a_type_that_is_checked() {
    let leaves = refuse(&every_type_wrong());
    let fields: BTreeSet<_> = leaves.iter().filter_map(|p| p.field.clone()).collect();
    assert_eq!(fields.len(), leaves.len());
    let others = leaves.iter();
    let others = others.filter(|p| !p.message.starts_with("Invalid type."));
    let others: Vec<_> = others.filter_map(|p| p.field.as_deref()).collect();
    assert_eq!(others, ["mail_settings.sandbox_mode.enable"]);
    assert!(leaves.len() > 55, "{} fields", leaves.len());
}
