//! Answers are checked: citations as a gate, whole answers, digests, answers that are used again.

use callosum_testkit::fakes;
use serde_json::json;

use crate::projects::with_executor;

/// Three citations, of which the first holds, the second moved and the third is invented.
const CITING: &str = "`pub fn total(text: &str) -> i64` [src/sum.rs:4], `pub fn total` [src/sum.rs:1], \
                      `pub fn sub` [src/x.rs:900]";

/// LOA-GRD-1: what does not hold is named where a person looks, and kept.
#[test]
fn citations_that_do_not_hold_are_named() {
    let env = with_executor(&fakes::fake(""));
    let output = env.run(["delegate", CITING]).success();
    assert!(
        output
            .stderr
            .contains("1 of 3 citations hold; 1 moved; 1 invented"),
        "{}",
        output.stderr
    );
    let told = "src/x.rs:900 (there is no such file)";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    let shown = env.run(["ledger", "show", "cal_2026_01_02_0001"]).success();
    assert!(
        shown.stdout.contains("src/sum.rs:1 moved to line 4"),
        "{}",
        shown.stdout
    );
}

/// LOA-GRD-1: an answer below the share is sent back once with what fails, then it has failed.
#[test]
fn a_demanded_share_refuses_an_answer_after_one_more_chance() {
    let env = with_executor(&fakes::fake(""));
    let refused = env
        .run(["delegate", CITING, "--require-citations", "0.95", "--json"])
        .ended_with(1)
        .json();
    assert_eq!(refused["error"]["code"], "E003");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("a share of 0.95 is demanded"), "{message}");
    let details = refused["error"]["details"].as_str().unwrap();
    assert!(details.contains("the whole answer is kept as"), "{details}");
    let records = env
        .run(["audit", "query", "--event", "rejected", "--json"])
        .success()
        .json();
    assert_eq!(records["records"].as_array().unwrap().len(), 2, "{records}");
    env.run(["delegate", CITING, "--require-citations", "0.2"])
        .success();
    env.write(
        "tasks.json",
        json!({"tasks": [{"id": "a", "prompt": CITING, "require_citations": 1}]}).to_string(),
    );
    env.run(["delegate", "--tasks", "tasks.json"]).ended_with(1);
}
