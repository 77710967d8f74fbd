//! The links of a mail: those of the step that it asks for first.

use std::collections::HashMap;

use linkify::{LinkFinder, LinkKind};
use posthaste_mime::read::ParsedMail;
use serde::Serialize;

use super::anchors::{self, tail};
use super::lexicon::{self, WordHit};
use super::link_words::{LABEL_WORDS, LinkWord, URL_WORDS};
use crate::mail;

/// Bytes of each body that are read.
const READ: usize = 1 << 20;
/// Links of a mail.
const MOST_LINKS: usize = 500;
/// Letters of a label.
const LABEL: usize = 200;
/// The longest URL.
const LONGEST_URL: usize = 8 * 1024;
/// What a link of the step that a mail asks for is worth.
const ENOUGH: i32 = 40;

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MailLinkKind {
    /// The step that the mail asks for: to sign in, confirm an address, set a password.
    Action,
    Other,
    /// To leave a list, or choose what is mailed.
    Unsubscribe,
}

/// A link, with Mailpit's way of naming fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct MailLink {
    /// `http:` or `https:`.
    #[serde(rename = "URL")]
    pub url: String,
    /// Its words, or the alternative text of its picture; empty where the mail shows the URL itself.
    pub text: String,
    pub kind: MailLinkKind,
}

/// The links of a mail: of each kind, the likeliest first.
pub(crate) fn links(mail: &ParsedMail<'_>) -> Vec<MailLink> {
    let mut found = LinkFindings::default();
    found.html(mail::head(&mail::html(mail), READ));
    found.text(mail::head(&mail::plain(mail), READ));
    found.done()
}

/// A link before it is judged.
struct JudgedLink {
    url: String,
    label: String,
    /// What is known of it, over all places where the mail has it.
    worth: i32,
    kind: MailLinkKind,
}

#[derive(Default)]
struct LinkFindings {
    links: Vec<JudgedLink>,
    /// The place of each URL.
    places: HashMap<String, usize>,
}

impl LinkFindings {
    /// Adds a link with its words and with the text before it.
    fn add(&mut self, url: &str, label: &str, before: &str) {
        let url = url.trim();
        let scheme = url.get(..8).unwrap_or_default().to_ascii_lowercase();
        let is_web = scheme.starts_with("http://") || scheme == "https://";
        if !is_web || url.len() > LONGEST_URL || self.links.len() >= MOST_LINKS {
            return;
        }
        let label = mail::collapse(label, LABEL);
        let label = if label.contains("://") {
            ""
        } else {
            label.as_str()
        };
        let (worth, kind) = judge(url, label, before);
        let at = *self
            .places
            .entry(url.to_owned())
            .or_insert(self.links.len());
        match self.links.get_mut(at) {
            None => self.links.push(JudgedLink {
                url: url.to_owned(),
                label: label.to_owned(),
                worth,
                kind,
            }),
            Some(seen) => {
                if seen.label.is_empty() {
                    label.clone_into(&mut seen.label);
                }
                if worth > seen.worth {
                    (seen.worth, seen.kind) = (worth, kind);
                }
            }
        }
    }

    fn html(&mut self, html: &str) {
        for anchor in anchors::anchors(html, MOST_LINKS) {
            self.add(&anchor.url, &anchor.label, &anchor.before);
        }
    }

    fn text(&mut self, text: &str) {
        let mut finder = LinkFinder::new();
        finder.kinds(&[LinkKind::Url]);
        let mut notes = HashMap::new();
        let mut before = String::new();
        for span in finder.spans(text) {
            if span.kind().is_none() {
                let words = span.as_str();
                note(words, &mut notes);
                before = tail(words).to_owned();
                continue;
            }
            // A sentence that goes on without a space is no part of it.
            let end = span.as_str().find(|c: char| !c.is_ascii());
            let url = span.as_str().get(..end.unwrap_or(span.as_str().len()));
            let number = before.rsplit('\n').next().and_then(reference);
            let noted = number.and_then(|number| notes.get(number).cloned());
            self.add(
                url.unwrap_or_default(),
                "",
                noted.as_deref().unwrap_or(&before),
            );
        }
    }

    fn done(mut self) -> Vec<MailLink> {
        self.links.sort_by_key(|link| {
            (
                link.kind,
                -link.worth.max(0) * i32::from(link.kind == MailLinkKind::Action),
            )
        });
        let links = self.links.into_iter();
        links
            .map(|link| MailLink {
                url: link.url,
                text: link.label,
                kind: link.kind,
            })
            .collect()
    }
}

