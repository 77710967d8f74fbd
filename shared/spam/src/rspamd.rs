//! The HTTP protocol of rspamd: the mail is posted, the answer is JSON.

use std::collections::BTreeMap;

use http::header::CONTENT_TYPE;
use serde::Deserialize;
use url::Url;

use crate::{SpamError, SpamScore};

/// The default port of rspamd's normal worker.
pub(crate) const PORT: u16 = 11333;

/// Bytes read of an answer.
const MOST: usize = 1024 * 1024;

/// The fields used of an answer to `/checkv2`.
#[derive(Deserialize)]
struct RspamdReply {
    score: f64,
    required_score: f64,
    #[serde(default)]
    symbols: BTreeMap<String, Symbol>,
}

#[derive(Deserialize)]
struct Symbol {
    #[serde(default)]
    score: f64,
    #[serde(default)]
    description: Option<String>,
}

pub(crate) async fn score(
    client: &reqwest::Client,
    url: &Url,
    mail: &[u8],
) -> Result<SpamScore, SpamError> {
    let unreachable = |e: reqwest::Error| SpamError::Unreachable(e.without_url().to_string());
    let request = client
        .post(url.clone())
        .header(CONTENT_TYPE, "message/rfc822")
        .body(mail.to_vec());
    let mut response = request.send().await.map_err(unreachable)?;
    if !response.status().is_success() {
        return Err(SpamError::Refused(response.status().to_string()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > MOST {
            return Err(SpamError::Garbled);
        }
        body.extend_from_slice(&chunk);
    }
    read(&body)
}

fn read(body: &[u8]) -> Result<SpamScore, SpamError> {
    let answer: RspamdReply = serde_json::from_slice(body).map_err(|_| SpamError::Garbled)?;
    Ok(SpamScore {
        score: answer.score,
        threshold: answer.required_score,
        report: report(&answer),
    })
}

/// The matching rules, in the columns of `SpamAssassin`, the heaviest first.
fn report(answer: &RspamdReply) -> String {
    let mut rules: Vec<_> = answer.symbols.iter().collect();
    rules.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
    let mut text = format!(
        "Content analysis details:   ({:.1} points, {:.1} required)\n\n pts rule name              description\n---- ---------------------- --------------------------------------------------\n",
        answer.score, answer.required_score
    );
    for (name, symbol) in rules {
        let description = symbol.description.as_deref().unwrap_or_default();
        let line = format!("{:4.1} {name:<22} {description}", symbol.score);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read() {
        let body = br#"{"is_skipped":false,"score":5.2,"required_score":15.0,"action":"no action",
            "symbols":{"R_PARTS_DIFFER":{"name":"R_PARTS_DIFFER","score":0.2},
            "FORGED_SENDER":{"name":"FORGED_SENDER","score":5.0,"description":"Sender is forged"}},
            "messages":{}}"#;
        let verdict = read(body).expect("a verdict");
        assert!((verdict.score, verdict.threshold) == (5.2, 15.0) && !verdict.is_spam());
        let rules: Vec<_> = verdict.report.lines().skip(4).collect();
        assert_eq!(
            rules,
            [
                " 5.0 FORGED_SENDER          Sender is forged",
                " 0.2 R_PARTS_DIFFER"
            ]
        );
    }

    #[test]
    fn trouble_is_no_verdict() {
        for body in ["", "[]", r#"{"error":"no message"}"#, r#"{"score":"high"}"#] {
            assert!(
                matches!(read(body.as_bytes()), Err(SpamError::Garbled)),
                "{body}"
            );
        }
    }
}
