//! What is tried with each client, one function each: the list of them, and those of a client alone.

use callosum_testkit::model::{ScriptFault, ScriptTurn};

use crate::{
    client::Client, conflicts, delegations, faults, goals, guarding, install::Installed,
    instructions, interventions, neighbours, panes, sessions, stage::Stage,
};

/// A case, by its name.
pub(crate) type Case = (&'static str, fn(&Client, &Installed));

/// All of them.
pub(crate) static ALL: &[Case] = &[
    ("is_the_pinned_version", is_the_pinned_version),
    ("answers_without_a_network", answers_without_a_network),
    (
        "fails_where_the_key_is_refused",
        fails_where_the_key_is_refused,
    ),
    ("delegates_and_counts", delegations::delegates_and_counts),
    ("plans_with_others", goals::plans_with_others),
    (
        "reads_the_tree_where_it_is_held",
        delegations::reads_the_tree_where_it_is_held,
    ),
    (
        "obeys_no_settings_of_the_tree",
        delegations::obeys_no_settings_of_the_tree,
    ),
    ("speaks_acp", delegations::speaks_acp),
    ("names_faults_over_acp", faults::names_faults_over_acp),
    ("names_a_refused_key", faults::names_a_refused_key),
    ("names_a_missing_key", faults::names_a_missing_key),
    (
        "names_a_prompt_that_is_too_long",
        faults::names_a_prompt_that_is_too_long,
    ),
    ("outlives_a_rate_limit", faults::outlives_a_rate_limit),
    (
        "takes_no_half_for_an_answer",
        faults::takes_no_half_for_an_answer,
    ),
    (
        "ends_where_every_answer_breaks_off",
        faults::ends_where_every_answer_breaks_off,
    ),
    (
        "retains_what_was_found_before",
        delegations::retains_what_was_found_before,
    ),
    (
        "stops_what_the_guard_is_against",
        guarding::stops_what_the_guard_is_against,
    ),
    ("is_stopped_by_a_plugin", guarding::is_stopped_by_a_plugin),
    ("runs_the_careful_form", guarding::runs_the_careful_form),
    ("reads_one_text", instructions::reads_one_text),
    (
        "is_sent_the_fix_of_another",
        interventions::is_sent_the_fix_of_another,
    ),
    (
        "runs_what_is_auto_allowed_without_a_prompt",
        guarding::runs_what_is_auto_allowed_without_a_prompt,
    ),
    ("tells_what_was_kept", guarding::tells_what_was_kept),
    ("is_known_to_ask_nobody", guarding::is_known_to_ask_nobody),
    ("carries_a_session_over", sessions::carries_a_session_over),
    (
        "picks_up_what_is_handed_over",
        sessions::picks_up_what_is_handed_over,
    ),
    ("works_with_the_others", neighbours::works_with_the_others),
    (
        "reaches_the_others_by_tools",
        neighbours::reaches_the_others_by_tools,
    ),
    (
        "reaches_the_others_from_a_sandbox",
        neighbours::reaches_the_others_from_a_sandbox,
    ),
    ("obeys_a_shadowed_clear", sessions::obeys_a_shadowed_clear),
    ("is_left_as_it_was", guarding::is_left_as_it_was),
    (
        "edits_a_file_with_another",
        conflicts::edits_a_file_with_another,
    ),
    (
        "shows_its_state_in_a_pane",
        panes::shows_its_state_in_a_pane,
    ),
];

fn is_the_pinned_version(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let said = stage.client().arguments(["--version"]).run().success();
    assert!(said.stdout.contains(client.version), "{}", said.stdout);
}

pub(crate) fn answers_without_a_network(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let prompt = format!(
        "Answer. {}",
        ScriptTurn::script(&[ScriptTurn::text("the answer of the script")])
    );
    let said = stage
        .client()
        .arguments(client.arguments)
        .arguments([prompt])
        .run()
        .success();
    assert!(
        said.stdout.contains("the answer of the script"),
        "{}",
        said.stdout
    );
    let heard = stage.server.heard();
    assert!(heard.iter().any(|heard| heard.turn == Some(0)), "{heard:?}");
}

fn fails_where_the_key_is_refused(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let refused = ScriptTurn {
        fault: Some(ScriptFault::Unauthorized),
        ..ScriptTurn::default()
    };
    let said = stage
        .client()
        .arguments(client.arguments)
        .arguments([format!("Answer. {}", ScriptTurn::script(&[refused]))])
        .run();
    assert_ne!(said.code, 0, "{}", said.stdout);
    let words = said.stdout + &said.stderr;
    assert!(
        words.contains("401") || words.contains("API key"),
        "{words}"
    );
}
