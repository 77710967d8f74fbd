//! Mail that may not leave: of keys marked as test, and on the local host to addresses with a fixed outcome.
//!
//! It goes the way of all mail to the last step. There it is recorded instead of handed to the relay, ends as its
//! address says, and what its recipient would do with it is reported as if it had been done.

use posthaste_mailer::{Attempt, Cause, Envelope, RefusalStage};
use posthaste_model::{
    EmailAddress, EnforcedTls, Event, EventKind, FixedOutcome, RecipientCopy, UrlOffset,
};
use posthaste_queue::Job;
use posthaste_render::{
    CLICK_PATH, EntityContext, LinkAction, LinkPart, Rendered, TOKEN_PARAMETER, UNSUBSCRIBE_PATH,
    decode_entities,
};

use crate::App;
use crate::app::TestRelay;
use crate::context::JobContext;
use crate::outcome::EventContext;

/// How events of a recipient with a fixed outcome name its mail program.
const AGENT: &str = "Mozilla/5.0 (an address of tests)";

/// Where it is.
const IP: &str = "127.0.0.1";

impl App {
    /// Whether a copy may not leave.
    pub(crate) fn is_test_mail(&self, job: &Job, email: &EmailAddress) -> bool {
        let is_fixed = || FixedOutcome::of(&email.wire()).is_some();
        job.is_test || self.test_relay.is_some() && is_fixed()
    }

    /// Offers a copy to the relay, or records it if it may not leave.
    pub(crate) async fn offer(&self, job: &Job, envelope: &Envelope, mail: &[u8]) -> Attempt {
        if !self.is_test_mail(job, &envelope.to) {
            return self.mailer.hand_over(envelope, mail).await;
        }
        match &self.test_relay {
            Some(TestRelay(relay)) => {
                // It is in this process: nothing leaves by a connection.
                let envelope = Envelope {
                    enforced_tls: EnforcedTls::default(),
                    ..envelope.clone()
                };
                relay.hand_over(&envelope, mail).await
            }
            None => recorded(&envelope.to),
        }
    }
}

/// The answer of a relay that only records.
fn recorded(to: &EmailAddress) -> Attempt {
    let Some((code, status, text)) = FixedOutcome::of(&to.wire()).and_then(FixedOutcome::refusal)
    else {
        return Attempt::Accepted {
            code: 250,
            response: "250 2.0.0 recorded, not sent: the key is a test key".to_owned(),
            ip: None,
            tls: false,
        };
    };
    let response = format!("{code} {status} {text}");
    let status = status.parse().ok();
    if code >= 500 {
        Attempt::Bounced {
            code,
            response,
            status,
            stage: RefusalStage::Rcpt,
            ip: None,
            tls: false,
        }
    } else {
        Attempt::Deferred {
            response,
            status,
            cause: Cause::Recipient,
            ip: None,
        }
    }
}

/// What a recipient with a fixed outcome does with a mail that it gets.
#[derive(Debug, Default)]
pub(crate) struct Reaction {
    /// A spam report or an unsubscribe, which the row of the copy lists.
    pub(crate) reports: Vec<Event>,
    /// An open and a click, which it does not list.
    pub(crate) visits: Vec<Event>,
}

