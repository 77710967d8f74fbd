//! Later sends from accept to departure, with the time as an argument.
//!
//! `journeys` walks what senders do, `sweeping` what goes wrong around the sweep, `moving` the
//! extensions for one message, `laws` random interleavings against a simple reference.

mod journeys;
mod laws;
mod moving;
mod sweeping;
mod world;
