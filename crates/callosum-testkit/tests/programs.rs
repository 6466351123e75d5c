//! The programs themselves; also the reason that `cargo test --workspace` builds them.

use callosum_json::canonical::{DuplicateKeys, checksum_without};
use callosum_testkit::{TestEnv, fakes};
use serde_json::Value;

fn ask(program: &str, arguments: &[&str], input: &str) -> Value {
    TestEnv::new()
        .program(fakes::program(program))
        .arguments(arguments)
        .input(input)
        .run()
        .success()
        .json()
}

fn check_checksum(answer: &Value) {
    let bytes = answer.to_string();
    let computed = checksum_without(bytes.as_bytes(), "checksum", DuplicateKeys::Refused);
    assert_eq!(
        answer["checksum"].as_str().map(str::to_owned),
        computed.ok().map(|checksum| checksum.to_string())
    );
}

/// CAL-COM-1: what the fakes put on their answers is what the seed asks for.
#[test]
fn answers_carry_a_checksum_that_holds() {
    for prompt in ["ping", "anything"] {
        let request = format!("{{\"prompt\":\"{prompt}\"}}\n");
        check_checksum(&ask("noop", &[], &request));
        check_checksum(&ask("fake-executor", &[], &request));
    }
    check_checksum(&ask("fake-executor", &["-p", "\u{e9}\n\"x\""], ""));
}

#[test]
fn both_describe_themselves() {
    for program in ["noop", "fake-executor"] {
        let described = ask(program, &[], "{\"prompt\":\"capabilities\"}");
        assert_eq!(described["capabilities"]["json_output"], true);
    }
}

/// CAL-TEST-1, §12.2: two failures, then success.
#[test]
fn a_fake_can_fail_so_often_and_no_more() {
    let env = TestEnv::new();
    let count = env.folder().join("count");
    let fake = env
        .program(fakes::program("fake-executor"))
        .arguments(["--fail-times", "2"])
        .arguments([&count])
        .input("{\"prompt\":\"x\"}");
    let codes = [fake.run().code, fake.run().code, fake.run().code];
    assert_eq!(codes, [1, 1, 0]);
}

#[test]
fn a_project_becomes_a_repository_of_its_own() {
    let env = TestEnv::new();
    env.write("src/main.rs", "fn main() {}\n");
    env.git_init();
    assert_eq!(env.git(&["ls-files"]), "src/main.rs\n");
    assert_eq!(env.git(&["log", "--format=%an %at"]), "Test 1767323045\n");
}

#[test]
fn a_program_sees_the_environment_of_the_test_only() {
    let env = TestEnv::new();
    let seen = env
        .program("/usr/bin/env".into())
        .env("EXTRA", "1")
        .without("LC_ALL")
        .run()
        .success();
    let names: Vec<_> = seen
        .stdout
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    assert_eq!(
        names,
        [
            "CALLOSUM_ASSUME_YES",
            "CALLOSUM_CONFIG",
            "CALLOSUM_HOME",
            "CALLOSUM_MODEL_SERVERS",
            "CALLOSUM_PAGE",
            "CALLOSUM_STATE",
            "CALLOSUM_TEST_CLOCK",
            "CALLOSUM_TEST_IDS",
            "CALLOSUM_TEST_PATIENCE",
            "EXTRA",
            "HOME",
            "PATH",
            "TMUX_TMPDIR",
            "TZ"
        ]
    );
}
