//! The search under `/v3/messages` and `/v3/logs`: over the search rows of mails that left, and over those of mails
//! that wait for their time.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_http::Rejection;
use posthaste_model::{AccountId, MessageId};
use posthaste_store::{Seek, Sought, WaitingPage};

use crate::App;
use crate::mail::{CopyDetails, FoundMail, waiting_mails};
use crate::query::Query;

/// The maximum number of mails that one search examines. A search that reaches it sets a header.
pub(crate) const EXAMINED: usize = 10_000;

/// The same of a page, after which the next one goes on: so many are read in a blink.
const EXAMINED_OF_PAGE: usize = 500;

/// Mails read at a time, where a condition may leave few of them; and the first time.
const LOT: usize = 500;
const FIRST_LOT: usize = 100;

/// Rows of scheduled mail that one search examines, and a page. A row has the copies of one mail.
const EXAMINED_WAITING: usize = 500;
const EXAMINED_WAITING_OF_PAGE: usize = 150;

/// What is searched for, and how far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookUpRequest<'q> {
    pub query: &'q Query,
    /// How many mails are enough.
    pub limit: usize,
    /// The place behind which a page begins, empty for the first page; `None`: no page is asked for, but the
    /// latest mails.
    pub page: Option<&'q str>,
}

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct LookUp {
    /// Latest accepted first.
    pub mails: Vec<FoundMail>,
    /// Whether all mails were examined, or enough found.
    pub is_complete: bool,
    /// Of a page: the place behind which the next one begins, if there may be more.
    pub next: Option<String>,
}

/// Mails of one kind that match, in the order of their places.
#[derive(Debug, Default)]
struct Matches {
    mails: Vec<FoundMail>,
    /// The place up to which all were examined; `None`: to the end.
    until: Option<String>,
}

impl Matches {
    /// Adds those that match until as many as wanted are there; then nothing behind the last of them was examined.
    async fn take(&mut self, mails: Vec<FoundMail>, request: LookUpRequest<'_>) -> bool {
        let missing = request.wanted() - self.mails.len();
        self.mails
            .extend(matching(mails, request.query, missing).await);
        let is_full = self.mails.len() == request.wanted();
        if is_full {
            self.until = self.mails.last().map(|mail| mail.row.place());
        }
        is_full
    }
}

impl LookUpRequest<'_> {
    /// One more than enough shows whether a page has another behind it.
    fn wanted(&self) -> usize {
        self.limit + usize::from(self.page.is_some())
    }

    fn after(&self) -> Option<String> {
        let after = self.page.filter(|after| !after.is_empty());
        after.map(str::to_owned)
    }

    /// How many of `all` are examined.
    fn budget(&self, all: usize, of_page: usize) -> usize {
        if self.page.is_some() { of_page } else { all }
    }

    /// The message that is asked for by its id: `None` when any may match, `Some(None)` when none can.
    fn message(&self) -> Option<Option<(MessageId, Option<u32>)>> {
        self.query.id().map(MessageId::read_copy)
    }
}

/// Refuses a search where the deployment stores no rows for it.
pub(crate) fn check_searches(app: &App) -> Result<(), Rejection> {
    if app.searches {
        return Ok(());
    }
    let why = "the search over messages is disabled on this service";
    Err(Rejection::bad(why))
}

/// The latest mails of an account that match.
///
/// # Errors
/// 400 where the deployment stores no rows for the search.
pub(crate) async fn look_up(
    app: &App,
    account: &AccountId,
    request: LookUpRequest<'_>,
) -> Result<LookUp, Rejection> {
    check_searches(app)?;
    let names = KnownNames::of(app, account, request.query).await?;
    // What waits first: one that leaves meanwhile is then found as one that left.
    let waiting = waiting(app, account, request, &names).await?;
    let left = left(app, account, request, &names).await?;
    Ok(merged(left, waiting, request))
}