/// What a link is worth as the step that the mail asks for, and what it is for.
fn judge(url: &str, label: &str, before: &str) -> (i32, MailLinkKind) {
    let of_label = LABEL_WORDS.hits(&lexicon::lower(label));
    let of_url = URL_WORDS.hits(&lexicon::lower(url));
    let has = |hits: &[WordHit<LinkWord>], means| hits.iter().any(|hit| hit.means == means);
    if has(&of_label, LinkWord::Unsubscribe) || has(&of_url, LinkWord::Unsubscribe) {
        return (-100, MailLinkKind::Unsubscribe);
    }
    let mut worth = 0;
    if has(&of_label, LinkWord::Other) || has(&of_url, LinkWord::Other) {
        return (-100, MailLinkKind::Other);
    }
    if has(&of_label, LinkWord::Action) {
        worth += 50;
    } else {
        let of_text = LABEL_WORDS.hits(&lexicon::lower(before));
        match of_text.last().map(|hit| hit.means) {
            Some(LinkWord::Action) => worth += 30,
            Some(LinkWord::Unsubscribe) if label.is_empty() => {
                return (-100, MailLinkKind::Unsubscribe);
            }
            Some(LinkWord::Other) if label.is_empty() => return (-100, MailLinkKind::Other),
            Some(LinkWord::Unsubscribe | LinkWord::Other) | None => {}
        }
    }
    if has(&of_url, LinkWord::Action) {
        worth += 30;
    }
    if has_token(url) {
        worth += 10;
    }
    let kind = if worth >= ENOUGH {
        MailLinkKind::Action
    } else {
        MailLinkKind::Other
    };
    (worth, kind)
}

/// Whether a part of the URL is long or mixed enough to be a secret.
fn has_token(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    path.split(['/', '?', '&', '=', '#', '.']).any(|part| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
        let has_lower = part.bytes().any(|b| b.is_ascii_lowercase());
        // Not that of a name at its beginning.
        let has_upper = part.bytes().skip(1).any(|b| b.is_ascii_uppercase());
        digits + letters >= 6 && (digits > 0 && letters > 0 || has_lower && has_upper)
    })
}

/// Remembers the words before each `[1]` of a text, by its number.
fn note<'a>(text: &'a str, notes: &mut HashMap<&'a str, String>) {
    for (at, _) in text.match_indices('[').take(MOST_LINKS) {
        let (before, rest) = text.split_at(at);
        let line = before.rsplit('\n').next().unwrap_or_default();
        if let Some(number) = reference(rest)
            && !line.trim().is_empty()
        {
            notes.entry(number).or_insert_with(|| tail(line).to_owned());
        }
    }
}

/// The number at the beginning of `[1] …`.
fn reference(text: &str) -> Option<&str> {
    let (number, _) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    let is_number = (1..=3).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &str, body: &str) -> Vec<(String, &'static str)> {
        let raw = format!("Content-Type: text/{kind}; charset=utf-8\r\n\r\n{body}");
        let links = links(&ParsedMail::read(raw.as_bytes()));
        let name = |kind| match kind {
            MailLinkKind::Action => "action",
            MailLinkKind::Other => "other",
            MailLinkKind::Unsubscribe => "unsubscribe",
        };
        links
            .into_iter()
            .map(|link| (link.url, name(link.kind)))
            .collect()
    }

    #[test]
    fn the_step_that_a_mail_asks_for_comes_first() {
        let body = "<a href='https://x.co/'>Shop</a> Hello <a href='https://x.co/u?a=1&amp;b=2'>Unsubscribe</a>\
            <a href='mailto:a@x.co'>Confirm</a> <a href='https://x.co/v?a=1&amp;b=2'><b>Confirm</b> address</a>";
        let want = [
            ("https://x.co/v?a=1&b=2", "action"),
            ("https://x.co/", "other"),
            ("https://x.co/u?a=1&b=2", "unsubscribe"),
        ];
        assert_eq!(
            read("html", body),
            want.map(|(url, kind)| (url.to_owned(), kind))
        );
    }

    #[test]
    fn links_of_text_are_judged_by_the_words_before_them() {
        for (body, kind) in [
            (
                "Reset your password:\r\n\r\n<https://x.co/r/a1B2c3D4>",
                "action",
            ),
            (
                "Log in now [1]\r\n\r\nBye\r\n\r\n[1] https://x.co/r/a1B2c3D4\r\n",
                "action",
            ),
            ("Sign in? Help: https://x.co/r/a1B2c3D4", "other"),
            ("Unsubscribe: https://x.co/r/a1B2c3D4", "unsubscribe"),
            ("https://x.co/r/a1B2c3D4", "other"),
            (
                "次のURLを開いてログインしてください。https://x.co/r/a1B2c3D4。",
                "action",
            ),
        ] {
            let want = ("https://x.co/r/a1B2c3D4".to_owned(), kind);
            assert_eq!(read("plain", body), [want], "{body}");
        }
    }

    #[test]
    fn links_of_a_large_mail_are_few() {
        let body: String = (0..50_000)
            .map(|n| format!("<a href=https://x.co/{n}>Confirm"))
            .collect();
        assert_eq!(read("html", &body).len(), MOST_LINKS);
        assert!(read("plain", &"[1] ".repeat(100_000)).is_empty());
    }
}
