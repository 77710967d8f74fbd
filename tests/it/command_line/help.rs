//! What `--help` says, of the binary and of each command.

use super::posthaste;

/// The help of a command and of those below it, each under its line.
fn helps(words: &[String], all: &mut String) {
    let args: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let out = posthaste(&args);
    let help = String::from_utf8(out.stdout).expect("text");
    all.push_str(&format!("# posthaste {}\n\n{help}\n", args.join(" ")));
    let Some((_, rest)) = help.split_once("Commands:\n") else {
        return;
    };
    let listed = rest.split("\n\n").next().unwrap_or_default().lines();
    // A help of several lines goes on further to the right.
    let listed = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = listed.filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|name| *name != "help") {
        helps(&[words, &[name.to_owned()]].concat(), all);
    }
}

/// With `UPDATE_GOLDEN` the copy is written instead.
#[test]
fn every_help_is_as_it_was_read() {
    let mut all = String::new();
    helps(&[], &mut all);
    let all: Vec<&str> = all.trim_end().lines().map(str::trim_end).collect();
    let all = all.join("\n") + "\n";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/it/command_line/help.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(file, &all).expect("written");
    }
    let golden = std::fs::read_to_string(file).unwrap_or_default();
    let differs = golden
        .lines()
        .zip(all.lines())
        .find(|(old, new)| old != new);
    assert!(
        golden == all,
        "tests/it/command_line/help.txt differs, first in {differs:?}: read the new help, and write the copy with \
         UPDATE_GOLDEN=1"
    );
}

#[test]
fn the_help_names_every_flag() {
    let out = posthaste(&["--help"]);
    let help = String::from_utf8_lossy(&out.stdout).into_owned();
    for flag in [
        "--host",
        "--port",
        "--mailbox-port",
        "--smtp-port",
        "--submission-port",
        "--submission-open",
        "--no-inbound-dns",
        "--data",
        "--memory",
        "--relay",
        "--tls-cert",
        "--tls-key",
    ] {
        assert!(help.contains(flag), "{flag}");
    }
}

/// Every command of the operator, with what its own help must name.
const COMMANDS: [(&str, &[&str]); 22] = [
    (
        "account create",
        &[
            "<USERNAME>",
            "--email",
            "--region",
            "--subuser-of",
            "--customer-of",
            "--key-name",
            "--no-key",
            "--if-absent",
        ],
    ),
    ("account list", &[]),
    ("account delete", &["<ACCOUNT>", "--yes"]),
    ("account show", &["<ACCOUNT>"]),
    ("account suspend", &["<ACCOUNT>"]),
    ("account resume", &["<ACCOUNT>"]),
    (
        "account erase",
        &["<ACCOUNT>", "<ADDRESS>", "--suppressions"],
    ),
    ("account gzip", &["<ACCOUNT>", "on, off"]),
    (
        "key create",
        &["<ACCOUNT>", "--name", "--scopes", "--billing"],
    ),
    ("key list", &["<ACCOUNT>"]),
    ("key revoke", &["<ACCOUNT>", "<KEY_ID>"]),
    ("access show", &["<ACCOUNT>"]),
    ("access recover", &["<ACCOUNT>"]),
    ("credits show", &["<ACCOUNT>"]),
    ("credits set", &["<ACCOUNT>", "<TOTAL>", "--every"]),
    ("credits unlimited", &["<ACCOUNT>"]),
    ("dead-letters list", &["<ACCOUNT>", "--webhook", "--since"]),
    ("dead-letters replay", &["<ACCOUNT>", "--until"]),
    ("dead-letters jobs", &[]),
    ("dead-letters replay-jobs", &["Ids of the jobs", "--all"]),
    ("ses preflight", &[]),
    ("ses", &["preflight"]),
];

#[test]
fn every_command_of_the_operator_explains_itself() {
    let groups = posthaste(&["--help"]);
    let groups = String::from_utf8_lossy(&groups.stdout).into_owned();
    for (words, wanted) in COMMANDS {
        let group = words.split(' ').next().expect("a word");
        assert!(groups.contains(&format!("  {group} ")), "{groups}");
        let mut args: Vec<&str> = words.split(' ').collect();
        args.push("--help");
        let out = posthaste(&args);
        assert!(out.status.success(), "{words}");
        let help = String::from_utf8_lossy(&out.stdout).into_owned();
        let everywhere = [
            "--data",
            "--aws",
            "--table",
            "--json",
            "Exit codes: 0 done, 1 ",
        ];
        for word in wanted.iter().chain(&everywhere) {
            assert!(
                help.contains(word),
                "{words} does not explain {word}: {help}"
            );
        }
        // The first line says what it does.
        let first = help.lines().next().unwrap_or_default();
        assert!(first.len() > 10, "{words}: {help}");
    }
    // A list that is not whole would let a new command pass.
    let listed = |group: &str| {
        let out = posthaste(&[group, "--help"]);
        let help = String::from_utf8_lossy(&out.stdout).into_owned();
        let (_, rest) = help.split_once("Commands:\n").expect("a list of commands");
        let (commands, _) = rest.split_once("\n\n").expect("an end of the list");
        let names = commands
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        let names = names.filter(|name| *name != "help");
        names
            .map(|name| format!("{group} {name}"))
            .collect::<Vec<_>>()
    };
    for group in ["account", "key", "access", "credits", "dead-letters", "ses"] {
        for command in listed(group) {
            let known = COMMANDS.iter().any(|(words, _)| *words == command);
            assert!(known, "no test knows `{command}`");
        }
    }
}
