//! The table under the mailbox, and searches as SQL.

use rusqlite::types::Value;

use crate::query::{SearchField, Term, Test};

/// Version of the file; another one is refused (see [`crate::Error::Version`]).
pub(crate) const VERSION: i64 = 1;

/// `mail` holds what the list and the search need, `raw` the bytes, so that a walk over the list
/// does not read them. The lower-case columns are what a search compares with.
pub(crate) const SCHEMA: &str = "
    CREATE TABLE mail (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        received INTEGER NOT NULL,
        size INTEGER NOT NULL,
        unread INTEGER NOT NULL,
        files INTEGER NOT NULL,
        inlines INTEGER NOT NULL,
        envelope TEXT NOT NULL,
        summary TEXT NOT NULL,
        message_id TEXT NOT NULL,
        lower_from TEXT NOT NULL,
        lower_to TEXT NOT NULL,
        lower_cc TEXT NOT NULL,
        lower_bcc TEXT NOT NULL,
        lower_reply TEXT NOT NULL,
        lower_rcpt TEXT NOT NULL,
        lower_subject TEXT NOT NULL,
        lower_all TEXT NOT NULL
    );
    CREATE TABLE raw (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
    PRAGMA user_version = 1;
";

pub(crate) const INSERT: &str = "
    INSERT INTO mail (id, received, size, unread, files, inlines, envelope, summary, message_id,
        lower_from, lower_to, lower_cc, lower_bcc, lower_reply, lower_rcpt, lower_subject, lower_all)
    VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

/// Bytes of a mail's row, besides those of its source.
pub(crate) const ROW: &str = "octet_length(envelope) + octet_length(summary) \
    + octet_length(message_id) + octet_length(lower_from) + octet_length(lower_to) \
    + octet_length(lower_cc) + octet_length(lower_bcc) + octet_length(lower_reply) \
    + octet_length(lower_rcpt) + octet_length(lower_subject) + octet_length(lower_all)";

/// A `WHERE` clause and the values of its question marks.
pub(crate) struct Clause {
    pub text: String,
    pub values: Vec<Value>,
}

/// The mails that match every term.
pub(crate) fn matching(terms: &[Term]) -> Clause {
    let mut clause = Clause {
        text: "1".to_owned(),
        values: Vec::new(),
    };
    for term in terms {
        let (test, values) = condition(&term.test);
        let not = if term.not { "NOT " } else { "" };
        clause.text.push_str(&format!(" AND {not}({test})"));
        clause.values.extend(values);
    }
    clause
}

/// The mails up to this position in order of arrival.
pub(crate) fn up_to(seq: i64) -> Clause {
    Clause {
        text: "seq <= ?".to_owned(),
        values: vec![Value::Integer(seq)],
    }
}

/// The mails at these positions.
pub(crate) fn at(seqs: &[i64]) -> Clause {
    let list = serde_json::Value::from(seqs.to_vec()).to_string();
    Clause {
        text: "seq IN (SELECT value FROM json_each(?))".to_owned(),
        values: vec![Value::Text(list)],
    }
}

/// The mails of these ids.
pub(crate) fn named(ids: &[String]) -> Clause {
    // One value whatever the number of ids: SQLite has an upper bound on question marks.
    let list = serde_json::Value::from(ids.to_vec()).to_string();
    Clause {
        text: "id IN (SELECT value FROM json_each(?))".to_owned(),
        values: vec![Value::Text(list)],
    }
}

fn condition(test: &Test) -> (String, Vec<Value>) {
    let number = |sql: &str, n: i64| (sql.to_owned(), vec![Value::Integer(n)]);
    match test {
        Test::Holds(field, text) => {
            let columns = columns(*field);
            let any: Vec<_> = columns
                .iter()
                .map(|column| format!("holds({column}, ?)"))
                .collect();
            let values = columns.iter().map(|_| Value::Text(text.clone())).collect();
            (any.join(" OR "), values)
        }
        Test::Read => ("unread = 0".to_owned(), Vec::new()),
        Test::Files => ("files > 0".to_owned(), Vec::new()),
        Test::Inlines => ("inlines > 0".to_owned(), Vec::new()),
        Test::Tagged => ("0".to_owned(), Vec::new()),
        Test::Before(at) => number("received < ?", at.0),
        Test::After(at) => number("received >= ?", at.0),
        Test::Larger(size) => number("size > ?", *size),
        Test::Smaller(size) => number("size < ?", *size),
    }
}

fn columns(field: SearchField) -> &'static [&'static str] {
    match field {
        SearchField::From => &["lower_from"],
        SearchField::To => &["lower_to"],
        SearchField::Cc => &["lower_cc"],
        SearchField::Bcc => &["lower_bcc"],
        SearchField::ReplyTo => &["lower_reply"],
        SearchField::Addressed => &[
            "lower_from",
            "lower_to",
            "lower_cc",
            "lower_bcc",
            "lower_reply",
        ],
        SearchField::Recipient => &["lower_rcpt"],
        SearchField::Subject => &["lower_subject"],
        SearchField::MessageId => &["lower(message_id)"],
        SearchField::All => &["lower_all"],
    }
}
