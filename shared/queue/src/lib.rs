//! The only crate that accesses SQS and EventBridge: the form of every job, sending, and handling
//! batches job by job.
//!
//! There are two backends: SQS in the cloud, and a durable local engine that `infra/local` runs,
//! which hands workers real SQS events.

mod batch;
mod bounce_mail;
mod bus;
mod dead_jobs;
mod event_batch;
mod inbound;
mod job;
mod lazy_client;
mod local;
mod queue;
mod requeue;
mod webhook_retry;

pub use batch::{BatchResult, Disposition, each, gather};
pub use bounce_mail::BounceMail;
pub use bus::{Bus, BusEvent};
pub use dead_jobs::{DeadJob, DeadJobs};
pub use event_batch::EventBatch;
pub use inbound::{Inbound, Judged, Scored};
pub use job::{Job, JobBody, JobError, LARGEST_INLINE, Packed, Packing, unpack};
pub use local::{EngineCommand, Local, ReceivedMessage};
pub use queue::{LONGEST_DELAY, Queue, QueueError};
pub use requeue::{RETURNS, SUSPECT, handle_sqs, is_repeat};
pub use webhook_retry::{Retry, WebhookRetry};

pub use aws_lambda_events::event::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
