//! What changes in the mailbox, for programs that watch it: each change once, as far as they keep up.

use tokio::sync::broadcast;

use super::Mailbox;
use crate::Summary;

/// Changes that a slow watcher may be behind.
const BACKLOG: usize = 256;

/// A change, with the ids of mails.
#[derive(Clone, Debug)]
pub(crate) enum MailboxNews {
    Arrived(Box<Summary>),
    Read(String, bool),
    Tagged(String, Vec<String>),
    Deleted(String),
    /// Many changes: the list is to be read again.
    Pruned,
    /// Every mail was deleted.
    Emptied,
}

pub(super) fn channel() -> broadcast::Sender<MailboxNews> {
    broadcast::Sender::new(BACKLOG)
}

impl Mailbox {
    /// The changes from now on.
    pub(crate) fn news(&self) -> broadcast::Receiver<MailboxNews> {
        self.news.subscribe()
    }

    /// Tells those that watch.
    pub(crate) fn announce(&self, news: MailboxNews) {
        // Without a watcher there is none to tell.
        let _ = self.news.send(news);
    }

    /// Announces a new mail; its row is read only where a program watches.
    pub(super) async fn announce_arrival(&self, id: &str) {
        if self.news.receiver_count() == 0 {
            return;
        }
        if let Ok(Some(row)) = self.head(id.to_owned()).await {
            self.announce(MailboxNews::Arrived(Box::new(row.summary)));
        }
    }
}
