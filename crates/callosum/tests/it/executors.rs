//! Registering, checking and preferring executors.

use std::process::Stdio;

use callosum_testkit::{TestEnv, fakes};
use serde_json::{Value, json};

use crate::projects::{register, register_with, two_languages, wait_for_start, with_executor};

/// CAL-EXE-1, REQ-EXE-001: four steps, and the executor is active.
#[test]
fn an_executor_that_shakes_hands_is_active() {
    let env = two_languages();
    let arguments = ["executor", "register", "fake", "--json", "--command"];
    let template = fakes::fake("");
    let output = env.run(arguments.iter().copied().chain([template.as_str()]));
    let output = output.success().json();
    let steps: Vec<&str> = output["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        steps,
        ["ping", "capabilities", "validation", "registration"]
    );
    assert_eq!(output["status"], "active");
    let list = env.run(["executor", "list", "--json"]).success().json();
    assert_eq!(list["executors"][0]["id"], "scout");
    assert_eq!(list["executors"][1]["id"], "fake");
    assert_eq!(list["executors"][1]["trusted"], true);
}

/// REQ-EXE-003, REQ-COM-005, REQ-EXE-002: a failed handshake leaves it registered and inactive.
#[test]
fn an_executor_that_answers_garbage_is_inactive() {
    let env = two_languages();
    let template = fakes::fake("--always --garbage");
    let output = env
        .run(["executor", "register", "fake", "--command", &template])
        .ended_with(1);
    assert!(output.stderr.contains("inactive"), "{}", output.stderr);
    let refused = env
        .run(["delegate", "map", "--executor", "fake"])
        .ended_with(3);
    assert!(
        refused.stderr.contains("callosum executor check fake"),
        "{}",
        refused.stderr
    );
}

