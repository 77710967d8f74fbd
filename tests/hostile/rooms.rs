//! One file for each room: the readers and rewriters in it, and the shapes that they get.

mod composing;
mod inbound;
mod plain_text;
mod reports;
mod request;
mod rewriting;
mod signatures;
mod smtpapi;
mod submitted;
mod templates;
mod webhook;
