//! `init`: what is created, and what is left alone.

use callosum_testkit::TestEnv;

use crate::projects::two_languages;

/// REQ-DEP-005, REQ-GOV-002, REQ-LED-003, REQ-LED-004, CAL-CFG-1: the files of Seed CAL §14.3 and §14.4, and nothing else.
#[test]
fn init_creates_the_seeds_files_and_says_so() {
    let env = two_languages();
    let output = env
        .run(["init", "--all", "--share", "--json"])
        .success()
        .json();
    let mut created: Vec<&str> = output["created"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path.as_str().unwrap())
        .collect();
    created.sort_unstable();
    for expected in [
        ".cal_hashlog",
        ".cal_memory.json",
        ".cal_memory_history",
        ".calrc",
        "cal_audit",
        "registry.json",
    ] {
        assert!(created.contains(&expected), "{expected} in {created:?}");
    }
    let ledger: serde_json::Value = serde_json::from_str(&env.read(".cal_memory.json")).unwrap();
    assert_eq!(ledger, serde_json::json!({"version": "1.2", "tasks": []}));
}

/// CAL-CFG-1: what was laid and added is told in lines that a person reads, and what is next.
#[test]
fn what_init_did_is_told_in_short_lines() {
    let env = two_languages();
    for program in ["claude", "opencode"] {
        std::fs::copy("/bin/true", env.programs().join(program)).unwrap();
    }
    let told = env.run(["init", "--all", "--share"]).success().stderr;
    let longest = told.lines().map(str::len).max().unwrap();
    assert!(longest < 250, "{longest}: {told}");
    assert!(told.contains("created the session files: "), "{told}");
    assert!(told.contains(" files) "), "{told}");
    for said in [
        "claude: the guard is registered in ",
        "\n  with session hooks (SessionStart ",
        ", and the gate before /clear\n",
        "\nopencode: the guard is registered in ",
    ] {
        assert!(told.contains(said), "{said} in {told}");
    }
    let next = "hint: restart your agents, then: callosum doctor\n";
    assert!(told.ends_with(next), "{told}");
    let named = env
        .run(["init", "--all", "--share", "--client", "claude", "--json"])
        .success();
    assert_eq!(named.json()["left_out"], serde_json::json!([]));
}

#[test]
fn init_again_changes_nothing() {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    env.write("registry.json", "{\"executors\": [], \"mine\": true}");
    env.write(".calrc", "{\"concurrency_limit\": 7}");
    let output = env
        .run(["init", "--all", "--share", "--json"])
        .success()
        .json();
    assert_eq!(output["created"], serde_json::json!([]));
    assert_eq!(
        env.read("registry.json"),
        "{\"executors\": [], \"mine\": true}"
    );
    assert_eq!(env.read(".calrc"), "{\"concurrency_limit\": 7}");
}

#[test]
fn ignore_makes_git_pass_our_files_over() {
    let env = two_languages();
    env.run(["init", "--all"]).success();
    env.run(["delegate", "map"]).success();
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    let again = env.run(["init", "--all", "--json"]).success().json();
    assert_eq!(again["excluded"], serde_json::json!([]));
}

/// CAL-CFG-1: a ledger that another implementation left is taken over, not lost.
#[test]
fn an_empty_ledger_in_the_seeds_layout_is_taken_over() {
    let env = TestEnv::new();
    env.write(
        ".cal_memory.json",
        "{\n  \"version\": \"1.2\",\n  \"tasks\": []\n}\n",
    );
    env.run(["init", "--all", "--share"]).success();
    env.run(["delegate", "map"]).success();
    env.run(["ledger", "verify"]).success();
    assert_eq!(
        env.run(["ledger", "stats", "--json"]).success().json()["entries"],
        1
    );
}
