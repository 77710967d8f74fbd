//! Lists whose service ends them nowhere, or where the bound is.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::{Json, Router};
use posthaste_model::Timestamp;
use posthaste_store::Account;
use posthaste_testkit::{TestClock, entropy};
use serde_json::json;

use super::*;
use crate::folder::AccountFolder;
use crate::journal::ImportJournal;
use crate::report::{NotTaken, TransferReport};
use crate::service::{Here, Service};
use crate::source::{Pause, Progress, SourceApi};

/// A service in this process whose every page has one entry, another each time, and after so many pages none.
fn source(pages: usize) -> SourceApi {
    let count = Arc::new(AtomicUsize::new(0));
    let router = Router::new().fallback(move || {
        let number = count.fetch_add(1, Ordering::SeqCst);
        let email = format!("a{number}@example.org");
        let entry = json!({"email": email, "created": 5, "group_id": 1, "created_at": 5});
        let page = Vec::from_iter((number < pages).then_some(entry));
        async move { Json(page) }
    });
    let account = Account::new(entropy().account_id(), "ada", Timestamp(0));
    let here = Here::new(router, Arc::new(account));
    let pause = Pause::new(|_| Box::pin(std::future::ready(())));
    let clock = TestClock::default().clock();
    SourceApi::new(Service::Here(here), clock, pause, Progress::new(|_| ()))
}

fn reader<'a>(
    pages: usize,
    folder: &Path,
    journal: &'a mut ImportJournal,
    report: &'a mut TransferReport,
) -> AccountReader<'a> {
    AccountReader {
        source: source(pages),
        folder: AccountFolder::at(folder.to_owned()),
        journal,
        prefix: String::new(),
        report,
        store: None,
        account: None,
    }
}

fn lines(path: &Path) -> usize {
    Lines::open(path).unwrap().count()
}

#[tokio::test]
async fn the_pages_of_one_second_and_of_a_list_without_windows_are_bounded() {
    const MOST: usize = MOST_IN_A_ROW;
    for (pages, of_second, of_members) in [
        (MOST - 1, None, None),
        (
            MOST + 1,
            Some(format!("bounces: what follows {MOST} of one second")),
            Some(format!("group_members: what follows {MOST} of them")),
        ),
    ] {
        let refused = |what: Option<String>| {
            let reason = ENDLESS.to_owned();
            Vec::from_iter(what.map(|what| NotTaken { what, reason }))
        };
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, mut report) = (ImportJournal::default(), TransferReport::default());
        let mut own = reader(pages, folder.path(), &mut journal, &mut report);
        let file = own.folder.file(AccountPart::Bounces);
        let mut out = LineWriter::after(&file, 0).unwrap();
        let (seen, mut asked) = (HashSet::new(), 0);
        let second = own.second((AccountPart::Bounces, 5), &seen, &mut out, &mut asked);
        let taken = second.await.unwrap();
        out.flush().unwrap();
        assert_eq!((taken, lines(&file)), (pages.min(MOST), pages.min(MOST)));
        assert_eq!(report.not_taken, refused(of_second));

        let mut report = TransferReport::default();
        let mut own = reader(pages, folder.path(), &mut journal, &mut report);
        let file = own.folder.file(AccountPart::GroupMembers);
        own.read_members().await.unwrap();
        assert_eq!(lines(&file), pages.min(MOST));
        assert_eq!(report.not_taken, refused(of_members));
    }
}
