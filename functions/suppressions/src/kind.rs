//! The five lists, as types, so that one handler serves them all.

use posthaste_store::{Mark, SuppressionList};

use crate::wire::SuppressionEntry;

/// One of the lists.
pub(crate) trait ListKind: Send + Sync + 'static {
    const LIST: SuppressionList;
    /// The entry for an address of this list.
    fn row(email: String, mark: Mark) -> SuppressionEntry;
}

pub(crate) struct Bounces;
pub(crate) struct Blocks;
pub(crate) struct InvalidEmails;
pub(crate) struct SpamReports;
pub(crate) struct Unsubscribes;

fn refused(email: String, mark: Mark) -> SuppressionEntry {
    SuppressionEntry {
        status: Some(mark.status.clone().unwrap_or_default()),
        ..invalid(email, mark)
    }
}

fn invalid(email: String, mark: Mark) -> SuppressionEntry {
    SuppressionEntry {
        reason: Some(mark.reason.clone().unwrap_or_default()),
        ..SuppressionEntry::new(email, &mark)
    }
}

impl ListKind for Bounces {
    const LIST: SuppressionList = SuppressionList::Bounces;
    fn row(email: String, mark: Mark) -> SuppressionEntry {
        refused(email, mark)
    }
}

impl ListKind for Blocks {
    const LIST: SuppressionList = SuppressionList::Blocks;
    fn row(email: String, mark: Mark) -> SuppressionEntry {
        refused(email, mark)
    }
}

impl ListKind for InvalidEmails {
    const LIST: SuppressionList = SuppressionList::InvalidEmails;
    fn row(email: String, mark: Mark) -> SuppressionEntry {
        invalid(email, mark)
    }
}

impl ListKind for SpamReports {
    const LIST: SuppressionList = SuppressionList::SpamReports;
    fn row(email: String, mark: Mark) -> SuppressionEntry {
        SuppressionEntry {
            ip: Some(mark.ip.clone().unwrap_or_default()),
            ..SuppressionEntry::new(email, &mark)
        }
    }
}

impl ListKind for Unsubscribes {
    const LIST: SuppressionList = SuppressionList::Unsubscribes;
    fn row(email: String, mark: Mark) -> SuppressionEntry {
        SuppressionEntry::new(email, &mark)
    }
}
