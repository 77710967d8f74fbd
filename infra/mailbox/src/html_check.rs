//! How mail clients show the HTML of a mail: what it uses of HTML and CSS, and which clients support that, by a table of
//! facts. What a rule of a style sheet applies to is not looked at: a use counts where it is written.

mod css;
mod features;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use lol_html::html_content::Element;
use lol_html::{HtmlRewriter, Settings, element, text};
use posthaste_render::{EntityContext, decode_entities, html_memory};
use serde::Serialize;

use self::css::CssUse;
use self::features::{CLIENTS, FEATURES, Feature};
use crate::mail;

/// Bytes of HTML that are examined.
const READ: usize = 2 << 20;

/// The answer, by Mailpit's names.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct HtmlReport {
    /// The families of clients on each platform.
    platforms: BTreeMap<&'static str, Vec<&'static str>>,
    total: Total,
    /// The weightiest first.
    warnings: Vec<HtmlWarning>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Total {
    nodes: usize,
    partial: f64,
    supported: f64,
    tests: usize,
    unsupported: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct HtmlWarning {
    category: &'static str,
    description: String,
    keywords: String,
    notes_by_number: BTreeMap<String, String>,
    results: Vec<ClientSupport>,
    score: Score,
    slug: &'static str,
    tags: [String; 0],
    title: String,
    #[serde(rename = "URL")]
    url: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct ClientSupport {
    family: &'static str,
    name: String,
    note_number: &'static str,
    platform: &'static str,
    support: &'static str,
    version: &'static str,
}

/// Percentages of clients, and how often the mail uses the feature.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Score {
    found: usize,
    partial: f64,
    supported: f64,
    unsupported: f64,
}

/// Examines HTML.
pub(crate) fn check(html: &str) -> HtmlReport {
    let found = HtmlUses::of(mail::head(html, READ));
    let mut warnings: Vec<_> = FEATURES
        .iter()
        .filter_map(|feature| {
            let keys = feature.keys().into_iter();
            let times: usize = keys.map(|key| found.times(&key)).sum();
            (times > 0).then(|| warning(feature, times))
        })
        .collect();
    // Counts are far below the 2^52 up to which they are exact.
    #[expect(clippy::cast_precision_loss, reason = "a count of elements is small")]
    let part = |times: usize| times.min(found.nodes) as f64 / found.nodes.max(1) as f64;
    let weight = |percent: f64, score: &Score| percent * part(score.found);
    let most = |percent: fn(&Score) -> f64| {
        let weights = warnings
            .iter()
            .map(|one| weight(percent(&one.score), &one.score));
        weights.fold(0.0, f64::max)
    };
    let (partial, unsupported) = (most(|score| score.partial), most(|score| score.unsupported));
    let total = Total {
        nodes: found.nodes,
        partial,
        supported: (100.0 - partial - unsupported).max(0.0),
        tests: FEATURES.len(),
        unsupported,
    };
    warnings.sort_by(|a, b| {
        let of = |one: &HtmlWarning| weight(one.score.partial + one.score.unsupported, &one.score);
        of(b).total_cmp(&of(a))
    });
    HtmlReport {
        platforms: platforms(),
        total,
        warnings,
    }
}

fn platforms() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut platforms: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for [_, family, platform, _] in CLIENTS {
        platforms.entry(platform).or_default().push(family);
    }
    for families in platforms.values_mut() {
        families.sort_unstable();
        families.dedup();
    }
    platforms
}

fn warning(feature: &Feature, found: usize) -> HtmlWarning {
    let [full, partly, not] = feature.counts();
    let known = full + partly + not;
    #[expect(clippy::cast_precision_loss, reason = "there are a few clients")]
    let percent = |count: usize| count as f64 * 100.0 / known.max(1) as f64;
    let title = feature.title();
    let results = CLIENTS.iter().zip(feature.support.chars());
    let results = results.filter_map(|([family, family_name, platform, platform_name], letter)| {
        Some(ClientSupport {
            family,
            name: format!("{family_name} {platform_name}"),
            note_number: "",
            platform,
            support: match letter {
                'y' => "yes",
                'p' => "partial",
                'n' => "no",
                _ => return None,
            },
            version: "latest",
        })
    });
    HtmlWarning {
        category: match feature.kind {
            "element" | "attribute" | "image" => "html",
            _ => "css",
        },
        description: format!(
            "{full} of {known} mail clients support {title}, {partly} more in part."
        ),
        keywords: feature.names.join(", "),
        notes_by_number: BTreeMap::new(),
        results: results.collect(),
        score: Score {
            found,
            partial: percent(partly),
            supported: percent(full),
            unsupported: percent(not),
        },
        slug: feature.slug,
        tags: [],
        title,
        url: format!("https://www.caniemail.com/features/{}/", feature.slug),
    }
}

/// What HTML uses of the table.
struct HtmlUses {
    /// Elements.
    nodes: usize,
    /// How often each key of a feature is used: no others, whatever the mail has.
    times: HashMap<String, usize>,
}

