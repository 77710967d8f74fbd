//! Strangers to test against: servers that do what the outside world does, on request.

mod api;
mod certificate;
pub mod clock;
mod fuse;
pub mod lambda;
mod lines;
mod meddler;
mod queues;
mod receiver;
pub mod relay;
mod scale;
mod table;
mod tenant;

pub use api::{Answer, Api, Ask, HOME};
pub use certificate::Certificate;
pub use clock::Hand;
pub use fuse::{Fuse, Spark};
pub use lines::Lines;
pub use meddler::Meddler;
pub use queues::{Queues, Sent, sqs_event};
pub use receiver::{Received, Receiver, Reply};
pub use scale::{Scale, Weighed, Written};
pub use table::{TABLE, dynamodb, table};
pub use tenant::{Tenant, entropy, key_of};
