//! The only crate that knows SQS and EventBridge: the form of every job, sending, and lifting
//! "handle one job" to "handle a batch".
//!
//! Two ways, both known here: SQS in the cloud, and a durable local engine that
//! `infra/local` runs, which hands workers real SQS events.

mod batch;
mod bus;
mod dead_jobs;
mod happened;
mod inbound;
mod job;
mod late;
mod local;
mod queue;
mod requeue;
mod returned;
mod undelivered;

pub use batch::{BatchResult, Verdict, each, gather};
pub use bus::{Bus, Notice};
pub use dead_jobs::{DeadJob, DeadJobs};
pub use happened::Happened;
pub use inbound::{Inbound, Judged, Scored};
pub use job::{Body, Job, JobError, LARGEST_INLINE, Packed, Packing, unpack};
pub use local::{Command, Local, Received};
pub use queue::{LONGEST_DELAY, Queue, QueueError};
pub use requeue::{RETURNS, SUSPECT, handle_sqs, is_repeat};
pub use returned::Returned;
pub use undelivered::{Retry, Undelivered};

pub use aws_lambda_events::event::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
