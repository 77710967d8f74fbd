//! Checks a mail before it is posted: SPF, DKIM, spam.

use std::borrow::Cow;

use posthaste_identity::{Came, SpfCheck, check_received};
use posthaste_model::cut;
use posthaste_queue::{Inbound, Judged, Scored};

use crate::App;

/// The results that a POST contains; spam only if the setting enables it. Earlier results are
/// retained, so that every attempt posts the same.
pub(crate) async fn check(app: &App, job: &Inbound, spam_check: bool, raw: &[u8]) -> Judged {
    let mut judged = match &job.judged {
        Some(judged) => judged.clone(),
        None => checked(app, job, raw).await,
    };
    // The operator's filter is more precise than the verdict of SES, and is queried once.
    let is_new = judged.spam.is_none() && judged.unscored.is_none();
    if spam_check && (is_new || app.filter.is_some() && job.attempt == 0) {
        score(app, job, raw, &mut judged).await;
    }
    judged
}

async fn checked(app: &App, job: &Inbound, raw: &[u8]) -> Judged {
    let Some(resolver) = &app.resolver else {
        return Judged {
            spf: word(SpfCheck::None).to_owned(),
            ..Judged::default()
        };
    };
    let came = Came {
        ip: job.ip,
        hello: &job.hello,
        from: &job.from,
        host: app.hostname.as_str(),
    };
    let checked = check_received(resolver, came, raw).await;
    Judged {
        spf: word(checked.spf).to_owned(),
        dkim: checked.dkim,
        ..Judged::default()
    }
}

fn word(spf: SpfCheck) -> &'static str {
    match spf {
        SpfCheck::Pass => "pass",
        SpfCheck::Fail => "fail",
        SpfCheck::SoftFail => "softfail",
        SpfCheck::Neutral => "neutral",
        SpfCheck::None => "none",
        SpfCheck::TempError => "temperror",
        SpfCheck::PermError => "permerror",
    }
}

/// Bytes of a filter's report: it travels in the job, which must fit a queue and a row.
const LONGEST_REPORT: usize = 20_000;

/// Scores the mail. A filter that is missing or fails does not block the mail: an earlier score
/// counts, or else there is none, with the reason. A score of 0 would call the mail ham.
async fn score(app: &App, job: &Inbound, raw: &[u8], judged: &mut Judged) {
    let reason = match &app.filter {
        None => "no spam filter is configured".to_owned(),
        Some(filter) => match filter.score(&traced(job, raw)).await {
            Ok(found) => {
                judged.spam = Some(Scored {
                    score: found.score,
                    report: cut(&found.report, LONGEST_REPORT).to_owned(),
                });
                judged.unscored = None;
                return;
            }
            Err(error) => {
                tracing::warn!(error = %error, "a received mail was not checked for spam: {error}");
                error.to_string()
            }
        },
    };
    if judged.spam.is_none() && judged.unscored.is_none() {
        judged.unscored = Some(format!("not checked: {reason}"));
    }
}

/// The mail with the `Received` field of this host, from which a filter takes the client's address.
fn traced<'a>(job: &Inbound, raw: &'a [u8]) -> Cow<'a, [u8]> {
    match &job.trace {
        Some(trace) if raw.len() < posthaste_spam::LARGEST => {
            Cow::Owned([b"Received: ", trace.as_bytes(), b"\r\n", raw].concat())
        }
        _ => Cow::Borrowed(raw),
    }
}
