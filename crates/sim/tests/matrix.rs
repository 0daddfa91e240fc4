//! The matrix of the promise: every row as a scenario on the simulator and as one short test. This
//! list is the matrix; a row cannot vanish, for each test that it names must be there.

use std::{collections::BTreeSet, fs, path::Path};

/// Row, scenario (file of `tests/scenarios`, test), short test (file of `crates`, test).
type Row = (
    &'static str,
    (&'static str, &'static str),
    (&'static str, &'static str),
);

const MARKER: &str = "proto/src/tests/marker.rs";
const LIFE: &str = "proto/src/tests/life.rs";
const MODE: &str = "proto/src/tests/mode.rs";
const POLICY: &str = "policy/src/verdict/tests/matrix.rs";
const AGREEMENT: &str = "policy/src/verdict/tests/agreement.rs";
const ENGINE: &str = "engine/tests/stories/main.rs";
const HINT: &str = "engine/tests/stories/hint.rs";

const BOUND_MARKER: (&str, &str) = (
    MARKER,
    "marker_of_another_session_topic_requester_or_request_is_rejected",
);

/// Rows about providers and what they send.
const PROVIDERS: &[Row] = &[
    (
        "provider restarts mid-stream",
        ("provider", "provider_restarts_mid_stream"),
        (LIFE, "provider_restarts_mid_stream"),
    ),
    (
        "provider dies after 400 of 1000",
        ("main", "provider_dies_at_400_of_1000"),
        (LIFE, "provider_dies_after_400_of_1000"),
    ),
    (
        "provider never answers",
        ("slow", "provider_never_answers"),
        (
            ENGINE,
            "a_provider_that_never_answers_is_degraded_at_its_deadline",
        ),
    ),
    (
        "provider answers, then stalls",
        ("slow", "provider_answers_then_stalls"),
        (
            "policy/src/deadline.rs",
            "stalled_stream_is_silent_half_a_second_later",
        ),
    ),
    (
        "one entry each 400 ms for ever",
        ("slow", "one_entry_each_400_ms"),
        ("policy/src/deadline.rs", "steady_stream_is_never_silent"),
    ),
    (
        "never-ending stream",
        ("provider", "never_ending_stream"),
        (LIFE, "never_ending_stream"),
    ),
    (
        "two providers disagree",
        ("provider", "two_providers_disagree"),
        (AGREEMENT, "two_providers_disagree"),
    ),
    (
        "majority disagrees with the best rank",
        ("provider", "majority_disagrees_with_the_best_rank"),
        (AGREEMENT, "majority_disagrees_with_the_best_rank"),
    ),
    (
        "replay only",
        ("provider", "replay_only"),
        (POLICY, "replay_only_is_never_complete"),
    ),
    (
        "archive appears later",
        ("main", "replay_first_then_the_archive_appears"),
        (POLICY, "archive_that_appears_later_completes"),
    ),
    (
        "archive dies, replay remains",
        ("provider", "archive_dies_replay_remains"),
        (POLICY, "replay_remains_when_the_archive_dies"),
    ),
    (
        "empty topic",
        ("main", "empty_topic_is_synced_at_once"),
        (MODE, "an_empty_topic_ends_in_one_round_trip"),
    ),
    (
        "equal topic",
        ("provider", "equal_topic"),
        (
            MODE,
            "an_equal_topic_ends_in_one_round_trip_of_constant_bytes",
        ),
    ),
    (
        "no network, then network",
        ("main", "no_network_then_network"),
        (POLICY, "no_network_then_network"),
    ),
];

