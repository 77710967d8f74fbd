//! Events that webhooks did not accept within the retry window: list and replay. For jobs that a
//! queue gave up, see `dead_jobs`.

use std::time::Duration;

use clap::{Args, Subcommand};
use posthaste_model::{AccountId, Timestamp, WebhookId};
use posthaste_queue::{Queue, WebhookRetry};
use posthaste_store::{DeadLetter, DeadLetterFilter, StoredRow};
use serde_json::{Value, json};

use crate::{CommandError, Report, Tools, account_lookup, dead_jobs};

/// Letters handled at a time.
const PAGE: usize = 100;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the events that were given up
    List(DeadLetterArgs),
    /// Post the events that were given up again
    Replay(DeadLetterArgs),
    /// List the jobs that were given up: tried too often, or the process ended with them each time
    Jobs,
    /// Put jobs that were given up back on their queues
    ReplayJobs(dead_jobs::DeadJobArgs),
}

#[derive(Debug, Args)]
pub struct DeadLetterArgs {
    /// Account: its id, or its user name where only one has it
    account: String,
    /// Only of this webhook
    #[arg(long, value_name = "ID")]
    webhook: Option<String>,
    /// Only events that happened at or after this second (Unix time)
    #[arg(long, value_name = "SECOND", allow_negative_numbers = true)]
    since: Option<i64>,
    /// Only events that happened at or before this second (Unix time)
    #[arg(long, value_name = "SECOND", allow_negative_numbers = true)]
    until: Option<i64>,
}

impl DeadLetterArgs {
    fn wanted(&self) -> Result<DeadLetterFilter, CommandError> {
        let webhook = self.webhook.as_deref().map(WebhookId::parse).transpose();
        let unknown = |_| CommandError::NotFound("that is no webhook id".to_owned());
        Ok(DeadLetterFilter {
            since: self.since.map(Timestamp),
            until: self.until.map(Timestamp),
            webhook: webhook.map_err(unknown)?,
            after: None,
            limit: PAGE,
        })
    }
}

pub(crate) async fn run(command: &Command, tools: &Tools) -> Result<Report, CommandError> {
    match command {
        Command::List(choice) => list(choice, tools).await,
        Command::Replay(choice) => replay(choice, tools).await,
        Command::Jobs => dead_jobs::list(tools).await,
        Command::ReplayJobs(choice) => dead_jobs::replay(choice, tools).await,
    }
}

async fn list(choice: &DeadLetterArgs, tools: &Tools) -> Result<Report, CommandError> {
    let account = account_lookup::find(tools, &choice.account).await?.id;
    let mut wanted = choice.wanted()?;
    let mut letters = Vec::new();
    while let Some(page) = page(tools, &account, &mut wanted).await? {
        letters.extend(page.into_iter().map(|row| row.value));
    }
    let row = |letter: &DeadLetter| {
        [
            letter.webhook.to_string(),
            letter.events.to_string(),
            letter.first.iso(),
            letter.died_at.iso(),
            letter.reason.clone(),
        ]
    };
    let rows: Vec<_> = letters.iter().map(row).collect();
    let head = ["WEBHOOK", "EVENTS", "FIRST", "GIVEN UP", "LAST ANSWER"];
    let json = |letter: &DeadLetter| {
        json!({"webhook_id": letter.webhook, "events": letter.events, "first": letter.first,
            "last": letter.last, "gave_up_at": letter.died_at, "attempts": letter.attempts,
            "reason": letter.reason})
    };
    let json: Value = letters.iter().map(json).collect();
    Ok(Report::new(Report::table(head, &rows), json))
}

/// The next page, after which `wanted` asks for the one behind it.
async fn page(
    tools: &Tools,
    account: &AccountId,
    wanted: &mut DeadLetterFilter,
) -> Result<Option<Vec<StoredRow<DeadLetter>>>, CommandError> {
    let rows = tools.store.dead_letters(account, wanted).await?;
    let Some(last) = rows.last() else {
        return Ok(None);
    };
    wanted.after = Some(last.key.sk.clone());
    Ok(Some(rows))
}

async fn replay(choice: &DeadLetterArgs, tools: &Tools) -> Result<Report, CommandError> {
    let account = account_lookup::find(tools, &choice.account).await?.id;
    let mut wanted = choice.wanted()?;
    let Some(queue) = &tools.retries else {
        let why = "name the queue of undelivered events to replay them";
        return Err(CommandError::Refused(why.to_owned()));
    };
    // A letter that fails again returns while this runs; each is handled only once.
    let (mut events, mut letters) = (0_u64, 0_u64);
    while let Some(page) = page(tools, &account, &mut wanted).await? {
        for row in page {
            send(tools, queue, &row).await?;
            events += u64::from(row.value.events);
            letters += 1;
        }
    }
    let text = format!("{events} events of account {account} are on their way again");
    let json = json!({"account": account, "letters": letters, "events": events});
    Ok(Report::new(text, json))
}

/// On the queue first, then forgotten: a failure between the two repeats and does not lose.
async fn send(
    tools: &Tools,
    queue: &Queue,
    row: &StoredRow<DeadLetter>,
) -> Result<(), CommandError> {
    let unreadable = |e: posthaste_queue::JobError| CommandError::Refused(e.to_string());
    let mut undelivered = WebhookRetry::from_text(&row.value.message).map_err(unreadable)?;
    undelivered.retry.attempt = 0;
    undelivered.retry.not_before = tools.clock.now();
    let texts = undelivered.to_texts().map_err(unreadable)?;
    let messages = texts
        .into_iter()
        .map(|text| (text, Duration::ZERO))
        .collect();
    queue.send_all(messages).await?;
    tools
        .store
        .delete_dead_letters(std::slice::from_ref(&row.key))
        .await?;
    Ok(())
}