/// CAL-EXE-1, REQ-EXE-003: whoever writes an executor is shown the line that was wanted.
#[test]
fn an_answer_of_the_wrong_form_is_told_with_the_right_one() {
    let env = two_languages();
    let pong = r#"echo '{"summary": "pong", "tokens_used": 0, "status": "success"}'"#;
    for (script, prompt, form) in [
        ("echo pong", "ping", r#"{"summary": "pong", "#),
        (
            pong,
            "capabilities",
            r#"{"capabilities": {"prompt_input": true, "#,
        ),
    ] {
        env.write("answer.sh", script);
        let arguments = ["executor", "register", "mine", "--command", "sh answer.sh"];
        let told = env.run(arguments).ended_with(1).stderr;
        let shown = format!("answer the prompt `{prompt}` with one line of JSON: {form}");
        assert!(told.contains(&shown), "{told}");
    }
}

/// CAL-EXE-1: the seed's own spelling of registering (§14.4).
#[test]
fn cal_register_is_executor_register() {
    let env = two_languages();
    let output = env.run(["--cal-register", "nobody-knows-me"]).ended_with(2);
    assert!(
        output.stderr.contains("nobody-knows-me"),
        "{}",
        output.stderr
    );
}

/// CAL-SEC-1: what would never match a variable is refused, and a secret that a beginning does not cover is named.
#[test]
fn variables_are_passed_on_by_names_and_beginnings() {
    let env = two_languages();
    let template = fakes::fake("");
    let register = |variable: &str| {
        let run = env.callosum().env("MY_THING", "1").env("MY_TOKEN", "1");
        run.arguments(["executor", "register", "mine", "--command", &template])
            .arguments(["--pass-env", variable])
            .run()
    };
    for variable in ["*", "*_KEY", "M*Y", "A=1", "A B", "A,B", ""] {
        let refused = register(variable).ended_with(2).stderr;
        assert!(
            refused.contains("such as OLLAMA_*"),
            "{variable}: {refused}"
        );
    }
    let told = register("MY_*").success().stderr;
    let held_back = "MY_TOKEN is set here and looks like a secret, which is only passed if you give its \
                     full name: --pass-env MY_TOKEN";
    assert!(told.contains(held_back), "{told}");
    assert!(!told.contains("MY_THING"), "{told}");
}

/// CAL-EXE-1: the line that a hint shows adds to the entry that is there, whoever wrote it, and says what stays;
/// another command takes none of its bounds along, and none of them away unasked.
#[test]
fn registering_again_drops_nothing_of_an_entry_in_silence() {
    let env = two_languages();
    let template = fakes::fake("");
    let bounds = [
        "--idle-timeout",
        "9s",
        "--pass-env",
        "MY_KEY",
        "--sandbox",
        "best-effort",
        "--allow-read",
        "/opt/wheels",
    ];
    register_with(&env, "mine", &template, &bounds);
    let entry = || {
        let registry: Value = serde_json::from_str(&env.read("registry.json")).unwrap();
        let all = registry["executors"].as_array().unwrap();
        all.iter().find(|one| one["id"] == "mine").unwrap().clone()
    };
    let before = entry();
    let line = ["executor", "register", "mine", "--allow-net", "127.0.0.1:9"];
    let told = env.run(line).success().stderr;
    let kept = "kept from the entry of mine: --idle-timeout 9s --sandbox best-effort --pass-env MY_KEY \
                --allow-read /opt/wheels";
    assert!(told.contains(kept), "{told}");
    let after = entry();
    assert_eq!(after["network"], json!(["127.0.0.1:9"]));
    for key in [
        "command_template",
        "quiet_ms",
        "pass_environment",
        "confinement",
        "readable",
    ] {
        assert_eq!(after[key], before[key], "{key}");
    }

    let other = ["executor", "register", "mine", "--command", "true"];
    let refused = env.run(other).ended_with(2).stderr;
    assert!(
        refused.contains("--pass-env MY_KEY") && refused.contains("--replace"),
        "{refused}"
    );
    assert_eq!(entry(), after);
    let fake = [
        "executor",
        "register",
        "mine",
        "--replace",
        "--command",
        &template,
    ];
    let told = env.run(fake).success().stderr;
    assert!(!told.contains("kept of"), "{told}");
    assert_eq!(entry().get("pass_environment"), None);
}

/// Seed CAL §14.5: an entry that came with a clone is not built upon.
#[test]
fn an_entry_that_nobody_here_registered_lends_nothing_to_one_of_its_name() {
    let env = two_languages();
    register_with(
        &env,
        "mine",
        &fakes::fake(""),
        &["--allow-net", "127.0.0.1:9"],
    );
    let registry = env.read("registry.json");
    let clone = two_languages();
    clone.write("registry.json", &registry);
    let refused = clone.run(["executor", "register", "mine", "--idle-timeout", "9s"]);
    let refused = refused.ended_with(2).stderr;
    assert!(
        refused.contains("`mine` is not a known program"),
        "{refused}"
    );
    register(&clone, "mine", &fakes::noop());
    assert!(!clone.read("registry.json").contains("127.0.0.1:9"));
}

/// The enabled and active executor of lowest priority number is chosen, else scout.
#[test]
fn preference_decides_who_gets_a_task_that_names_nobody() {
    let env = with_executor(&fakes::noop());
    register(&env, "second", &fakes::noop());
    let chosen = || {
        let output = env.run(["delegate", "map", "--json"]).success().json();
        output["executor"].as_str().unwrap().to_owned()
    };
    env.run(["executor", "enable", "fake", "--priority", "2"])
        .success();
    env.run(["executor", "enable", "second", "--priority", "1"])
        .success();
    assert_eq!(chosen(), "second");
    env.run(["executor", "disable", "second"]).success();
    assert_eq!(chosen(), "fake");
    env.run(["executor", "disable", "fake"]).success();
    assert_eq!(chosen(), "scout");
    let refused = env
        .run(["delegate", "map", "--executor", "fake"])
        .ended_with(3);
    assert!(refused.stderr.contains("disabled"), "{}", refused.stderr);
    // `status` is the handshake's alone: being switched off has not touched it.
    let list = env.run(["executor", "list", "--json"]).success().json();
    assert_eq!(list["executors"][1]["status"], "active");
}

/// CAL-EXE-1: a new executor takes no tasks over by its name, and `list` says who takes them and why.
#[test]
fn a_new_executor_takes_over_no_tasks_by_its_name() {
    let env = with_executor(&fakes::noop());
    let arguments = ["executor", "register", "bad", "--command", &fakes::noop()];
    let told = env.run(arguments).success().stderr;
    let why = "name no executor go to fake: it was registered first of the 3 with priority 100";
    assert!(told.contains(why), "{told}");
    let lead = "hint: to send them to bad: callosum executor enable bad --priority 99";
    assert!(told.contains(lead), "{told}");
    let listed = env.run(["executor", "list"]).success().stderr;
    assert!(listed.contains(why), "{listed}");
    let asked = env.run(["delegate", "map", "--json"]).success().json();
    assert_eq!(asked["executor"], "fake");
    // Registered anew, one keeps its place.
    register(&env, "fake", &fakes::fake(""));
    let list = env.run(["executor", "list", "--json"]).success().json();
    assert_eq!(list["next_executor"], "fake");
    env.run(["executor", "enable", "bad", "--priority", "99"])
        .success();
    let list = env.run(["executor", "list", "--json"]).success().json();
    assert_eq!(list["next_executor"], "bad");
    assert_eq!(list["next_reason"], "its priority, 99, is the lowest");
}

/// Seed CAL §11.3, REQ-EXE-004: who does not answer a health check is inactive from then on.
#[test]
fn a_failed_health_check_makes_an_executor_inactive() {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    let program = env.programs().join("flappy");
    std::fs::copy(fakes::program("fake-executor"), &program).unwrap();
    register(&env, "fake", "flappy");
    std::fs::remove_file(&program).unwrap();
    std::fs::copy("/bin/false", &program).unwrap();
    let run = env
        .callosum()
        .arguments(["delegate", "map", "--executor", "fake", "--json"]);
    let output = run.env("CAL_RETRY_MAX", "0").run().ended_with(1).json();
    assert_eq!(output["error"]["code"], "E001", "{output}");
    let list = env.run(["executor", "list", "--json"]).success().json();
    assert_eq!(list["executors"][1]["status"], "inactive");
}

#[test]
fn a_removed_executor_is_gone_and_scout_stays() {
    let env = with_executor(&fakes::noop());
    env.run(["executor", "remove", "fake"]).success();
    let list = env.run(["executor", "list", "--json"]).success().json();
    assert_eq!(list["executors"].as_array().unwrap().len(), 1);
    // What another name stands for as well stays trusted.
    for name in ["one", "other"] {
        register(&env, name, &fakes::noop());
    }
    env.run(["executor", "remove", "other"]).success();
    env.run(["executor", "check", "one"]).success();
    env.run(["executor", "remove", "scout"]).ended_with(2);
    env.run(["executor", "remove", "fake"]).ended_with(2);
}

/// CAL-EXE-3: scout passes its own handshake, like everybody.
#[test]
fn scout_shakes_hands() {
    let env = two_languages();
    let output = env
        .run(["executor", "check", "scout", "--json"])
        .success()
        .json();
    assert_eq!(output["checks"][0]["status"], "active");
}

/// REQ-ERR-001: what failed for good is seen at one look, and not what came right; a registry that
/// cannot be read hides nothing else.
#[test]
fn status_shows_failures_and_outlives_a_broken_registry() {
    let env = two_languages();
    register(&env, "fake", &fakes::fake("--crash 3"));
    let well = env.run(["status", "--json"]).success().json();
    assert_eq!(well["health"], "ok", "{well}");
    assert_eq!(well["last_failures"], json!([]));
    let run = env
        .callosum()
        .arguments(["delegate", "map", "--executor", "fake", "--json"]);
    let failed = run.env("CAL_RETRY_MAX", "0").run().ended_with(1).json();
    let status = env.run(["status", "--json"]).success().json();
    assert_eq!(status["last_failures"][0]["task_id"], failed["task_id"]);
    assert_eq!(status["last_failures"][0]["code"], "E001");
    env.write("registry.json", "{");
    let status = env.run(["status"]).success().stdout;
    assert!(status.contains("registry.json"), "{status}");
    assert!(status.contains("1 warning"), "{status}");
    assert!(status.contains("E001"), "{status}");
}

/// CAL-GOV-1: a task that is at work is seen from elsewhere with its age, by what its own run recorded, and so is one whose run
/// was killed; one that ended is not.
#[test]
fn status_shows_what_has_begun_and_not_ended() {
    let env = two_languages();
    register(&env, "slow", &fakes::fake("--silent"));
    let unfinished = || {
        let status = env.run(["status", "--json"]).success().json();
        status["unfinished"].clone()
    };
    for executor in ["scout", "nobody"] {
        env.run(["delegate", "map", "--executor", executor]);
    }
    assert_eq!(unfinished(), json!([]));
    let delegation = env
        .callosum()
        .env("CAL_EXECUTOR_TIMEOUT_MS", "600000")
        .arguments(["delegate", "tell", "--executor", "slow"]);
    let mut delegation = delegation.command();
    let delegation = delegation.stdout(Stdio::null()).stderr(Stdio::null());
    let mut delegation = delegation.spawn().unwrap();
    wait_for_start(&env, "slow");
    let seen = unfinished();
    assert_eq!(seen[0]["executor"], "slow", "{seen}");
    assert_eq!(seen[0]["prompt"], "tell", "{seen}");
    assert_eq!(seen[0]["state"], "spawned", "{seen}");
    assert!(seen[0]["age_seconds"].is_u64(), "{seen}");
    delegation.kill().unwrap();
    delegation.wait().unwrap();
    let told = env.run(["status", "-v"]).success().stdout;
    assert!(told.contains("UNFINISHED"), "{told}");
    assert!(told.contains(" ago "), "{told}");
}

/// CAL-SEC-1: a script that was edited since its executor was trusted is told of as that, and not run.
#[test]
fn a_script_that_changed_since_is_told_from_a_new_one() {
    let env = two_languages();
    env.write("ask.sh", "exit 1\n");
    let register = ["executor", "register", "mine", "--command", "sh ask.sh"];
    // It gives no handshake, and is trusted all the same.
    env.run(register).ended_with(1);
    env.write("ask.sh", "touch ran\n");
    let delegated = env.run(["delegate", "x", "--executor", "mine"]);
    let told = delegated.ended_with(3).stderr;
    let says = "`mine` changed since it was trusted: a file that its command names";
    assert!(told.contains(says), "{told}");
    assert!(told.contains("hint: callosum trust mine\n"), "{told}");
    let doctor = env.run(["doctor", "-v"]).stdout;
    assert!(doctor.contains("changed since it was trusted"), "{doctor}");
    assert!(doctor.contains("fix: callosum trust mine\n"), "{doctor}");
    assert!(!env.project().join("ran").exists());
    let registry = env.read("registry.json");
    env.write(
        "registry.json",
        registry.replace("sh ask.sh", "sh ./ask.sh"),
    );
    let delegated = env.run(["delegate", "x", "--executor", "mine"]);
    let told = delegated.ended_with(3).stderr;
    assert!(told.contains("comes with the repository"), "{told}");
}

/// CAL-EXE-1: a program's file that nobody has written is told as missing, and not as one that it may not see.
#[test]
fn a_file_of_the_command_that_is_not_there_is_named() {
    let env = two_languages();
    let register = ["executor", "register", "mine", "--command"];
    let register = env.callosum().arguments(register);
    let register = register.arguments(["python3 tools/answer.py"]);
    let refused = register.run().ended_with(1).stderr;
    let told = format!(
        "hint: `tools/answer.py` does not exist in `{}`; after you create it: callosum executor check mine\n",
        env.project().display()
    );
    assert!(refused.ends_with(&told), "{refused}");
}

/// CAL-CFG-1: a setting that is out of range is not written by any verb; one that a person wrote is named with the command that mends
/// it, though nothing else starts.
#[test]
fn a_setting_out_of_range_is_mended_by_the_command_that_is_told() {
    let env = TestEnv::new();
    env.run(["init", "--all", "--share"]).success();
    let before = env.read(".calrc");
    let over = ["executor", "enable", "scout", "--priority", "5000"];
    env.run(over).ended_with(2);
    assert_eq!(env.read(".calrc"), before);
    env.write(
        ".calrc",
        "{\"executors\": {\"scout\": {\"priority\": 5000}}, \"retry_max\": 77}\n",
    );
    let status = env.run(["status"]).ended_with(3).stderr;
    let hint = "callosum config set executors.scout.priority 100";
    assert!(status.contains(hint), "{status}");
    env.run(hint.split(' ').skip(1)).success();
    let next = env.run(["status"]).ended_with(3).stderr;
    assert!(next.contains("callosum config set retry_max 3"), "{next}");
    env.run(["config", "set", "io_threshold", "5"])
        .ended_with(3);
    env.run(["config", "set", "retry_max", "3"]).success();
    env.run(["status"]).success();
    assert_eq!(
        env.read(".calrc"),
        "{\"executors\": {\"scout\": {\"priority\": 100}}, \"retry_max\": 3}\n"
    );
}

/// CAL-CFG-1, CAL-SEC-1: a command that is told to be pasted runs nothing that a cloned project has put into a name.
#[test]
fn a_name_in_a_command_that_is_told_is_one_word_of_it() {
    let env = TestEnv::new();
    env.write(
        ".calrc",
        "{\"executors\": {\"a; touch b #\": {\"priority\": 5000}}}\n",
    );
    let status = env.run(["status"]).ended_with(3).stderr;
    let hint = "callosum config set 'executors.a; touch b #.priority' 100";
    assert!(status.contains(hint), "{status}");
}
