//! What the commands say.

use std::collections::BTreeMap;

use clap::{CommandFactory as _, Subcommand as _};
use posthaste_operator::CommandError;
use posthaste_store::StoreError;

use crate::Cli;

/// The help of each command below `command`, by its full name.
fn helps(command: &clap::Command) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for one in command.get_subcommands() {
        let about = one.get_about().map(ToString::to_string);
        let below = helps(one).into_iter();
        found.extend(below.map(|(name, help)| (format!("{} {name}", one.get_name()), help)));
        found.insert(one.get_name().to_owned(), about.unwrap_or_default());
    }
    found
}

#[test]
fn missing_credentials_and_a_wrong_table_name_their_flag_or_variable() {
    for (cause, wanted) in [
        ("ResourceNotFoundException: no table", "--table"),
        ("other: no credentials found in chain", "AWS_PROFILE"),
        (
            "other: an error occurred while loading credentials: no token",
            "AWS_PROFILE",
        ),
    ] {
        let error = StoreError::Unreachable(cause.to_owned());
        let said = super::of_stack(CommandError::from(error), "mails").to_string();
        assert!(said.contains(wanted), "{cause}: {said}");
        assert!(!said.contains(cause), "{said}");
    }
}

#[test]
fn every_command_keeps_a_help_of_its_own() {
    let found = helps(&Cli::command());
    let own = clap::Command::new("");
    let own = helps(&posthaste_operator::Command::augment_subcommands(own));
    assert!(own.contains_key("account create"), "{own:?}");
    for (name, help) in own {
        assert_eq!(found.get(&name), Some(&help), "{name}");
    }
    let mut seen = BTreeMap::new();
    for (name, help) in &found {
        assert!(!help.is_empty(), "{name} has no help");
        let before = seen.insert(help, name);
        assert!(before.is_none(), "{name} and {before:?} say: {help}");
    }
}