/// Rows about markers.
const MARKERS: &[Row] = &[
    (
        "marker before entries",
        ("marker", "case_wi_07_marker_before_entries"),
        (MARKER, "marker_before_entries_is_parked_until_they_land"),
    ),
    (
        "marker after all",
        ("marker", "marker_after_all"),
        (MARKER, "marker_after_all_entries_drains"),
    ),
    (
        "marker with no entries",
        ("marker", "marker_with_no_entries"),
        (
            MARKER,
            "marker_with_no_entries_states_that_nothing_was_sent",
        ),
    ),
    (
        "marker twice",
        ("marker", "marker_twice"),
        (MARKER, "marker_twice_ends_the_session_once"),
    ),
    (
        "marker of another session",
        ("marker", "marker_of_another_session"),
        BOUND_MARKER,
    ),
    (
        "marker of another topic",
        ("marker", "marker_of_another_topic"),
        BOUND_MARKER,
    ),
    (
        "marker of another requester",
        ("marker", "marker_of_another_requester"),
        BOUND_MARKER,
    ),
    (
        "marker of another request",
        ("marker", "marker_of_another_request"),
        BOUND_MARKER,
    ),
    (
        "marker of another signer",
        ("marker", "marker_of_another_signer"),
        (MARKER, "marker_by_another_signer_is_rejected"),
    ),
    (
        "marker replayed after reconnect",
        ("marker", "marker_replayed_after_reconnect"),
        (MARKER, "marker_replayed_after_reconnect_is_rejected"),
    ),
    (
        "count off by one with the right last",
        ("marker", "count_off_by_one_with_the_right_last"),
        (MARKER, "count_off_by_one_with_the_right_last_is_cut"),
    ),
    (
        "right count with the wrong last",
        ("marker", "right_count_with_the_wrong_last"),
        (MARKER, "right_count_with_the_wrong_last_is_cut"),
    ),
    (
        "dropped batch in the middle",
        ("marker", "case_wi_07_dropped_batch_in_the_middle"),
        (
            MARKER,
            "dropped_batch_in_the_middle_is_asked_for_and_then_cut",
        ),
    ),
];

/// Rows about trust, restarts, clocks, hints and scale.
const REST: &[Row] = &[
    (
        "grant during session",
        ("trust", "grant_during_session"),
        (POLICY, "grant_during_session"),
    ),
    (
        "revoke during session",
        ("trust", "revoke_during_session"),
        (POLICY, "revoke_during_session"),
    ),
    (
        "trust list edited during session",
        ("trust", "trust_list_edited_during_session"),
        (POLICY, "trust_list_edited_during_session"),
    ),
    (
        "client restarts with parked marker",
        ("restart", "client_restarts_with_parked_marker"),
        (LIFE, "client_restarts_with_parked_marker"),
    ),
    (
        "client restarts after marker before persist",
        (
            "main",
            "client_restarts_after_the_marker_and_before_persist",
        ),
        (LIFE, "client_restarts_after_marker_before_persist"),
    ),
    (
        "token from a wiped provider",
        ("main", "token_of_a_wiped_provider"),
        (
            LIFE,
            "token_of_a_wiped_provider_is_said_to_be_unserviceable",
        ),
    ),
    (
        "token older than the floor",
        ("restart", "token_older_than_the_floor"),
        (
            LIFE,
            "token_older_than_the_floor_is_said_to_be_unserviceable",
        ),
    ),
    (
        "pruning during a session",
        ("provider", "pruning_during_a_session"),
        ("store/src/tests/ring.rs", "pruning_during_a_session"),
    ),
    (
        "clock jumps both ways",
        ("restart", "clock_jumps_both_ways"),
        (ENGINE, "clock_jumps_both_ways"),
    ),
    (
        "both dial at once",
        ("main", "both_dial_at_once"),
        (ENGINE, "both_dial_at_once"),
    ),
    (
        "watermark ahead",
        ("hint", "watermark_ahead"),
        (HINT, "watermark_ahead"),
    ),
    (
        "watermark behind",
        ("hint", "watermark_behind"),
        (HINT, "watermark_behind"),
    ),
    (
        "watermark forged",
        ("hint", "watermark_forged"),
        (HINT, "watermark_forged"),
    ),
    (
        "forked author",
        ("main", "case_pl_05_a_forked_author_stops_nobody"),
        (MODE, "a_fork_falls_through_from_heads_to_ranges"),
    ),
    (
        "100,000 authors",
        ("scale", "a_hundred_thousand_authors"),
        (MODE, "many_authors_and_few_differences_are_found_by_ranges"),
    ),
    (
        "manifest grows while joining",
        ("scale", "manifest_grows_while_joining"),
        ("policy/src/space/tests.rs", "manifest_grows"),
    ),
    (
        "author with a dep or prev that never existed",
        ("provider", "author_with_a_dep_or_prev_that_never_existed"),
        (MARKER, "dep_and_prev_that_never_existed_are_dangling"),
    ),
    (
        "slow watcher",
        ("restart", "slow_watcher"),
        (
            "node/src/watch.rs",
            "a_slow_watcher_is_told_how_many_it_missed_and_then_the_state",
        ),
    ),
];

