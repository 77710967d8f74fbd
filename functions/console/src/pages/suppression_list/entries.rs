//! The entries of a list, a page at a time.

use posthaste_model::{EmailAddress, Timestamp};
use url::form_urlencoded;

use super::ListPage;
use crate::api::{ReadError, encoded, next_place};
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
    /// Where the next one goes on.
    next: Option<String>,
}

/// The address itself, or those of a list whose address begins so.
pub(super) async fn of_list(
    visit: &PageVisit,
    list: &ListInfo,
    begin: &str,
) -> Result<ListedPage, ReadError> {
    let after = visit.params.text("after");
    if after.is_empty() && EmailAddress::parse_stored(begin).is_ok() {
        let path = format!("{}/{}", list.path, encoded(begin));
        let found = visit.api.get::<Vec<EntryAnswer>>(&path).await?;
        if !found.is_empty() {
            return Ok(ListedPage::of(
                found.into_iter().map(listed).collect(),
                None,
            ));
        }
    }
    let mut path = format!("{}?limit={SHOWN}&after={}", list.path, encoded(after));
    if !begin.is_empty() {
        path.push_str("&email=");
        path.push_str(&encoded(begin));
    }
    let answer = visit.api.get_with_headers::<Vec<EntryAnswer>>(&path);
    let (headers, found) = answer.await?;
    let entries = found.into_iter().map(listed).collect();
    Ok(ListedPage::of(entries, next_place(&headers)))
}

fn listed(entry: EntryAnswer) -> ListedEntry {
    ListedEntry {
        email: entry.email,
        since: Timestamp(entry.created).iso(),
        reason: entry.reason,
    }
}

/// Those that left a group; with a whole address that one.
pub(super) async fn of_group(
    visit: &PageVisit,
    id: i64,
    email: &str,
) -> Result<ListedPage, ReadError> {
    let member = |email: String| ListedEntry {
        email,
        since: String::new(),
        reason: String::new(),
    };
    if !email.is_empty() {
        let path = format!("/v3/asm/suppressions/{}", encoded(email));
        let answer = visit.api.get::<MembershipAnswer>(&path).await?;
        let entry = answer.has_left(id).then(|| member(email.to_lowercase()));
        return Ok(ListedPage::of(entry.into_iter().collect(), None));
    }
    let after = encoded(visit.params.text("after"));
    let path = format!("/v3/asm/groups/{id}/suppressions?limit={SHOWN}&after={after}");
    let answer = visit.api.get_with_headers::<Vec<String>>(&path);
    let (headers, found) = answer.await?;
    let entries = found.into_iter().map(member).collect();
    Ok(ListedPage::of(entries, next_place(&headers)))
}

impl ListedPage {
    fn of(entries: Vec<ListedEntry>, next: Option<String>) -> Self {
        Self { entries, next }
    }
}

impl ListPage {
    /// What the page of any list has; what only some have is empty. `total` is the number of entries, where that is known.
    pub(super) fn of(
        page: ListedPage,
        problem: Option<String>,
        here: String,
        visit: &PageVisit,
        total: Option<usize>,
    ) -> Self {
        let q = visit.params.text("q").trim().to_owned();
        let number = visit.params.number("page").max(1);
        let to = |next: Option<(&str, usize)>| {
            let mut query = form_urlencoded::Serializer::new(String::new());
            if !q.is_empty() {
                query.append_pair("q", &q);
            }
            if let Some((after, number)) = next {
                query.append_pair("after", after);
                query.append_pair("page", &number.to_string());
            }
            match query.finish() {
                empty if empty.is_empty() => here.clone(),
                query => format!("{here}?{query}"),
            }
        };
        let ListedPage { entries, next } = page;
        let is_first = visit.params.text("after").is_empty();
        let pages = total.map(|total| total.div_ceil(SHOWN).max(number));
        Self {
            newest: (!is_first).then(|| to(None)),
            is_incomplete: next.is_some() && entries.len() < SHOWN,
            older: next.map(|next| to(Some((&next, number.saturating_add(1))))),
            place: texts::place(number, pages),
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
