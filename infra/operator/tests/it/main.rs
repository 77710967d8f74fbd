//! The operator's commands, from the command line's words to what the table then holds.

mod accounts;
mod keys;

use clap::Parser;
use posthaste_blob::Blob;
use posthaste_operator::{Command, CommandError, Report, Tools, run};
use posthaste_testkit::{Queues, TestClock, entropy, table};

/// The command line as the binary reads it.
#[derive(Debug, Parser)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

pub(crate) struct TestApp {
    pub(crate) tools: Tools,
    pub(crate) hand: TestClock,
    pub(crate) queues: Queues,
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        let (hand, queues) = (TestClock::default(), Queues::start());
        let tools = Tools {
            store: table().await,
            blob: Some(Blob::memory()),
            clock: hand.clock(),
            entropy: entropy(),
            events: Some(queues.queue("events")),
            retries: Some(queues.queue("retries")),
            dead_jobs: None,
            bus: None,
            ses: None,
            resolver: None,
            elsewhere: None,
            public_url: None,
        };
        Self {
            tools,
            hand,
            queues,
        }
    }

    /// Runs `posthaste <words>`.
    pub(crate) async fn run(&self, words: &str) -> Result<Report, CommandError> {
        let words = std::iter::once("posthaste").chain(words.split_whitespace());
        let line = Line::try_parse_from(words).expect("a command line");
        run(&line.command, &self.tools).await
    }

    pub(crate) async fn exit_code(&self, words: &str) -> u8 {
        self.run(words)
            .await
            .map_or_else(|failure| failure.exit_code(), |_| 0)
    }
}

#[test]
fn the_help_is_complete_and_a_wrong_line_is_refused() {
    use clap::CommandFactory as _;
    Line::command().debug_assert();
    for wrong in [
        "posthaste account",
        "posthaste account create",
        "posthaste account create a --region mars",
        "posthaste account create a --subuser-of b --customer-of c",
        "posthaste account gzip a maybe",
        "posthaste key create a --billing --scopes mail.send",
        "posthaste credits set a 0",
        "posthaste credits set a 5 --every hour",
        "posthaste credits set a -1",
    ] {
        let error = Line::try_parse_from(wrong.split(' ')).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{wrong}");
    }
    let error = Line::try_parse_from("posthaste credits set a -1".split(' ')).unwrap_err();
    assert!(error.to_string().contains("-1 is not in 1.."), "{error}");
}

#[test]
fn every_argument_has_a_help() {
    use clap::CommandFactory as _;
    fn check(command: &clap::Command, path: &str) {
        for argument in command.get_arguments() {
            let help = argument.get_help().map(ToString::to_string);
            assert!(
                help.is_some_and(|help| help.len() > 5),
                "{path}: {}",
                argument.get_id()
            );
        }
        for one in command.get_subcommands() {
            check(one, &format!("{path} {}", one.get_name()));
        }
    }
    check(&Line::command(), "posthaste");
}
