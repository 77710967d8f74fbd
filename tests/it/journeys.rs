//! What callers are promised, from the request to the recipient.

mod bounces;
mod send_later;
mod send_now;
mod submission;
mod submission_abuse;
mod submission_header;
mod templates;
mod tracking;
mod webhook_answers;
