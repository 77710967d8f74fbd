//! How the file is laid out: a function's parts together, and a table of contents that is true.

use std::collections::BTreeSet;
use std::fs;

use super::read::{Template, root, texts};

#[test]
fn a_function_is_followed_by_its_role_and_its_log_group() {
    let template = Template::read();
    let names: Vec<&str> = template.0["Resources"]
        .as_mapping()
        .unwrap()
        .keys()
        .map(|name| name.as_str().unwrap())
        .collect();
    for (at, name) in names.iter().enumerate() {
        if let Some(stem) = name.strip_suffix("Function") {
            let next = &names[at + 1..at + 3];
            assert_eq!(
                next,
                [format!("{stem}Role"), format!("{stem}Logs")],
                "{name}"
            );
        }
    }
}

#[test]
fn the_table_of_contents_lists_the_sections_in_their_order() {
    let text = fs::read_to_string(root().join("template.yaml")).unwrap();
    let listed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("#   == "))
        .collect();
    let found: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  # == "))
        .collect();
    assert_eq!(listed, found);

    let named: BTreeSet<&str> = found
        .iter()
        .map(|line| line.split_once(": ").unwrap().0)
        .collect();
    for function in Template::read().functions().keys() {
        assert!(
            named.contains(function.as_str()),
            "{function} has no section"
        );
    }
}

/// An alarm stands in the section of the function or the queue that it watches.
#[test]
fn an_alarm_is_beside_what_it_watches() {
    let template = Template::read();
    let text = fs::read_to_string(root().join("template.yaml")).unwrap();
    let sections: Vec<&str> = text.split("\n  # == ").skip(1).collect();
    let section_of = |name: &str| {
        let head = format!("\n  {name}:\n");
        sections.iter().position(|section| section.contains(&head))
    };
    let mut beside = 0;
    for (alarm, watch) in template.of_type("AWS::CloudWatch::Alarm") {
        let resources = template.0["Resources"].as_mapping().unwrap();
        let watched = texts(&watch["Dimensions"]).into_iter();
        let watched = watched.map(|text| text.split('.').next().unwrap().to_owned());
        for name in watched.filter(|name| resources.contains_key(name.as_str())) {
            assert_eq!(section_of(&alarm), section_of(&name), "{alarm}, {name}");
            beside += 1;
        }
    }
    assert!(beside > 10, "{beside} alarms of resources");
}
