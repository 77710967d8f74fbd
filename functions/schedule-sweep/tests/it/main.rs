//! Later sends from accept to departure, with the time as an argument.
//!
//! `journeys` walks what senders do, `holds` batches that are cancelled or paused, `moving` the
//! extensions for one message, `news` copies that SES says nothing of, `alerts` the mails with figures, `sweeping` what goes wrong around the sweep, `waiting` mail that waits for the relay, `replays` events that are posted again, `crashes` processes that
//! die or run at the same time, `laws` random interleavings against a simple reference.

mod alerts;
mod crashes;
mod env;
mod holds;
mod journeys;
mod laws;
mod moving;
mod news;
mod replays;
mod sweeping;
mod waiting;
