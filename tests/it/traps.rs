//! Each trap of API facts, section 9: what Posthaste does where users of the service fell in, and
//! the test that shows it.

use std::fs;
use std::path::Path;

struct Trap {
    number: u8,
    /// What happens here.
    here: &'static str,
    /// The file and the function of each test.
    shown: &'static [(&'static str, &'static str)],
}

const TRAPS: &[Trap] = &[
    trap(
        1,
        "a name with a comma or semicolon is quoted, never split",
        &[
            (
                "functions/mail-send/tests/it/traps.rs",
                "trap_1_a_name_with_a_comma_stays_one_name",
            ),
            (
                "tests/it/journeys/send_now.rs",
                "each_recipient_gets_one_copy_and_blind_copies_stay_blind",
            ),
        ],
    ),
    trap(
        2,
        "a custom argument that is no string: one `Bad Request`, field null",
        &[(
            "functions/mail-send/tests/it/types.rs",
            "a_value_that_is_no_string_where_strings_are_due_is_one_bad_request",
        )],
    ),
    trap(
        3,
        "the same for a substitution",
        &[(
            "functions/mail-send/tests/it/types.rs",
            "a_value_that_is_no_string_where_strings_are_due_is_one_bad_request",
        )],
    ),
    trap(
        4,
        "a null personalization has a wrong type",
        &[(
            "functions/mail-send/tests/it/types.rs",
            "wrong_types_are_named",
        )],
    ),
    trap(
        5,
        "an address twice in one envelope is refused and named",
        &[(
            "functions/mail-send/tests/it/rules.rs",
            "each_rule_has_its_message_and_field",
        )],
    ),
    trap(
        6,
        "whatever the case of its letters",
        &[(
            "functions/mail-send/tests/it/rules.rs",
            "each_rule_has_its_message_and_field",
        )],
    ),
    trap(
        7,
        "an envelope needs a `to`",
        &[(
            "functions/mail-send/tests/it/rules.rs",
            "each_rule_has_its_message_and_field",
        )],
    ),
    trap(
        8,
        "two braces escape in the subject too, three do not",
        &[
            (
                "shared/render/src/template/tests/values.rs",
                "double_braces_escape_and_triple_braces_do_not",
            ),
            (
                "tests/it/journeys/templates.rs",
                "each_envelope_gets_its_own_data",
            ),
        ],
    ),
    trap(
        9,
        "a helper inside `if` is refused when the template is saved, not ignored when it is sent",
        &[(
            "shared/render/src/template/tests/bounds.rs",
            "helpers_that_are_unknown_are_refused",
        )],
    ),
    trap(
        10,
        "`equals` compares 1 and \"1\" as equal",
        &[(
            "shared/render/tests/it/handlebars.rs",
            "templates_render_as_the_original_renders_them",
        )],
    ),
    trap(
        11,
        "the outer names are seen inside a comparing block",
        &[(
            "shared/render/src/template/tests/blocks.rs",
            "the_outer_context_stays_visible_inside_comparing_blocks",
        )],
    ),
    trap(
        12,
        "`text/calendar; method=REQUEST` passes in exactly this form",
        &[
            (
                "functions/mail-send/tests/it/traps.rs",
                "trap_12_an_invitation_keeps_its_method",
            ),
            (
                "functions/mail-send/tests/it/rules.rs",
                "each_rule_has_its_message_and_field",
            ),
        ],
    ),
    trap(
        13,
        "a text file in UTF-8 says so",
        &[(
            "shared/mime/tests/it/golden.rs",
            "every_sample_gives_the_reviewed_bytes",
        )],
    ),
    trap(
        14,
        "a file name may have any letters",
        &[
            (
                "functions/mail-send/tests/it/traps.rs",
                "trap_14_a_filename_may_have_any_letters",
            ),
            (
                "shared/mime/tests/it/laws.rs",
                "filenames_survive_in_both_places",
            ),
        ],
    ),
    trap(
        15,
        "brackets around a content id are not doubled",
        &[(
            "functions/mail-send/tests/it/traps.rs",
            "traps_15_and_16_a_content_id_loses_its_brackets_and_sets_no_disposition",
        )],
    ),
    trap(
        16,
        "a content id alone makes no file inline",
        &[(
            "functions/mail-send/tests/it/traps.rs",
            "traps_15_and_16_a_content_id_loses_its_brackets_and_sets_no_disposition",
        )],
    ),
    trap(
        17,
        "a `data:` prefix is no base64",
        &[(
            "functions/mail-send/tests/it/rules.rs",
            "each_rule_has_its_message_and_field",
        )],
    ),
    trap(
        18,
        "a file's type need not be a MIME type",
        &[(
            "functions/mail-send/tests/it/traps.rs",
            "trap_18_an_attachment_type_need_not_be_a_mime_type",
        )],
    ),
    trap(
        19,
        "an empty content is refused, with a template too",
        &[(
            "functions/mail-send/tests/it/rules.rs",
            "each_rule_has_its_message_and_field",
        )],
    ),
    trap(
        20,
        "an empty subject is refused",
        &[(
            "functions/mail-send/tests/it/rules.rs",
            "each_rule_has_its_message_and_field",
        )],
    ),
    trap(
        21,
        "a local part in any script goes by SMTPUTF8, or is dropped as `Invalid` and told",
        &[
            (
                "tests/it/journeys/foreign_names.rs",
                "a_foreign_local_part_goes_out_where_the_relay_takes_it",
            ),
            (
                "tests/it/journeys/foreign_names.rs",
                "where_the_relay_does_not_take_it_it_is_dropped_and_told",
            ),
        ],
    ),
    trap(
        22,
        "a space in a local part is refused at once",
        &[(
            "functions/mail-send/tests/it/traps.rs",
            "traps_21_and_22_letters_of_any_script_pass_and_spaces_do_not",
        )],
    ),
    trap(
        23,
        "the bytes that are signed are the bytes that are posted",
        &[(
            "shared/webhook/src/sign/tests.rs",
            "every_signature_verifies_and_holds_only_for_its_bytes",
        )],
    ),
    trap(
        24,
        "the line ends between events are part of the layout",
        &[(
            "shared/webhook/src/batch.rs",
            "every_event_is_followed_by_cr_lf_inside_one_array",
        )],
    ),
    trap(
        25,
        "an event keeps its id on every retry",
        &[(
            "functions/webhook-fanout/tests/it/retries.rs",
            "a_failed_post_is_tried_again_with_the_same_bytes",
        )],
    ),
    trap(
        26,
        "a category comes as it was sent, a text or an array",
        &[(
            "shared/webhook/src/wire/tests.rs",
            "a_category_keeps_the_shape_it_was_sent_in",
        )],
    ),
    trap(
        27,
        "`sg_message_id` begins with the `X-Message-Id`",
        &[(
            "tests/it/journeys/webhook_answers.rs",
            "an_event_begins_with_the_id_of_its_request",
        )],
    ),
    trap(
        28,
        "events may come in any order; each says when it happened",
        &[(
            "functions/webhook-fanout/tests/it/news.rs",
            "events_arrive_as_one_post_in_the_published_layout",
        )],
    ),
    trap(
        29,
        "mail/send answers with the headers of its limit",
        &[(
            "shared/http/tests/it/limits.rs",
            "every_answer_carries_the_three_headers",
        )],
    ),
    trap(
        30,
        "mail on behalf of a subuser is the subuser's",
        &[(
            "functions/mail-send/tests/it/traps.rs",
            "trap_30_mail_on_behalf_of_a_subuser_is_the_subusers",
        )],
    ),
    trap(
        31,
        "what is no key gets the text that clients look for",
        &[(
            "shared/http/tests/it/callers.rs",
            "the_mail_endpoint_refuses_in_its_own_words_and_shape",
        )],
    ),
    trap(
        32,
        "PUT of a key answers with its scopes",
        &[(
            "functions/api-keys/tests/it/keys.rs",
            "put_changes_name_and_scopes_and_patch_the_name",
        )],
    ),
    trap(
        33,
        "a key holds the scopes it was given and no others",
        &[(
            "functions/api-keys/tests/it/keys.rs",
            "put_changes_name_and_scopes_and_patch_the_name",
        )],
    ),
    trap(
        34,
        "received text is posted in its bytes, and `charsets` names what they are",
        &[(
            "shared/mime/tests/it/corpus.rs",
            "every_mail_becomes_its_form",
        )],
    ),
    trap(
        35,
        "a mail that a receiver refuses is kept for a replay",
        &[(
            "functions/inbound-parse/tests/it/fate.rs",
            "a_refusal_or_a_redirect_ends_it_at_once_and_a_replay_brings_it_back",
        )],
    ),
    trap(
        36,
        "received mail may have 30 MB",
        &[(
            "tests/it/journeys/inbound.rs",
            "a_mail_over_30_megabytes_is_refused_and_the_next_is_taken",
        )],
    ),
    trap(
        37,
        "links of the text part are tracked only where that is asked for",
        &[
            (
                "shared/render/tests/it/links.rs",
                "text_links_are_tracked_only_on_request",
            ),
            (
                "shared/render/tests/it/links.rs",
                "links_that_are_left_alone",
            ),
        ],
    ),
    trap(
        38,
        "a quote in a link stays in it, and a link in a query stays where it is",
        &[(
            "shared/render/tests/it/links.rs",
            "a_quote_in_a_link_stays_inside_its_attribute",
        )],
    ),
    trap(
        39,
        "ten megabytes of files are no trouble",
        &[(
            "functions/mail-send/tests/it/traps.rs",
            "traps_39_and_40_ten_megabytes_pass_and_thirty_are_told_in_our_shape",
        )],
    ),
    trap(
        40,
        "what is too large is told in the contract's shape",
        &[
            (
                "functions/mail-send/tests/it/traps.rs",
                "traps_39_and_40_ten_megabytes_pass_and_thirty_are_told_in_our_shape",
            ),
            (
                "tests/it/limits/body.rs",
                "a_body_may_be_so_large_and_one_byte_more_is_told_in_our_shape",
            ),
        ],
    ),
    trap(
        41,
        "a charset beside `application/json` is taken, another type is not",
        &[(
            "functions/mail-send/tests/it/edge.rs",
            "only_json_in_utf_8_is_read",
        )],
    ),
    trap(
        42,
        "`reply_to` as a text or an array has a wrong type",
        &[(
            "functions/mail-send/tests/it/types.rs",
            "wrong_types_are_named",
        )],
    ),
    trap(
        43,
        "so has `from` as a text",
        &[(
            "functions/mail-send/tests/it/types.rs",
            "wrong_types_are_named",
        )],
    ),
    trap(
        44,
        "several addresses to answer to come from `reply_to_list`",
        &[(
            "functions/mail-send/tests/it/traps.rs",
            "trap_44_several_reply_addresses_come_from_the_list",
        )],
    ),
    trap(
        45,
        "copies past the allowance are dropped one by one, and each is told",
        &[(
            "functions/delivery/tests/it/credits.rs",
            "what_is_past_the_allowance_is_dropped_and_says_so",
        )],
    ),
];

const fn trap(
    number: u8,
    here: &'static str,
    shown: &'static [(&'static str, &'static str)],
) -> Trap {
    Trap {
        number,
        here,
        shown,
    }
}

#[test]
fn each_trap_is_shown_by_tests_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (at, trap) in (1..).zip(TRAPS) {
        assert_eq!(trap.number, at, "{}", trap.here);
        assert!(!trap.shown.is_empty(), "{at}: {}", trap.here);
        for (file, test) in trap.shown {
            let text = fs::read_to_string(root.join(file)).expect(file);
            let head = format!("fn {test}(");
            let place = text
                .find(&head)
                .unwrap_or_else(|| panic!("{at}: no {test} in {file}"));
            let (before, _) = text.split_at(place);
            let last = before
                .rsplit("#[")
                .find(|a| a.starts_with("test") || a.starts_with("tokio::test"));
            assert!(last.is_some(), "{at}: {test} is no test");
        }
    }
    assert_eq!(TRAPS.len(), 45);
}
