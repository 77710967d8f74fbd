//! Jobs that the queues of a data folder gave up: list and replay.

use clap::Args;
use posthaste_queue::{DeadJob, DeadJobs};
use serde_json::{Value, json};

use crate::{CommandError, Report, Tools};

#[derive(Debug, Args)]
pub struct DeadJobArgs {
    /// Ids of the jobs, as `jobs` lists them
    #[arg(required_unless_present = "all", allow_negative_numbers = true)]
    ids: Vec<i64>,
    /// All that there are
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

fn letters(tools: &Tools) -> Result<&DeadJobs, CommandError> {
    tools.dead_jobs.as_ref().ok_or_else(|| {
        let why = "a deployed stack keeps them in queues of their own: redrive those with \
            `aws sqs start-message-move-task`";
        CommandError::Refused(why.to_owned())
    })
}

pub(crate) async fn list(tools: &Tools) -> Result<Report, CommandError> {
    let jobs = letters(tools)?.list().await?;
    let why = |job: &DeadJob| match job.deaths {
        0 => format!("was tried {} times", job.receives),
        deaths => format!("ended the process {deaths} times"),
    };
    let row = |job: &DeadJob| {
        [
            job.id.to_string(),
            job.queue.clone(),
            job.at.seconds().iso(),
            job.bytes.to_string(),
            why(job),
        ]
    };
    let rows: Vec<_> = jobs.iter().map(row).collect();
    let text = Report::table(["ID", "QUEUE", "GIVEN UP", "BYTES", "WHY"], &rows);
    let json = |job: &DeadJob| {
        json!({"id": job.id, "queue": job.queue, "gave_up_at": job.at.seconds(), "bytes": job.bytes,
            "receives": job.receives, "deaths": job.deaths})
    };
    let json: Value = jobs.iter().map(json).collect();
    Ok(Report::new(text, json))
}

pub(crate) async fn replay(choice: &DeadJobArgs, tools: &Tools) -> Result<Report, CommandError> {
    let letters = letters(tools)?;
    let ids = if choice.all {
        letters.list().await?.iter().map(|job| job.id).collect()
    } else {
        choice.ids.clone()
    };
    let wanted = ids.len();
    let replayed = letters.replay(ids).await?;
    if replayed < wanted {
        let why =
            format!("{replayed} of {wanted} jobs are on their queues again; no others are there");
        return Err(CommandError::NotFound(why));
    }
    let text = format!("{replayed} jobs are on their queues again");
    Ok(Report::new(text, json!({"jobs": replayed})))
}
