//! What a command line is read as.

use super::*;

#[test]
fn every_flag_has_a_variable_of_its_name() {
    let line = Cli::command();
    let flags = line
        .get_arguments()
        .filter(|flag| flag.get_long().is_some());
    let mut seen = 0;
    for flag in flags {
        let long = flag.get_long().unwrap_or_default();
        if ["help", "version"].contains(&long) {
            continue;
        }
        let name = format!("POSTHASTE_{}", long.to_uppercase().replace('-', "_"));
        assert_eq!(flag.get_env(), Some(name.as_ref()), "--{long}");
        assert!(flag.is_hide_env_values_set(), "--{long} shows its value");
        assert!(flag.get_help().is_some(), "--{long}");
        seen += 1;
    }
    assert!(seen > 25, "{seen}");
}

#[test]
fn the_health_check_asks_where_the_api_is_by_default() {
    let line = ["posthaste", "health"].map(OsString::from);
    let Some(Command::Health(check)) = Cli::read(line).unwrap().command else {
        panic!("another command");
    };
    assert_eq!(check.port, API_PORT);
}

#[test]
fn completions_and_the_manual_name_commands_and_flags() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let script = String::from_utf8(Cli::completions(shell)).unwrap();
        assert!(
            script.contains("mailbox-port") && script.contains("dead-letters"),
            "{shell}"
        );
    }
    let page = String::from_utf8(Cli::manual().unwrap()).unwrap();
    assert!(
        page.starts_with(".ie") || page.contains(".TH posthaste"),
        "{page}"
    );
    assert!(page.contains("mailbox\\-port"), "{page}");
}

fn refused(line: &str) -> String {
    let line = line.split(' ').map(OsString::from);
    let error = Cli::read(line).expect_err("a wrong line");
    assert_eq!(error.exit_code(), 2);
    error.to_string()
}

#[test]
fn a_flag_in_front_of_a_command_is_told_its_place() {
    for (line, tip) in [
        (
            "posthaste --data D account list",
            "posthaste account … --data <DIR>",
        ),
        (
            "posthaste --port 1 --data D run",
            "posthaste run … --port <PORT> --data <DIR>",
        ),
    ] {
        let said = refused(line);
        assert!(said.contains(tip), "{said}");
    }
}

#[test]
fn a_number_that_is_none_is_told_about_as_a_value() {
    for (line, why) in [
        ("--connections-per-address 0", "a number of at least 1"),
        ("--connections-per-address -1", "a number of at least 1"),
        ("--rate-limit -1", "-1 is not in 1.."),
        ("--search-days -1", "-1 is not in 0..=65535"),
        ("--port -1", "-1 is not in 0..=65535"),
        ("--submission-port 65536", "65536 is not in 0..=65535"),
        ("dead-letters list ann --since x", "invalid value 'x'"),
        ("credits set ann -1", "-1 is not in 1.."),
        ("--api-key SG.a.b", "an API key is SG., an id"),
        ("--mailbox-login ann", "a user name, a colon and a password"),
    ] {
        let said = refused(&format!("posthaste {line}"));
        assert!(said.contains(why), "{line}: {said}");
    }
}

#[test]
fn a_path_of_the_mailbox_is_one_that_links_can_have() {
    for (text, path) in [("/mail", "/mail"), ("/a/b-c/", "/a/b-c")] {
        assert_eq!(mailbox_path(text).as_deref(), Ok(path));
    }
    for text in [
        "", "/", "mail", "//mail", "/a//b", "/a b", "/a?b", "/..", "/a/./b", "/ä",
    ] {
        assert!(mailbox_path(text).is_err(), "{text}");
    }
}

#[test]
fn a_wrong_flag_does_not_repeat_its_secret() {
    for (flag, value) in [
        ("--relay", "smtp://user:s3cret/@relay.example"),
        ("--release-relay", "smtp://user:s3cret/@relay.example"),
        ("--api-key", "SG.s3cret"),
        ("--mailbox-login", "s3cret"),
    ] {
        for line in [
            vec!["posthaste".to_owned(), format!("{flag}={value}")],
            vec![
                "posthaste".to_owned(),
                "run".to_owned(),
                format!("{flag}={value}"),
            ],
        ] {
            let error = Cli::read(line.iter().map(OsString::from)).unwrap_err();
            let said = error.to_string();
            assert!(said.contains(flag), "{said}");
            assert!(!said.contains("s3cret"), "{said}");
        }
    }
    let error = Cli::read(["posthaste", "--port=x"].map(OsString::from)).unwrap_err();
    assert!(error.to_string().contains("'x'"), "{error}");
}
