//! The entries of a list, a page at a time.

use axum::http::{HeaderMap, header};
use posthaste_model::Timestamp;
use url::form_urlencoded;

use super::ListPage;
use crate::api::{ReadError, encoded};
use crate::pages::suppressions::lists::ListInfo;
use crate::pages::suppressions::{EntryAnswer, GroupAnswer, MembershipAnswer};
use crate::texts;
use crate::visit::PageVisit;

/// Entries on a page.
const SHOWN: usize = 50;

/// An address on the list.
pub(super) struct ListedEntry {
    pub(super) email: String,
    /// When it got there, where the API says that.
    pub(super) since: String,
    pub(super) reason: String,
}

/// A page of the list.
#[derive(Default)]
pub(super) struct ListedPage {
    entries: Vec<ListedEntry>,
    start: usize,
    has_more: bool,
    /// Where the last page begins, if that is known.
    last: Option<usize>,
}

/// Those of a list whose address begins so.
pub(super) async fn of_list(
    visit: &PageVisit,
    list: &ListInfo,
    begin: &str,
) -> Result<ListedPage, ReadError> {
    let start = visit.params.number("start");
    let mut path = format!("{}?limit={SHOWN}&offset={start}", list.path);
    if !begin.is_empty() {
        path.push_str("&email=");
        path.push_str(&encoded(begin));
    }
    let answer = visit.api.get_with_headers::<Vec<EntryAnswer>>(&path);
    let (headers, found) = answer.await?;
    let entries = found.into_iter().map(|entry| ListedEntry {
        email: entry.email,
        since: Timestamp(entry.created).iso(),
        reason: entry.reason,
    });
    Ok(ListedPage::of(entries.collect(), start, &headers))
}

/// Those that left a group; with a whole address that one.
pub(super) async fn of_group(
    visit: &PageVisit,
    id: i64,
    email: &str,
) -> Result<ListedPage, ReadError> {
    let listed = |email: String| ListedEntry {
        email,
        since: String::new(),
        reason: String::new(),
    };
    if !email.is_empty() {
        let path = format!("/v3/asm/suppressions/{}", encoded(email));
        let answer = visit.api.get::<MembershipAnswer>(&path).await?;
        let entries = answer.has_left(id).then(|| listed(email.to_lowercase()));
        return Ok(ListedPage {
            entries: entries.into_iter().collect(),
            ..ListedPage::default()
        });
    }
    let start = visit.params.number("start");
    let path = format!("/v3/asm/groups/{id}/suppressions?limit={SHOWN}&offset={start}");
    let answer = visit.api.get_with_headers::<Vec<String>>(&path);
    let (headers, found) = answer.await?;
    let entries = found.into_iter().map(listed).collect();
    Ok(ListedPage::of(entries, start, &headers))
}

impl ListedPage {
    fn of(entries: Vec<ListedEntry>, start: usize, headers: &HeaderMap) -> Self {
        let links = headers.get(header::LINK);
        let links = links.and_then(|links| links.to_str().ok());
        let links = links.unwrap_or_default();
        Self {
            entries,
            start,
            has_more: offset_of(links, "next").is_some(),
            last: offset_of(links, "last"),
        }
    }
}

/// The `offset` of one link of a `Link` header.
fn offset_of(links: &str, rel: &str) -> Option<usize> {
    let rel = format!("rel=\"{rel}\"");
    let link = links.split(", <").find(|link| link.contains(&rel))?;
    let (address, _) = link.split_once('>')?;
    let (_, query) = address.split_once('?')?;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, offset) = pairs.find(|(name, _)| name == "offset")?;
    offset.parse().ok()
}

impl ListPage {
    /// What the page of any list has; what only some have is empty.
    pub(super) fn of(page: ListedPage, problem: Option<String>, here: String, q: String) -> Self {
        let to = |start: usize| {
            let mut query = form_urlencoded::Serializer::new(String::new());
            if !q.is_empty() {
                query.append_pair("q", &q);
            }
            if start > 0 {
                query.append_pair("start", &start.to_string());
            }
            match query.finish() {
                empty if empty.is_empty() => here.clone(),
                query => format!("{here}?{query}"),
            }
        };
        let ListedPage {
            entries,
            start,
            has_more,
            last,
        } = page;
        // Behind the end the API calls the page that was asked for the last.
        let last = last.filter(|_| !entries.is_empty());
        let pages = last.map(|last| last.div_ceil(SHOWN) + 1);
        Self {
            newest: (start > SHOWN).then(|| to(0)),
            newer: (start > 0).then(|| to(start.saturating_sub(SHOWN))),
            older: has_more.then(|| to(start.saturating_add(SHOWN))),
            oldest: last
                .filter(|last| *last > start.saturating_add(SHOWN))
                .map(to),
            place: texts::place(start.div_ceil(SHOWN) + 1, pages),
            title: String::new(),
            about: String::new(),
            group: None::<GroupAnswer>,
            can_edit: false,
            can_delete: false,
            has_times: false,
            has_reasons: false,
            remove: None,
            removes_each: false,
            clear: None,
            add: None,
            no_add: "",
            file_path: String::new(),
            file_columns: "",
            file_name: String::new(),
            problem,
            entries,
            here,
            q,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_a_list_have_their_offsets() {
        let links = r#"<http://h/v3/x?email=a%2Cb&limit=50&offset=100>; rel="next"; title="3", <http://h/v3/x?limit=50&offset=9950>; rel="last"; title="200""#;
        assert_eq!(offset_of(links, "next"), Some(100));
        assert_eq!(offset_of(links, "last"), Some(9_950));
        assert_eq!(offset_of(links, "prev"), None);
        assert_eq!(offset_of("", "next"), None);
    }

    #[test]
    fn pages_around_a_page_are_of_the_same_search() {
        let page = ListedPage {
            entries: vec![ListedEntry {
                email: "ann@example.com".to_owned(),
                since: String::new(),
                reason: String::new(),
            }],
            start: 100,
            has_more: true,
            last: Some(9_950),
        };
        let shown = ListPage::of(page, None, "/l".to_owned(), "a&b".to_owned());
        assert_eq!(shown.newest.as_deref(), Some("/l?q=a%26b"));
        assert_eq!(shown.newer.as_deref(), Some("/l?q=a%26b&start=50"));
        assert_eq!(shown.older.as_deref(), Some("/l?q=a%26b&start=150"));
        assert_eq!(shown.oldest.as_deref(), Some("/l?q=a%26b&start=9950"));
        assert_eq!(shown.place, "Page 3 of 200");
        let first = ListPage::of(ListedPage::default(), None, "/l".to_owned(), String::new());
        assert_eq!((first.newer, first.older), (None, None));
    }
}
