//! What callers are promised, from the request to the recipient.

mod activity;
mod bounces;
mod branded_links;
mod clock;
mod enforced_tls;
mod foreign_names;
mod forwards;
mod inbound;
mod mailbox_page;
mod outcomes;
mod send_later;
mod send_now;
mod states;
mod submission;
mod submission_abuse;
mod submission_header;
mod templates;
mod tracking;
mod verified_sender;
mod webhook_answers;
