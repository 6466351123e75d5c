//! Ways round the door that each effect of a plan passes, and what a person sees of a call there.

use callosum_testkit::TestEnv;

use crate::projects::{carried_out, two_languages};

/// What a plan that has to fail fails with.
fn refused(env: &TestEnv, plan: &str) -> String {
    let output = carried_out(env, &["-e", plan]).ended_with(1);
    let error = output.json()["error"].clone();
    assert_eq!(error["kind"], "SecurityViolation", "{error}");
    error["message"].as_str().unwrap().to_owned()
}

/// CCOS-GOV-1: what a project forbids of the board is not done by an event that would come to the same.
#[test]
fn the_board_is_not_changed_by_events() {
    let env = two_languages();
    env.run(["mesh", "task", "add", "a person's"]).success();
    let listed = || env.run(["mesh", "task", "list", "--json"]).success().json();
    let before = listed();
    let task = before["tasks"][0]["id"].as_str().unwrap();
    let publish = |topic: &str, payload: &str| {
        format!("(call :mesh.publish {{:topic \"{topic}\" :payload {payload}}})")
    };
    let handed = "{:id \"round\" :prompt \"p\" :assigned_to \"codex\" :priority 1 :needs []}";
    let told = refused(&env, &publish("calc.task_handoff", handed));
    assert!(told.contains("`:task.add`"), "{told}");
    let completed = format!("{{\"task\" \"{task}\" \"result\" \"done\" \"token\" 1}}");
    refused(&env, &publish("calc.task.completed", &completed));
    assert_eq!(listed(), before);
    let note = "(:topic (call :mesh.publish {:topic \"agent.note\" :payload {:text \"t\"}}))";
    carried_out(&env, &["-e", note]).success();
}
