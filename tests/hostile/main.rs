//! Inputs written to hurt, before everything that reads or rewrites strangers' bytes.
//!
//! Whatever the bytes are, the work grows with their number and no faster, and the stack does not
//! grow with them. Each shape is as large as its reader takes it, and each reader gets it on a thread
//! with a stack of 256 KiB. There is no measuring of time: what is quadratic takes hours at this
//! size, so a limit of a minute tells the two apart on any machine.
//!
//! `shapes` says what the inputs look like, once; each file of `rooms` says who reads them. Readers
//! that take no more than a few kilobytes are tested where they are: commands of SMTP, replies of
//! a relay, queries of the message search.

mod guard;
mod rooms;
mod shapes;
