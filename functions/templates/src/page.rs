//! One page of templates, with links to the adjacent pages.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_http::{QueryReader, RequestUrl};
use posthaste_model::TemplateId;
use posthaste_store::Template;
use serde_json::{Value, json};

use crate::wire::{TemplateBody, generation};

/// The largest `page_size` (API facts, section 1).
const LARGEST_PAGE: usize = 200;

/// The requested page.
pub(crate) struct PageRequest {
    generations: Vec<String>,
    /// Without it everything is returned at once, in the older form.
    size: Option<usize>,
    /// The place of the first template: how old it is, and its id.
    from: Option<(i64, String)>,
}

impl PageRequest {
    /// Reads `generations`, `page_size`, `page_token`.
    pub(crate) fn read(query: &mut QueryReader<'_>) -> Self {
        let named = query.all("generations").flat_map(|all| all.split(','));
        let mut generations: Vec<String> = named.map(str::to_owned).collect();
        if generations.is_empty() {
            generations.push("legacy".to_owned());
        }
        if !generations.iter().all(|g| g == "legacy" || g == "dynamic") {
            let message = "generations must be legacy, dynamic, or both with a comma between them";
            query.refuse("generations", message);
        }
        let pages = 1..=LARGEST_PAGE;
        let inside = |text: &str| text.parse().ok().filter(|size| pages.contains(size));
        let message = format!("page_size must be 1 to {LARGEST_PAGE}");
        let size = query.parsed("page_size", inside, &message);
        // An empty token is that of the first page.
        let place = |token: &str| match token {
            "" => Some(None),
            token => place(token).map(Some),
        };
        let message = "page_token is not one of this service's";
        Self {
            generations,
            size,
            from: query.parsed("page_token", place, message).flatten(),
        }
    }

    pub(crate) fn takes(&self, id: &TemplateId) -> bool {
        self.generations.iter().any(|g| g == generation(id))
    }

    /// The response for all requested templates, the oldest first.
    pub(crate) fn answer(&self, all: &[Template], address: &RequestUrl) -> Value {
        let Some(size) = self.size else {
            let all: Vec<_> = all.iter().map(TemplateBody::of).collect();
            return json!({ "templates": all });
        };
        let start = match &self.from {
            None => 0,
            Some((age, id)) => {
                all.partition_point(|t| (t.created_at.0, t.id.as_str()) < (*age, id.as_str()))
            }
        };
        let shown = all.iter().skip(start).take(size);
        let result: Vec<_> = shown.map(TemplateBody::of).collect();
        let to = |index: usize| {
            let first = all.get(index)?;
            Some(self.address_of(address, Some(&token(first))))
        };
        let own = self.from.as_ref().map(|(age, id)| encode(*age, id));
        let mut meta = serde_json::Map::new();
        meta.insert(
            "self".into(),
            self.address_of(address, own.as_deref()).into(),
        );
        meta.insert("count".into(), all.len().into());
        let prev = (start > 0).then(|| start.saturating_sub(size));
        for (name, index) in [("prev", prev), ("next", Some(start + size))] {
            if let Some(address) = index.and_then(to) {
                meta.insert(name.into(), address.into());
            }
        }
        json!({ "result": result, "_metadata": meta })
    }

    /// Where a page is found, at the address the caller called.
    fn address_of(&self, address: &RequestUrl, token: Option<&str>) -> String {
        let (generations, size) = (self.generations.join(","), self.size);
        let size = size.map(|size| size.to_string());
        let pairs = [
            ("generations", Some(generations.as_str())),
            ("page_size", size.as_deref()),
            ("page_token", token),
        ];
        address.with(
            pairs
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?))),
        )
    }
}

fn token(template: &Template) -> String {
    encode(template.created_at.0, template.id.as_str())
}

fn encode(age: i64, id: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{age} {id}"))
}

fn place(token: &str) -> Option<(i64, String)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    let (age, id) = text.split_once(' ')?;
    Some((age.parse().ok()?, id.to_owned()))
}
