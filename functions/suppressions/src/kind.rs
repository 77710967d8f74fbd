//! The five lists, as types, so that one handler serves them all.

use posthaste_store::{List, Mark};

use crate::wire::Row;

/// One of the lists.
pub(crate) trait Kind: Send + Sync + 'static {
    const LIST: List;
    /// How an address of this list is told.
    fn row(email: String, mark: Mark) -> Row;
}

pub(crate) struct Bounces;
pub(crate) struct Blocks;
pub(crate) struct InvalidEmails;
pub(crate) struct SpamReports;
pub(crate) struct Unsubscribes;

fn refused(email: String, mark: Mark) -> Row {
    Row {
        status: Some(mark.status.clone().unwrap_or_default()),
        ..invalid(email, mark)
    }
}

fn invalid(email: String, mark: Mark) -> Row {
    Row {
        reason: Some(mark.reason.clone().unwrap_or_default()),
        ..Row::new(email, &mark)
    }
}

impl Kind for Bounces {
    const LIST: List = List::Bounces;
    fn row(email: String, mark: Mark) -> Row {
        refused(email, mark)
    }
}

impl Kind for Blocks {
    const LIST: List = List::Blocks;
    fn row(email: String, mark: Mark) -> Row {
        refused(email, mark)
    }
}

impl Kind for InvalidEmails {
    const LIST: List = List::InvalidEmails;
    fn row(email: String, mark: Mark) -> Row {
        invalid(email, mark)
    }
}

impl Kind for SpamReports {
    const LIST: List = List::SpamReports;
    fn row(email: String, mark: Mark) -> Row {
        Row {
            ip: Some(mark.ip.clone().unwrap_or_default()),
            ..Row::new(email, &mark)
        }
    }
}

impl Kind for Unsubscribes {
    const LIST: List = List::Unsubscribes;
    fn row(email: String, mark: Mark) -> Row {
        Row::new(email, &mark)
    }
}