/// Both kinds in one order.
fn merged(left: Matches, waiting: Matches, request: LookUpRequest<'_>) -> LookUp {
    let is_all = left.until.is_none() && waiting.until.is_none();
    // Behind the first of these places some mails were not examined.
    let until = left.until.iter().chain(&waiting.until).min().cloned();
    // One that has just left has a row of its own.
    let place = |mail: &FoundMail| (mail.row.message.clone(), mail.row.recipient);
    let known: BTreeSet<_> = left.mails.iter().map(place).collect();
    let waiting = waiting.mails.into_iter();
    let waiting = waiting.filter(|mail| !known.contains(&place(mail)));
    let mut mails = left.mails;
    mails.extend(waiting);
    mails.sort_by_cached_key(|mail| mail.row.place());
    if request.page.is_some()
        && let Some(until) = &until
    {
        mails.retain(|mail| mail.row.place() <= *until);
    }
    let is_full = mails.len() >= request.limit;
    let next = if mails.len() > request.limit {
        mails.truncate(request.limit);
        mails.last().map(|mail| mail.row.place())
    } else {
        until
    };
    LookUp {
        is_complete: is_all || is_full,
        next: next.filter(|_| request.page.is_some()),
        mails,
    }
}

/// Mails that left.
async fn left(
    app: &App,
    account: &AccountId,
    request: LookUpRequest<'_>,
    names: &KnownNames,
) -> Result<Matches, Rejection> {
    let query = request.query;
    let most = request.budget(EXAMINED, EXAMINED_OF_PAGE);
    let mut lot = if query.is_empty() {
        request.wanted()
    } else {
        FIRST_LOT
    };
    let mut found = Matches::default();
    let (mut examined, mut after) = (0, request.after());
    while examined < most {
        let some = lot.min(LOT).min(most - examined);
        let Sought { rows, next } = read(app, account, request, after, some).await?;
        examined += rows.len().max(1);
        lot = lot.saturating_mul(3);
        let since = query.since();
        let is_past = |row: &Seek| since.is_some_and(|since| row.accepted_at < since);
        after = next.filter(|_| !rows.last().is_some_and(is_past));
        let mails = rows.into_iter().map(|row| names.with(row)).collect();
        let mails = if query.needs().copy {
            with_copies(app, account, mails, |_| true).await?
        } else {
            mails
        };
        if found.take(mails, request).await {
            return Ok(found);
        }
        if after.is_none() {
            break;
        }
    }
    found.until = after;
    Ok(found)
}

/// Some search rows behind a place: of the message that is asked for, to the address that is, or of all.
async fn read(
    app: &App,
    account: &AccountId,
    request: LookUpRequest<'_>,
    after: Option<String>,
    lot: usize,
) -> Result<Sought, Rejection> {
    let (store, until) = (&app.store, request.query.until());
    Ok(match (request.message(), request.query.recipient()) {
        (Some(None), _) => Sought::default(),
        (Some(Some((message, recipient))), _) => {
            let copy = (account, &message, recipient);
            store.seek_message(copy, after.as_deref(), lot).await?
        }
        (None, Some(to)) => store.seek_to((account, to), until, after, lot).await?,
        (None, None) => store.seek(account, until, after, lot).await?,
    })
}

/// Copies of scheduled mail. Those of one row at a time are in memory.
async fn waiting(
    app: &App,
    account: &AccountId,
    request: LookUpRequest<'_>,
    names: &KnownNames,
) -> Result<Matches, Rejection> {
    let query = request.query;
    let mut found = Matches::default();
    if query.is_of_left() {
        return Ok(found);
    }
    let mut left = request.budget(EXAMINED_WAITING, EXAMINED_WAITING_OF_PAGE);
    let (start, mut lot) = (request.after(), request.wanted());
    let mut after = start.as_deref().and_then(Seek::before_message);
    while left > 0 {
        let page = match request.message() {
            Some(None) => WaitingPage::default(),
            Some(Some((message, _))) => WaitingPage {
                rows: app.store.waiting_of(account, &message).await?,
                next: None,
            },
            None => {
                let some = lot.min(left);
                let until = query.until();
                app.store.waiting(account, until, after, some).await?
            }
        };
        left = left.saturating_sub(lot);
        lot = lot.saturating_mul(3);
        after = page.next;
        for row in &page.rows {
            let mails = waiting_mails(row).map(|mail| names.with(mail));
            let behind = |mail: &FoundMail| Some(mail.row.place()) > start;
            let mails: Vec<_> = mails.filter(behind).collect();
            let last = mails.last().map(|mail| mail.row.place());
            if found.take(mails, request).await {
                return Ok(found);
            }
            // The place of a row is that of its first copy.
            after = after.map(|after| last.filter(|last| *last > after).unwrap_or(after));
        }
        if after.is_none() {
            break;
        }
    }
    found.until = after;
    Ok(found)
}

