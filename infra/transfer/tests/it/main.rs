//! Accounts that move: by a folder, and from a service behind faults.

mod again;
mod faults;
mod fixture;
mod folders;
mod masked;
mod round_trip;
mod sendgrid;
mod sources;
mod standin;