impl Reaction {
    /// The reaction to a copy; none where the recipient has no outcome, or mail leaves.
    pub(crate) async fn to(
        app: &App,
        context: JobContext<'_>,
        copy: RecipientCopy<'_>,
        (about, rendered): (&EventContext<'_>, &Rendered),
    ) -> Self {
        let to = &copy.mailbox.email;
        let outcome = FixedOutcome::of(&to.wire());
        let outcome = outcome.filter(|_| app.is_test_mail(about.job, to));
        // What its links begin with, if it has any.
        let base = || context.links.base(context.mail, copy).map(|base| base.url);
        let visit = |kind| Event {
            useragent: Some(AGENT.to_owned()),
            ip: Some(IP.to_owned()),
            smtp_id: None,
            ..about.event(kind)
        };
        match outcome {
            Some(FixedOutcome::Complained) => Self {
                reports: vec![about.event(EventKind::SpamReport)],
                visits: Vec::new(),
            },
            Some(FixedOutcome::Unsubscribed) => Self {
                // As a link of the mail would: from its group, or from everything.
                reports: vec![match about.mail.asm {
                    None => visit(EventKind::Unsubscribe),
                    Some(_) => Event {
                        url: base().map(|base| format!("{base}{UNSUBSCRIBE_PATH}")),
                        ..visit(EventKind::GroupUnsubscribe)
                    },
                }],
                visits: Vec::new(),
            },
            Some(outcome @ (FixedOutcome::Opened | FixedOutcome::Clicked)) => {
                let open = Event {
                    sg_machine_open: Some(false),
                    sg_content_type: Some("html".to_owned()),
                    ..visit(EventKind::Open)
                };
                let mut visits = vec![open];
                if outcome == FixedOutcome::Clicked {
                    let size = rendered.parts.iter().map(|part| part.value.len()).sum();
                    let base = base();
                    let find = || first_link(app, base.as_deref(), rendered);
                    let link = posthaste_offload::run(size, find).await;
                    // A mail without a link cannot be followed anywhere.
                    visits.extend(link.map(|(url, offset)| Event {
                        url: Some(url),
                        url_offset: Some(offset),
                        ..visit(EventKind::Click)
                    }));
                }
                Self {
                    reports: Vec::new(),
                    visits,
                }
            }
            Some(
                FixedOutcome::Delivered
                | FixedOutcome::Bounced
                | FixedOutcome::Blocked
                | FixedOutcome::Deferred,
            )
            | None => Self::default(),
        }
    }

    /// Adds the visits to the events of a copy that was delivered, now or by an earlier run.
    pub(crate) fn visit(self, mut events: Vec<Event>) -> Vec<Event> {
        if events
            .iter()
            .any(|event| event.kind == EventKind::Delivered)
        {
            events.extend(self.visits);
        }
        events
    }
}

/// The first web link of the HTML, else of the text: where it leads, if its clicks are tracked.
fn first_link(app: &App, base: Option<&str>, rendered: &Rendered) -> Option<(String, UrlOffset)> {
    let of_type = |name: &'static str| {
        let part = rendered
            .parts
            .iter()
            .find(move |part| part.mime_type == name)?;
        Some((part.value.as_str(), name))
    };
    let mut bodies = [of_type("text/html"), of_type("text/plain")]
        .into_iter()
        .flatten();
    bodies.find_map(|(text, name)| {
        let is_html = name == "text/html";
        let url = if is_html {
            first_href(text)?
        } else {
            first_url(text)?
        };
        let token = base
            .and_then(|base| url.strip_prefix(base)?.strip_prefix(CLICK_PATH))
            .and_then(|query| query.split_once(TOKEN_PARAMETER)?.1.strip_prefix('='))
            .and_then(|token| app.keys.verify(token).ok());
        let part = if is_html { "html" } else { "text" };
        let offset = |index| UrlOffset {
            index,
            part: part.to_owned(),
        };
        Some(match token.map(|token| token.action) {
            Some(LinkAction::Click {
                url,
                index,
                part: LinkPart::Html | LinkPart::Text,
            }) => (url, offset(index)),
            Some(_) | None => (url, offset(0)),
        })
    })
}

/// The URL of the first `href` with one.
fn first_href(html: &str) -> Option<String> {
    let mut rest = html;
    while let Some(at) = rest.find("href=") {
        let (_, after) = rest.split_at(at + "href=".len());
        rest = after;
        let (quote, value) = match after.chars().next()? {
            quote @ ('"' | '\'') => (Some(quote), after.get(1..)?),
            _ => (None, after),
        };
        let end = value.find(|c: char| match quote {
            Some(quote) => c == quote,
            None => c.is_whitespace() || c == '>',
        });
        let value = value.get(..end.unwrap_or(value.len()))?;
        if value.starts_with("http://") || value.starts_with("https://") {
            return Some(decode_entities(value, EntityContext::Attribute).into_owned());
        }
    }
    None
}

/// The first URL of a text.
fn first_url(text: &str) -> Option<String> {
    let at = ["http://", "https://"]
        .iter()
        .filter_map(|scheme| text.find(scheme))
        .min()?;
    let url = text.get(at..)?;
    let end = url.find(|c: char| c.is_whitespace() || "<>\"".contains(c));
    Some(url.get(..end.unwrap_or(url.len()))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_link_of_a_mail_is_found_in_both_bodies() {
        for (html, want) in [
            (
                "<a href=\"https://x.co/?a=1&amp;b\">",
                Some("https://x.co/?a=1&b"),
            ),
            (
                "<a href='mailto:a@x.co'><a href='http://x.co'>",
                Some("http://x.co"),
            ),
            ("<a href=https://x.co>x</a>", Some("https://x.co")),
            ("<a href=", None),
            ("<a href=\"https://x.co", Some("https://x.co")),
            ("https://x.co", None),
        ] {
            assert_eq!(first_href(html).as_deref(), want, "{html}");
        }
        assert_eq!(
            first_url("see <https://x.co/a> or http://y.co").as_deref(),
            Some("https://x.co/a")
        );
        assert_eq!(first_url("none"), None);
    }

    #[test]
    fn a_recorded_copy_ends_as_its_address_says() {
        let end = |to: &str| recorded(&EmailAddress::parse(to).unwrap());
        assert!(matches!(
            end("ann@example.com"),
            Attempt::Accepted { code: 250, .. }
        ));
        assert!(matches!(
            end("opened@outcome.test"),
            Attempt::Accepted { code: 250, .. }
        ));
        let bounced = end("bounced@outcome.test");
        assert!(
            matches!(
                bounced,
                Attempt::Bounced {
                    code: 550,
                    status: Some(_),
                    ..
                }
            ),
            "{bounced:?}"
        );
        let deferred = end("deferred@outcome.test");
        assert!(
            matches!(
                deferred,
                Attempt::Deferred {
                    status: Some(_),
                    ..
                }
            ),
            "{deferred:?}"
        );
    }
}
