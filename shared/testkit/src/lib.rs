//! Test servers that simulate the outside world on request.

mod api;
mod app;
mod certificate;
pub mod clock;
mod fail_after;
mod fault_proxy;
pub mod lambda;
mod lines;
mod queues;
mod receiver;
pub mod reference;
pub mod relay;
mod scale;
mod services;
mod tenant;
mod tls_proxy;

pub use api::{Api, Ask, HOME, Response};
pub use app::TestApp;
pub use certificate::Certificate;
pub use clock::TestClock;
pub use fail_after::{CallFate, FailAfter};
pub use fault_proxy::FaultProxy;
pub use lambda::most_memory;
pub use lines::CapturedLog;
pub use queues::{Queues, Sent, sqs_event};
pub use receiver::{ReceivedRequest, Receiver, Reply};
pub use scale::{Scale, Weighed, Written};
pub use services::{Services, TABLE, aws_at, aws_stand_in, dynamodb, table};
pub use tenant::{Tenant, entropy, key_of};
pub use tls_proxy::TlsProxy;
