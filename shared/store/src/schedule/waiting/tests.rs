use super::*;

/// The custom argument `order`; none for an empty value.
fn order(value: &str) -> StoredArgs {
    let some = (!value.is_empty()).then(|| ("order".to_owned(), value.to_owned()));
    StoredArgs(some.into_iter().collect())
}

#[test]
fn what_is_left_of_a_listing_says_the_same_of_each_copy() {
    let copy =
        |(n, to, from, subject, args): (u32, &str, &str, Option<&str>, Option<&str>)| WaitingCopy {
            recipient: n,
            to: to.to_owned(),
            from: from.to_owned(),
            subject: subject.map(str::to_owned),
            args: args.map(order),
        };
    let copies = [
        (
            0,
            "ann@example.com",
            "a@example.com",
            Some("one"),
            Some("1"),
        ),
        (1, "bob@example.com", "", None, None),
        (
            2,
            "Ann@Example.com",
            "b@example.com",
            Some("two"),
            Some("2"),
        ),
        (3, "cat@example.com", "", Some(""), None),
        (4, "ann@example.com", "", None, Some("")),
        (5, "dan@example.com", "", None, None),
    ];
    let whole = WaitingCopies {
        message: MessageId::from_bytes([1; 16]),
        piece: 0,
        accepted_at: Timestamp(100),
        template_id: None,
        asm_group_id: None,
        categories: Vec::new(),
        key: None,
        client_ip: Some("192.0.2.1".to_owned()),
        args: order("all"),
        copies: copies.map(copy).to_vec(),
    };
    let shown = |row: &WaitingCopies| -> Vec<_> {
        let each = row.each().map(|own| {
            let (copy, args) = (own.copy, own.args);
            format!(
                "{} {} {} {} {args:?}",
                copy.recipient, copy.to, own.from, own.subject
            )
        });
        each.filter(|line| !line.to_lowercase().contains("ann@"))
            .collect()
    };
    let rest = WaitingCopies {
        copies: whole.without(&BTreeSet::from(["ann@example.com".to_owned()])),
        ..whole.clone()
    };
    assert_eq!(rest.copies.len(), 3);
    assert_eq!(shown(&rest), shown(&whole));
    assert_eq!(
        whole
            .without(&BTreeSet::from(["eve@example.com".to_owned()]))
            .len(),
        6
    );
}

#[test]
fn a_listing_is_cut_into_rows_that_say_the_same() {
    let copy = |n: u32| WaitingCopy {
        recipient: n,
        to: format!("{n:0300}@example.com"),
        from: if n == 0 {
            "me@example.com".to_owned()
        } else {
            String::new()
        },
        subject: n.is_multiple_of(150).then(|| format!("part {n}")),
        args: n.is_multiple_of(70).then(|| order(&format!("{n}"))),
    };
    let whole = WaitingCopies {
        message: MessageId::from_bytes([1; 16]),
        piece: 0,
        accepted_at: Timestamp(100),
        template_id: None,
        asm_group_id: Some(3),
        categories: vec!["news".to_owned()],
        key: None,
        client_ip: None,
        args: order("all"),
        copies: (0..1_000).map(copy).collect(),
    };
    let rows = whole.rows();
    assert!((10..20).contains(&rows.len()), "{}", rows.len());
    let shown = |row: &WaitingCopies| -> Vec<_> {
        let each = row.each();
        each.map(|own| {
            (
                own.copy.recipient,
                own.copy.to.clone(),
                own.from.to_owned(),
                own.subject.to_owned(),
                own.args.clone(),
            )
        })
        .collect()
    };
    let parts: Vec<_> = rows.iter().flat_map(shown).collect();
    assert_eq!(parts, shown(&whole));
    assert_eq!(parts[299].3, "part 150");
    assert_eq!(parts[299].4, order("280"));
    let same = |row: &WaitingCopies| row.categories == whole.categories && row.args == whole.args;
    assert!(rows.iter().all(same));
}

#[test]
fn custom_arguments_count_towards_the_room_of_a_row() {
    let copy = |n: u32| WaitingCopy {
        recipient: n,
        to: format!("{n}@example.com"),
        from: String::new(),
        subject: None,
        args: Some(order(&format!("{n:09000}"))),
    };
    let whole = WaitingCopies {
        message: MessageId::from_bytes([1; 16]),
        piece: 0,
        accepted_at: Timestamp(100),
        template_id: None,
        asm_group_id: None,
        categories: Vec::new(),
        key: None,
        client_ip: None,
        args: StoredArgs::default(),
        copies: (0..100).map(copy).collect(),
    };
    let rows = whole.rows();
    let most = rows.iter().map(|row| row.copies.len()).max();
    assert_eq!((rows.len(), most), (34, Some(3)));
}

/// Rows of the release before have neither custom arguments nor the client's address.
#[test]
fn a_row_of_before_is_read() {
    let old = r#"{"message":"AAAAAAAAAAAAAAAAAAAAAA","piece":0,"accepted_at":100,
        "copies":[{"n":0,"to":"ann@example.com","from":"a@example.com","subject":"one"}]}"#;
    let row: WaitingCopies = serde_json::from_str(old).unwrap();
    let shown: Vec<_> = row
        .each()
        .map(|own| (own.subject, own.args.0.len()))
        .collect();
    assert_eq!((row.client_ip.as_deref(), shown), (None, vec![("one", 0)]));
}
