//! What the links of a mail answer with. A mail may be a stranger's: its links are opened only where the host's guard of
//! addresses permits, and within bounds of number, time and redirects.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use futures_util::{StreamExt as _, stream};
use linkify::{LinkFinder, LinkKind};
use lol_html::{HtmlRewriter, Settings, element};
use posthaste_mime::read::ParsedMail;
use posthaste_render::{EntityContext, decode_entities, html_memory};
use posthaste_webhook::{PostOutcome, UrlProblem, WebhookClient, check_link};
use serde::Serialize;
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::mail;

/// How long the check of a mail may take.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

/// Links of a mail that are opened.
const MOST_LINKS: usize = 100;

/// Links that are opened at a time.
const AT_A_TIME: usize = 8;

/// Redirects that are followed from one link.
const MOST_REDIRECTS: usize = 3;

/// Bytes of each body that are read.
const READ: usize = 1 << 20;

/// The longest link that is opened, and the longest redirect that is followed: a tracked link has its target in it, and
/// is longer than what a webhook may be.
const LONGEST_LINK: usize = 8 * 1024;

/// What a link answers with, by Mailpit's names.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct CheckedLink {
    #[serde(rename = "URL")]
    url: String,
    /// 451 for an address that is not permitted, 0 without an answer.
    status_code: u16,
    /// The code in words, or why there is no answer.
    status: String,
}

impl CheckedLink {
    /// Whether it leads nowhere.
    pub(crate) fn is_error(&self) -> bool {
        self.status_code == 0 || self.status_code >= 400
    }
}

/// The links, style sheets and pictures that the mail has on the web, each once, in their order.
pub(crate) fn urls(mail: &ParsedMail<'_>) -> Vec<String> {
    let found = Rc::new(RefCell::new(FoundUrls::default()));
    let tags = Rc::clone(&found);
    let html = mail::html(mail);
    let html = mail::head(&html, READ);
    let settings = Settings::new()
        .with_strict(false)
        .with_memory_settings(html_memory(html.len()))
        .append_element_content_handler(element!("a, area, img, link", move |element| {
            let name = match element.tag_name().as_str() {
                "img" => "src",
                _ => "href",
            };
            let is_other = element.tag_name() == "link"
                && !element
                    .get_attribute("rel")
                    .is_some_and(|rel| rel.eq_ignore_ascii_case("stylesheet"));
            if let Some(url) = element.get_attribute(name).filter(|_| !is_other) {
                let url = decode_entities(&url, EntityContext::Attribute);
                tags.borrow_mut().add(&url);
            }
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    if rewriter.write(html.as_bytes()).is_ok() {
        let _ = rewriter.end();
    }
    let mut finder = LinkFinder::new();
    finder.kinds(&[LinkKind::Url]);
    let plain = mail::plain(mail);
    for link in finder.links(mail::head(&plain, READ)) {
        if found.borrow().list.len() >= MOST_LINKS {
            break;
        }
        found.borrow_mut().add(link.as_str());
    }
    found.take().list
}

#[derive(Default)]
struct FoundUrls {
    list: Vec<String>,
    seen: HashSet<String>,
}

impl FoundUrls {
    fn add(&mut self, url: &str) {
        let url = url.trim();
        let is_web = ["http://", "https://"].iter().any(|scheme| {
            let head = url.get(..scheme.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
        });
        let has_room = self.list.len() < MOST_LINKS && url.len() <= LONGEST_LINK;
        if is_web && has_room && self.seen.insert(url.to_owned()) {
            self.list.push(url.to_owned());
        }
    }
}

/// Opens each link, several at a time; those that are not open after `longest` have no answer.
pub(crate) async fn check(
    client: &WebhookClient,
    urls: Vec<String>,
    follow: bool,
    longest: Duration,
) -> Vec<CheckedLink> {
    let end = Instant::now() + longest;
    let checks = stream::iter(urls).map(|url| async move {
        let answer = timeout_at(end, open(client, &url, follow)).await;
        let (status_code, status) = answer.unwrap_or_else(|_| {
            let why = "the check of all links took too long";
            (0, why.to_owned())
        });
        CheckedLink {
            url,
            status_code,
            status,
        }
    });
    checks.buffered(AT_A_TIME).collect().await
}

/// The code and its words.
async fn open(client: &WebhookClient, text: &str, follow: bool) -> (u16, String) {
    let mut url = match check_link(text, client.guard(), LONGEST_LINK) {
        Ok(url) => url,
        Err(problem) => return refused(&problem),
    };
    for _ in 0..=MOST_REDIRECTS {
        let head = match client.head(url.clone(), headers()).await {
            Ok(head) => head,
            Err(PostOutcome::Refused(refusal)) => return refused(&UrlProblem::Address(refusal)),
            Err(outcome) => return (0, outcome.to_string()),
        };
        let target = head
            .location
            .filter(|_| follow && head.status.is_redirection());
        let Some(target) = target else {
            let words = head.status.canonical_reason().unwrap_or_default();
            return (head.status.as_u16(), words.to_owned());
        };
        url = match next(&url, &target, client) {
            Ok(url) => url,
            Err(problem) => return refused(&problem),
        };
    }
    (0, "too many redirects".to_owned())
}

/// Where a redirect leads.
fn next(from: &Url, target: &str, client: &WebhookClient) -> Result<Url, UrlProblem> {
    let url = from.join(target).map_err(|_| UrlProblem::Unreadable)?;
    check_link(url.as_str(), client.guard(), LONGEST_LINK)
}

fn refused(problem: &UrlProblem) -> (u16, String) {
    let code = match problem {
        UrlProblem::Address(_) => StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS.as_u16(),
        _ => 0,
    };
    (code, format!("blocked: {problem}"))
}

fn headers() -> HeaderMap {
    let agent = concat!("posthaste/", env!("CARGO_PKG_VERSION"));
    HeaderMap::from_iter([(header::USER_AGENT, HeaderValue::from_static(agent))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_pictures_and_style_sheets_on_the_web_are_found_once() {
        let raw = b"Content-Type: multipart/alternative; boundary=b\r\n\r\n\
            --b\r\n\r\nSee https://a.example/text, and HTTP://a.example/x?a=1&b=2.\r\n\
            --b\r\nContent-Type: text/html\r\n\r\n\
            <link rel=Stylesheet href='https://a.example/s.css'><link rel=icon href='https://a.example/i'>\
            <a href='HTTP://a.example/x?a=1&amp;b=2'>x</a><a href='mailto:b@a.example'>m</a>\
            <a href='#top'>t</a><img src=\"https://a.example/p.png\"><img src='cid:x'>\
            <a href='javascript:alert(1)'>j</a>\r\n--b--";
        let want = [
            "https://a.example/s.css",
            "HTTP://a.example/x?a=1&b=2",
            "https://a.example/p.png",
            "https://a.example/text",
        ];
        assert_eq!(urls(&ParsedMail::read(raw)), want);
    }

    #[test]
    fn a_mail_of_many_links_is_opened_in_part() {
        let links: String = (0..500)
            .map(|n| format!("http://a.example/{n}\r\n"))
            .collect();
        let html: String = (0..500)
            .map(|n| format!("<a href='http://b.example/{n}'>"))
            .collect();
        for body in [
            format!("\r\n{links}"),
            format!("Content-Type: text/html\r\n\r\n{html}"),
        ] {
            assert_eq!(urls(&ParsedMail::read(body.as_bytes())).len(), MOST_LINKS);
        }
    }
}
