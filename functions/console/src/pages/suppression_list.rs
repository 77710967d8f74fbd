//! One list of addresses that get no mail: its entries page by page, added to and taken from, as a file and from one.
//! Of a group also its name and what it is about.

mod entries;

use askama::Template;
use posthaste_store::ApiKey;

use super::suppressions::GroupAnswer;
use super::suppressions::lists::ListInfo;
use crate::content::{PageContent, PageError, PageResult};
use crate::texts;
use crate::visit::PageVisit;
use entries::{ListedEntry, ListedPage};

#[derive(Template)]
#[template(path = "suppression_list.html")]
struct ListPage {
    title: String,
    about: String,
    /// A group with its texts; `None` on the page of another list.
    group: Option<GroupAnswer>,
    can_edit: bool,
    can_delete: bool,
    /// The address of this page.
    here: String,
    /// The beginning of an address, or, in a group, the whole.
    q: String,
    /// Why there are no entries.
    problem: Option<String>,
    entries: Vec<ListedEntry>,
    /// Whether entries have a time, and a reason or an address beside it.
    has_times: bool,
    has_reasons: bool,
    /// Which page this is, and of how many where that is known.
    place: String,
    /// The address of the first page, where this is another.
    newest: Option<String>,
    older: Option<String>,
    /// Whether the page ends before it is full, with older entries that were not looked at.
    is_incomplete: bool,
    /// The call that takes the chosen addresses off, where the reader may.
    remove: Option<String>,
    /// Whether it takes one address at a time.
    removes_each: bool,
    /// The path of the list, where the call can empty it.
    clear: Option<&'static str>,
    /// The call that adds addresses, where the list has one and the reader may.
    add: Option<String>,
    /// Why nothing can be added.
    no_add: &'static str,
    /// The call that the file is made from, and its columns.
    file_path: String,
    file_columns: &'static str,
    file_name: String,
}

pub(crate) async fn show(visit: PageVisit, id: String) -> PageResult {
    if let Some(list) = ListInfo::named(&id) {
        return list_page(visit, list).await;
    }
    match id.parse::<i64>() {
        Ok(number) => group_page(visit, number).await,
        Err(_) => Err(PageError::not_found()),
    }
}

async fn list_page(visit: PageVisit, list: &'static ListInfo) -> PageResult {
    let here = format!("/console/suppressions/{}", list.name);
    let read = entries::of_list(&visit, list, visit.params.text("q").trim()).await;
    let (page, problem) = shown(read, list.read);
    let key = &visit.caller.key;
    let can_remove = list.can_remove(key);
    let add = list.add_path(key);
    let page = ListPage {
        title: list.text.label.to_owned(),
        about: list.text.about.to_owned(),
        group: None,
        can_edit: false,
        can_delete: false,
        has_times: true,
        has_reasons: list.has_reason,
        remove: can_remove.then(|| format!("DELETE {}", list.path)),
        removes_each: false,
        clear: can_remove.then_some(list.path),
        no_add: no_add(list, add.is_none()),
        add,
        file_path: list.path.to_owned(),
        file_columns: list.columns(),
        file_name: format!("{}.csv", list.name),
        ..ListPage::of(page, problem, here, &visit, None)
    };
    PageContent::of(list.text.label, &page)
}

fn no_add(list: &ListInfo, is_missing: bool) -> &'static str {
    match (is_missing, list.name) {
        (false, _) => "",
        (true, "unsubscribes") => texts::NO_GLOBAL_ADD,
        (true, _) => texts::FILLS_ITSELF,
    }
}

async fn group_page(visit: PageVisit, id: i64) -> PageResult {
    let path = format!("/v3/asm/groups/{id}");
    let q = visit.params.text("q").trim();
    let (group, read) = futures_util::join!(
        visit.api.get::<GroupAnswer>(&path),
        entries::of_group(&visit, id, q),
    );
    // Who may see the addresses and not the group still gets them.
    let group = match group {
        Ok(group) => Some(group),
        Err(error) if error.is_forbidden() => None,
        Err(error) => return Err(error.into()),
    };
    let counted = group.as_ref().filter(|_| q.is_empty());
    let total = counted.and_then(|group| usize::try_from(group.unsubscribes).ok());
    let (page, problem) = shown(read, "asm.groups.suppressions.read");
    let members = format!("{path}/suppressions");
    let key: &ApiKey = &visit.caller.key;
    let can_remove = key.holds("asm.groups.suppressions.delete");
    let can_add = key.holds("asm.groups.suppressions.create");
    let title = match &group {
        Some(group) => group.name.clone(),
        None => format!("{} {id}", texts::GROUP),
    };
    let page = ListPage {
        about: group
            .as_ref()
            .map(|group| group.description.clone())
            .unwrap_or_default(),
        can_edit: group.is_some() && key.holds("asm.groups.update"),
        can_delete: group.is_some() && key.holds("asm.groups.delete"),
        title: title.clone(),
        group,
        has_times: false,
        has_reasons: false,
        remove: can_remove.then(|| format!("DELETE {members}/{{emails}}")),
        removes_each: true,
        clear: None,
        add: can_add.then(|| members.clone()),
        no_add: if can_add { "" } else { texts::NO_GROUP_ADD },
        file_path: members,
        file_columns: "email",
        file_name: format!("group-{id}.csv"),
        ..ListPage::of(
            page,
            problem,
            format!("/console/suppressions/{id}"),
            &visit,
            total,
        )
    };
    PageContent::of(title, &page)
}

/// What was read, or why nothing was.
fn shown(
    read: Result<ListedPage, crate::api::ReadError>,
    scope: &str,
) -> (ListedPage, Option<String>) {
    match read {
        Ok(page) => (page, None),
        Err(error) => (ListedPage::default(), Some(error.without(scope))),
    }
}
