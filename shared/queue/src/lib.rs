//! The only crate that accesses SQS and EventBridge: the form of every job, sending, and handling
//! batches job by job.
//!
//! There are two backends: SQS in the cloud, and a durable local engine that `infra/local` runs,
//! which hands workers real SQS events.

mod account;
mod batch;
mod bus;
mod client;
mod event_batch;
mod inbound;
mod insights;
mod job;
mod local;
mod queue;
mod requeue;
mod ses_receipt;
mod sns;
mod webhook_retry;

pub use account::account_of;
pub use batch::{BatchResult, Disposition, each, gather};
pub use bus::{Bus, BusEvent};
pub use client::QueueError;
pub use event_batch::EventBatch;
pub use inbound::{BounceMail, Inbound, Judged, Scored};
pub use insights::InsightsQuestion;
pub use job::{Job, JobBody, JobError, LARGEST_INLINE, Packed, Packing, packed, unpack, unpacked};
pub use local::{DeadJob, DeadJobs, EngineCommand, Local, QuietWatch, ReceivedMessage};
pub use queue::{LONGEST_DELAY, Queue};
pub use requeue::{RETURNS, SUSPECT, handle_sqs, is_repeat};
pub use ses_receipt::{SesReceipt, SesVerdict};
pub use sns::SnsContent;
pub use webhook_retry::{Retry, WebhookRetry};

pub use aws_lambda_events::event::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
