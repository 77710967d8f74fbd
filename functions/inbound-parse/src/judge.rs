//! Checks a mail before it is posted: SPF, DKIM, spam.

use posthaste_identity::{Came, SpfCheck, check_received};
use posthaste_model::cut;
use posthaste_queue::{Inbound, Judged, Scored};

use crate::App;

/// The verdicts that a POST contains; spam only if the setting enables it. Earlier verdicts are
/// retained, so that every attempt posts the same.
pub(crate) async fn judge(app: &App, job: &Inbound, spam_check: bool, raw: &[u8]) -> Judged {
    let mut judged = match &job.judged {
        Some(judged) => judged.clone(),
        None => checked(app, job, raw).await,
    };
    // The operator's filter is more precise than the verdict of SES, and is queried once.
    let asks = app.filter.is_some() && job.attempt == 0;
    if spam_check && (asks || judged.spam.is_none()) {
        judged.spam = Some(score(app, raw, judged.spam).await);
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
        spam: None,
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

/// A failing filter does not block the mail: an earlier score counts, or else the score is 0, with
/// the reason.
async fn score(app: &App, raw: &[u8], before: Option<Scored>) -> Scored {
    let unchecked = |why: &dyn std::fmt::Display| {
        before.clone().unwrap_or_else(|| Scored {
            score: 0.0,
            report: format!("not checked: {why}"),
        })
    };
    let Some(filter) = &app.filter else {
        return unchecked(&"no spam filter is configured");
    };
    match filter.score(raw).await {
        Ok(verdict) => Scored {
            score: verdict.score,
            report: cut(&verdict.report, LONGEST_REPORT).to_owned(),
        },
        Err(error) => {
            tracing::warn!(error = %error, "a received mail was not checked for spam: {error}");
            unchecked(&error)
        }
    }
}
