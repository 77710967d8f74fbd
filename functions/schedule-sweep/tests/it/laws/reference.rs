//! What was asked for.

use posthaste_model::{MessageId, Timestamp};

use crate::env::End;

const TEN_MINUTES: i64 = 600;
const THREE_DAYS: i64 = 72 * 3600;

/// What an owner wants of a batch, since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) cancel: bool,
    pub(super) since: Timestamp,
}

impl Wish {
    /// A message that was there with less than ten minutes to go leaves all the same; what is added
    /// later is held.
    fn reaches(self, message: &Message, at: Timestamp) -> bool {
        message.accepted_at >= self.since || at.0 - self.since.0 >= TEN_MINUTES
    }
}

/// How far a message has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Course {
    Waiting,
    /// Its owner cancelled it alone.
    Cancelled,
    /// A worker decided this and died before it was done.
    Decided(End),
    Ended(End),
}

#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) id: MessageId,
    pub(super) accepted_at: Timestamp,
    pub(super) at: Timestamp,
    /// The last second to which it may be moved.
    pub(super) latest: Timestamp,
    pub(super) batch: Option<usize>,
    pub(super) course: Course,
    /// Whether the caller got the answer that it was accepted.
    pub(super) accepted: bool,
}

/// The wishes for two batches, and the messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Reference {
    pub(super) wishes: [Option<Wish>; 2],
    pub(super) messages: Vec<Message>,
}

impl Reference {
    fn wish(&self, message: &Message) -> Option<Wish> {
        self.wishes[message.batch?].filter(|wish| wish.reaches(message, message.at))
    }

    /// How a message must end if it ends now; `None` when it must not.
    pub(super) fn verdict(&self, message: &Message, now: Timestamp) -> Option<End> {
        match &message.course {
            Course::Ended(_) => None,
            Course::Decided(end) => Some(end.clone()),
            Course::Cancelled => Some(End::Dropped("Cancelled")),
            Course::Waiting if now < message.at => None,
            Course::Waiting => match self.wish(message) {
                None => Some(End::Sent),
                Some(wish) if wish.cancel => Some(End::Dropped("Cancelled")),
                Some(_) if now.0 - message.at.0 > THREE_DAYS => Some(End::Dropped("Expired")),
                Some(_) => None,
            },
        }
    }

    /// Whether a wish of this moment would be refused: there are messages, and it reaches none.
    pub(super) fn is_too_late(&self, batch: usize, since: Timestamp) -> bool {
        let wish = Wish {
            cancel: true,
            since,
        };
        let mut own = self
            .messages
            .iter()
            .filter(|message| message.batch == Some(batch) && message.course == Course::Waiting);
        let first = own.next();
        let is_free = |m: &Message| !wish.reaches(m, m.at);
        first.is_some_and(|first| is_free(first) && own.all(is_free))
    }

    /// Whether moving a message there would take it from under a wish that holds it.
    pub(super) fn is_way_out(&self, message: &Message, to: Timestamp) -> bool {
        self.wish(message)
            .is_some_and(|wish| !wish.reaches(message, to))
    }
}
