//! utm parameters and click tracking: rewrites the links.

use posthaste_model::Ganalytics;
use url::Url;

use crate::budget::{Budget, RenderError};
use crate::entity::{self, EntityContext};
use crate::html::{self, Edit};
use crate::link::Maker;
use crate::token::LinkPart;

/// Links tracked in one mail (API facts 7).
const MOST: usize = 1_000;

/// A longer target yields a link that API Gateway refuses (10,240 bytes of request line and
/// headers).
const LONGEST_TARGET: usize = 4_096;

/// Rewrites the links of one copy, part after part.
pub(crate) struct LinkRewriter<'a> {
    maker: Option<Maker<'a>>,
    click: bool,
    utm: Vec<(&'static str, &'a str)>,
    left: usize,
}

/// Counts the links of one part.
pub(crate) struct Count {
    part: LinkPart,
    index: u32,
}

impl Count {
    pub(crate) fn of(part: LinkPart) -> Self {
        Self { part, index: 0 }
    }
}

impl<'a> LinkRewriter<'a> {
    /// `maker` signs the links when clicks are tracked.
    pub(crate) fn new(maker: Option<Maker<'a>>, click: bool, ganalytics: &'a Ganalytics) -> Self {
        let utm = [
            ("utm_source", &ganalytics.utm_source),
            ("utm_medium", &ganalytics.utm_medium),
            ("utm_term", &ganalytics.utm_term),
            ("utm_content", &ganalytics.utm_content),
            ("utm_campaign", &ganalytics.utm_campaign),
        ];
        let filled = |(key, value): (&'static str, &'a Option<String>)| {
            value
                .as_deref()
                .filter(|v| !v.is_empty())
                .map(|value| (key, value))
        };
        Self {
            maker,
            click: click && maker.is_some(),
            utm: if ganalytics.enable {
                utm.into_iter().filter_map(filled).collect()
            } else {
                Vec::new()
            },
            left: MOST,
        }
    }

    /// Whether no link would change.
    pub(crate) fn is_idle(&self) -> bool {
        !self.click && self.utm.is_empty()
    }

    /// Whether clicks are tracked.
    pub(crate) fn tracks(&self) -> bool {
        self.click
    }

    /// The edits that rewrite the anchors of an HTML text.
    pub(crate) fn anchors(
        &mut self,
        html: &str,
        anchors: &[html::Anchor],
        count: &mut Count,
        budget: &mut Budget,
    ) -> Result<Vec<Edit>, RenderError> {
        if self.is_idle() {
            return Ok(Vec::new());
        }
        let mut edits = Vec::new();
        for anchor in anchors {
            let raw = html.get(anchor.range.clone()).unwrap_or_default();
            let target = entity::decode(raw, EntityContext::Attribute);
            if let Some(new) = self.link(&target, count) {
                let new = entity::encode_attribute(new, anchor.quote);
                budget.grow(new.len())?;
                edits.push((anchor.range.clone(), new));
            }
        }
        Ok(edits)
    }

    /// A plain text with its http and https URLs rewritten.
    pub(crate) fn text(&mut self, text: &str, budget: &mut Budget) -> Result<String, RenderError> {
        let mut finder = linkify::LinkFinder::new();
        finder.kinds(&[linkify::LinkKind::Url]);
        let mut count = Count::of(LinkPart::Text);
        let mut edits = Vec::new();
        for link in finder.links(text) {
            if let Some(new) = self.link(link.as_str(), &mut count) {
                budget.grow(new.len())?;
                edits.push((link.start()..link.end(), new));
            }
        }
        Ok(html::splice(text, &edits))
    }

    /// The replacement of a link; `None` leaves it unchanged.
    fn link(&mut self, target: &str, count: &mut Count) -> Option<String> {
        let (target, part) = (target.trim_end(), count.part);
        if !self.is_target(target, part) {
            return None;
        }
        let index = count.index;
        count.index += 1;
        let tagged = match self.tagged(target) {
            Tagged::As(target) => Some(target),
            Tagged::AsItWas => None,
            Tagged::TooLong => return None,
        };
        let fits = |maker: &Maker<'_>| part != LinkPart::Amp || maker.is_https();
        let maker = self.maker.filter(|_| self.click && self.left > 0);
        match maker.filter(fits) {
            Some(maker) => {
                self.left -= 1;
                let target = tagged.unwrap_or_else(|| target.to_owned());
                Some(maker.click(part, index, target))
            }
            None => tagged,
        }
    }

    /// Whether a link leads to an external web page.
    fn is_target(&self, target: &str, part: LinkPart) -> bool {
        let starts = |scheme: &str| {
            target
                .get(..scheme.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        (starts("http://") || starts("https://"))
            && target.len() <= LONGEST_TARGET
            && !target.contains(char::is_control)
            // In AMP the mail program fills these in when the mail is read.
            && !(part == LinkPart::Amp && target.contains("{{"))
            && Url::parse(target).is_ok()
            && !self.maker.is_some_and(|maker| maker.is_ours(target))
    }

    /// The URL with the missing utm parameters, otherwise unchanged.
    fn tagged(&self, target: &str) -> Tagged {
        let (page, fragment) = match target.split_once('#') {
            Some((page, fragment)) => (page, Some(fragment)),
            None => (target, None),
        };
        let (_, query) = page.split_once('?').unwrap_or((page, ""));
        let has = |key: &str| {
            query
                .split('&')
                .any(|pair| pair.split('=').next() == Some(key))
        };
        let lacks: Vec<_> = self.utm.iter().filter(|(key, _)| !has(key)).collect();
        if lacks.is_empty() {
            return Tagged::AsItWas;
        }
        // Encoding shortens nothing, so a URL far above the limit is not encoded.
        let least = |(key, value): &&(&str, &str)| key.len() + value.len();
        if target.len() + lacks.iter().map(least).sum::<usize>() > LONGEST_TARGET {
            return Tagged::TooLong;
        }
        let mut added = url::form_urlencoded::Serializer::new(String::new());
        added.extend_pairs(lacks);
        let added = added.finish();
        let between = match page.split_once('?') {
            None => "?",
            Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
            Some(_) => "&",
        };
        let fragment = fragment
            .map(|fragment| format!("#{fragment}"))
            .unwrap_or_default();
        let tagged = format!("{page}{between}{added}{fragment}");
        if tagged.len() <= LONGEST_TARGET {
            Tagged::As(tagged)
        } else {
            Tagged::TooLong
        }
    }
}

/// The result of adding utm parameters to a URL.
enum Tagged {
    As(String),
    /// None is missing.
    AsItWas,
    /// It would exceed the longest target. Then it is left unchanged, like one that was too long
    /// before.
    TooLong,
}