/// The first `limit` of these mails that match. Patterns are compared off the threads that serve.
pub(crate) async fn matching(mails: Vec<FoundMail>, query: &Query, limit: usize) -> Vec<FoundMail> {
    let size = if query.has_pattern() {
        posthaste_offload::UNKNOWN
    } else {
        0
    };
    let holds = |mail: &FoundMail| query.holds(mail);
    posthaste_offload::run(size, || {
        mails.into_iter().filter(holds).take(limit).collect()
    })
    .await
}

/// A scheduled copy that has yet to leave.
pub(crate) async fn waiting_copy(
    app: &App,
    account: &AccountId,
    message: &MessageId,
    recipient: u32,
) -> Result<Option<FoundMail>, Rejection> {
    let row = app.store.waiting_with(account, message, recipient);
    let row = row.await?;
    let mut all = row.iter().flat_map(waiting_mails);
    Ok(all.find(|mail| mail.row.recipient == recipient))
}

/// The names that a query compares; empty where it compares none.
#[derive(Debug, Default)]
pub(crate) struct KnownNames {
    templates: BTreeMap<String, String>,
    groups: BTreeMap<i64, String>,
}

impl KnownNames {
    pub(crate) async fn of(
        app: &App,
        account: &AccountId,
        query: &Query,
    ) -> Result<Self, Rejection> {
        let mut names = Self::default();
        let needs = query.needs();
        if needs.template_names {
            let all = app.store.templates(account).await?.into_iter();
            names.templates = all.map(|one| (one.id.to_string(), one.name)).collect();
        }
        if needs.group_names {
            let all = app.store.groups(account).await?.into_iter();
            names.groups = all.map(|one| (one.id, one.name)).collect();
        }
        Ok(names)
    }

    pub(crate) fn with(&self, mail: impl Into<FoundMail>) -> FoundMail {
        let mail = mail.into();
        let template = mail.row.template_id.as_ref();
        let group = mail.row.asm_group_id.as_ref();
        FoundMail {
            template_name: template.and_then(|id| self.templates.get(id).cloned()),
            group_name: group.and_then(|id| self.groups.get(id).cloned()),
            ..mail
        }
    }
}

/// The mails, and those that are wanted with what the rows of their copies say. One whose copy is gone stays without.
pub(crate) async fn with_copies(
    app: &App,
    account: &AccountId,
    mails: Vec<FoundMail>,
    is_wanted: impl Fn(&FoundMail) -> bool,
) -> Result<Vec<FoundMail>, Rejection> {
    let which: Vec<_> = mails
        .iter()
        .filter(|mail| mail.copy.is_none() && is_wanted(mail))
        .map(|mail| (&mail.row.message, mail.row.recipient))
        .collect();
    let copies = app.store.copies(account, &which).await?;
    let mut copies: BTreeMap<_, _> = copies
        .into_iter()
        .map(|(message, recipient, copy)| ((message, recipient), CopyDetails::of(&copy)))
        .collect();
    let mut complete = Vec::with_capacity(mails.len());
    for mail in mails {
        let place = (mail.row.message.clone(), mail.row.recipient);
        let copy = mail.copy.or_else(|| copies.remove(&place));
        complete.push(FoundMail { copy, ..mail });
    }
    Ok(complete)
}