/// The library of liars.
const LIARS: &[Row] = &[
    (
        "liar: early",
        ("marker", "case_wi_07_marker_before_entries"),
        (MARKER, "marker_before_entries_is_parked_until_they_land"),
    ),
    (
        "liar: late",
        ("marker", "marker_that_is_late"),
        (POLICY, "silent_provider_steps_aside_until_its_marker_comes"),
    ),
    (
        "liar: never",
        ("marker", "marker_that_never_comes"),
        (MARKER, "marker_that_never_comes"),
    ),
    (
        "liar: wrong count",
        ("marker", "count_off_by_one_with_the_right_last"),
        (MARKER, "count_off_by_one_with_the_right_last_is_cut"),
    ),
    (
        "liar: wrong last",
        ("marker", "right_count_with_the_wrong_last"),
        (MARKER, "right_count_with_the_wrong_last_is_cut"),
    ),
    (
        "liar: wrong heads",
        ("marker", "wrong_heads"),
        (
            MARKER,
            "marker_for_another_snapshot_or_with_other_digests_is_a_fault",
        ),
    ),
    (
        "liar: wrong state hash",
        ("marker", "wrong_state_hash"),
        (
            MARKER,
            "marker_for_another_snapshot_or_with_other_digests_is_a_fault",
        ),
    ),
    (
        "liar: replayed",
        ("marker", "marker_replayed_after_reconnect"),
        (MARKER, "marker_replayed_after_reconnect_is_rejected"),
    ),
    (
        "liar: other signer",
        ("marker", "marker_of_another_signer"),
        (MARKER, "marker_by_another_signer_is_rejected"),
    ),
    (
        "liar: other topic",
        ("marker", "marker_of_another_topic"),
        BOUND_MARKER,
    ),
    (
        "liar: truncated as complete",
        ("marker", "truncated_as_complete"),
        (MARKER, "withheld_entry_is_never_drained"),
    ),
    (
        "liar: equivocating between clients",
        ("minority", "equivocating_between_clients"),
        (AGREEMENT, "two_providers_disagree"),
    ),
    (
        "liar: flooding markers",
        ("marker", "flood_of_markers"),
        (MARKER, "flood_of_markers"),
    ),
];

fn has_test(source: &str, name: &str) -> bool {
    let head = format!("fn {name}()");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    lines.iter().enumerate().any(|(at, line)| {
        let before = lines[..at].iter().rev();
        let attributes = before.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        line.starts_with(&head) && attributes.into_iter().any(|line| *line == "#[test]")
    })
}

#[test]
fn every_row_has_a_scenario_and_a_short_test() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| {
        let path = crates.join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let mut missing = Vec::new();
    let mut rows = BTreeSet::new();
    for (row, (file, scenario), (path, short)) in
        [PROVIDERS, MARKERS, REST, LIARS].into_iter().flatten()
    {
        assert!(rows.insert(row), "{row:?} is there once");
        if !has_test(&read(&format!("sim/tests/scenarios/{file}.rs")), scenario) {
            missing.push(format!("{row}: the scenario {file}::{scenario}"));
        }
        if !has_test(&read(path), short) {
            missing.push(format!("{row}: the test {short} of {path}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert_eq!(
        rows.len(),
        58,
        "a row more or less is a change of the matrix"
    );
}

/// Every lie that a simulated provider can tell is told in some scenario by its name.
#[test]
fn every_lie_is_told_in_a_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut all = String::new();
    for file in fs::read_dir(folder).expect("the scenarios are there") {
        let path = file.expect("it can be listed").path();
        all += &fs::read_to_string(path).expect("it can be read");
    }
    let untold = osier_sim::ALL_LIES.into_iter();
    let untold: Vec<_> = untold
        .filter(|lie| !all.contains(&format!("Lie::{lie:?}")))
        .collect();
    assert_eq!(untold, []);
}