impl HtmlUses {
    fn of(html: &str) -> Self {
        let keys = FEATURES.iter().flat_map(Feature::keys);
        let uses = Rc::new(RefCell::new(Self {
            nodes: 0,
            times: keys.map(|key| (key, 0)).collect(),
        }));
        let (tags, styles) = (Rc::clone(&uses), Rc::clone(&uses));
        let sheet = RefCell::new(String::new());
        let settings = Settings::new()
            .with_strict(false)
            .with_memory_settings(html_memory(html.len()))
            .append_element_content_handler(element!("*", move |element| {
                tags.borrow_mut().element(element);
                Ok(())
            }))
            .append_element_content_handler(text!("style", move |chunk| {
                let mut sheet = sheet.borrow_mut();
                sheet.push_str(chunk.as_str());
                if chunk.last_in_text_node() {
                    styles.borrow_mut().css(&std::mem::take(&mut *sheet));
                }
                Ok(())
            }));
        let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
        if rewriter.write(html.as_bytes()).is_ok() {
            let _ = rewriter.end();
        }
        uses.replace(Self {
            nodes: 0,
            times: HashMap::new(),
        })
    }

    fn times(&self, key: &str) -> usize {
        self.times.get(key).copied().unwrap_or_default()
    }

    fn count(&mut self, key: &str) {
        if let Some(times) = self.times.get_mut(key) {
            *times += 1;
        }
    }

    fn element(&mut self, element: &Element<'_, '_>) {
        let tag = element.tag_name();
        if !matches!(tag.as_str(), "html" | "head" | "meta" | "title") {
            self.nodes += 1;
        }
        self.count(&format!("element {tag}"));
        for attribute in element.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            self.count(&format!("attribute {name}"));
            match name.as_str() {
                "style" => self.css(&decode_entities(&value, EntityContext::Attribute)),
                "src" if tag == "img" => self.picture(&value),
                _ => {}
            }
        }
    }

    fn picture(&mut self, url: &str) {
        let url = url.trim().to_ascii_lowercase();
        if url.starts_with("data:image/") {
            self.count("image data:");
            return;
        }
        let path = url.split(['?', '#']).next().unwrap_or_default();
        if let Some((_, end)) = path.rsplit_once('.').filter(|(_, end)| end.len() <= 5) {
            self.count(&format!("image {end}"));
        }
    }

    fn css(&mut self, css: &str) {
        /// Bytes of a name or a value that the table may hold. A longer name would be copied for each of its values.
        const LONGEST: usize = 64;
        css::read(css, |one| match one {
            CssUse::Property(name) => self.count(&format!("property {name}")),
            CssUse::Value(name, value) if name.len() > LONGEST || value.len() > LONGEST => {}
            CssUse::Value(name, value) => self.count(&format!("value {name} {value}")),
            CssUse::Function(name) => self.count(&format!("function {name}")),
            CssUse::Unit(name) => self.count(&format!("unit {name}")),
            CssUse::Important => self.count("important"),
            CssUse::At(name) => self.count(&format!("at {name}")),
            CssUse::Media(name) => self.count(&format!("media {name}")),
            CssUse::Pseudo(name) => self.count(&format!("pseudo {name}")),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(html: &str) -> BTreeMap<&'static str, usize> {
        let warnings = check(html).warnings.into_iter();
        warnings.map(|one| (one.slug, one.score.found)).collect()
    }

    #[test]
    fn a_long_name_of_a_property_is_not_copied_for_each_word_of_its_value() {
        // Copied for each, it would be 400 GB.
        let name = "a".repeat(1 << 20);
        let words = "b ".repeat(400_000);
        let got = found(&format!("<p style=\"{name}:{words};display:flex\">x</p>"));
        assert_eq!(got.get("css-display-flex"), Some(&1));
    }

    #[test]
    fn what_clients_do_not_support_is_found_wherever_it_is_written() {
        let html = "<html><head><style>p{box-shadow:0 0 1px} @media (hover){a:hover{top:0}}</style></head>\
            <body><p style=\"BOX-SHADOW:0 0 2px;display:flex\"><video src=x></video>\
            <img src='https://a.example/p.WEBP?x=1' srcset='y'><img src='data:image/png;base64,AA'></body></html>";
        let got = found(html);
        for (slug, times) in [
            ("css-box-shadow", 2),
            ("css-display-flex", 1),
            ("css-at-media-hover", 1),
            ("css-at-media", 1),
            ("css-pseudo-class-hover", 1),
            ("html-video", 1),
            ("html-srcset", 1),
            ("html-style", 1),
            ("image-webp", 1),
            ("image-base64", 1),
        ] {
            assert_eq!(got.get(slug), Some(&times), "{slug}: {got:?}");
        }
        assert_eq!(got.get("css-display-grid"), None);
        assert_eq!(found("<p>Hello <b>Ann</b></p>"), BTreeMap::new());
    }

    #[test]
    fn percentages_add_up_and_the_weightiest_is_first() {
        let report = check("<div style='display:grid'><p style='opacity:1'>a</p><p>b</p></div>");
        let total = &report.total;
        assert_eq!(total.nodes, 3);
        let sum = total.supported + total.partial + total.unsupported;
        assert!((sum - 100.0).abs() < 0.01, "{sum}");
        assert!(total.unsupported > 0.0 && total.unsupported < 34.0);
        let weights = report
            .warnings
            .iter()
            .map(|one| 100.0 - one.score.supported);
        let weights: Vec<_> = weights.collect();
        assert!(weights.is_sorted_by(|a, b| a >= b), "{weights:?}");
        for warning in &report.warnings {
            let score = &warning.score;
            let sum = score.supported + score.partial + score.unsupported;
            assert!((sum - 100.0).abs() < 0.01, "{sum}");
        }
        let none = check("");
        assert_eq!((none.total.nodes, none.total.supported), (0, 100.0));
    }
}
