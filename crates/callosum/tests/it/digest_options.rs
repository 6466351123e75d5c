//! `delegate --all` and `--section`, and what a digest does not read.

use callosum_testkit::{TestEnv, fakes};

use crate::projects::{register, two_languages};

/// A project of so many modules that its digest exceeds a summary.
fn large() -> TestEnv {
    let env = TestEnv::new();
    for at in 0..300 {
        env.write(
            format!("shop/p{at}.py"),
            format!(
                "\"\"\"Part {at} of a shop that sells many things.\"\"\"\n\n\nclass Thing{at}:\n    \
                 \"\"\"A thing that is sold.\"\"\"\n\n    def sell(self):\n        return {at}\n"
            ),
        );
    }
    env
}

#[test]
fn all_prints_what_the_summary_leaves_out_and_checks_it() {
    let env = large();
    let ask = ["delegate", "What does it offer?", "--kind", "api", "--json"];
    let cut = env.run(ask).success().json();
    let summary = cut["summary"].as_str().unwrap();
    assert!(summary.len() <= 10_240, "{}", summary.len());
    assert!(summary.contains("with `--all`"), "{summary}");
    let all = [
        "delegate",
        "What does it offer?",
        "--kind",
        "api",
        "--all",
        "--json",
    ];
    let whole = env.run(all).success().json();
    let text = whole["summary"].as_str().unwrap();
    assert!(text.len() > 10_240 && !text.contains("--all"), "{text}");
    for at in [0, 150, 299] {
        assert!(text.contains(&format!("class Thing{at}:")), "{text}");
    }
    let citations = &whole["citations"];
    assert!(citations["total"].as_u64().unwrap() >= 300, "{citations}");
    assert_eq!(citations["total"], citations["verified"]);
    // The ledger keeps the summary.
    let id = whole["task_id"].as_str().unwrap();
    let kept = env.run(["ledger", "show", id, "--json"]).success().json();
    assert!(kept["summary"].as_str().unwrap().len() <= 10_240);
}

#[test]
fn a_section_is_printed_alone_and_an_unknown_one_lists_those_there_are() {
    let env = two_languages();
    let one = env.run(["delegate", "Map it", "--section", "languages"]);
    let text = one.success().stdout;
    assert_eq!(text.matches("\n## ").count(), 1, "{text}");
    assert!(text.contains("## Languages and size"), "{text}");
    let unknown = env.run([
        "delegate",
        "Map it",
        "--kind",
        "deps",
        "--section",
        "languages",
    ]);
    let said = unknown.ended_with(2).stderr;
    assert!(
        said.contains("unknown section `languages` of `deps` (known: parts, cycles, packages,"),
        "{said}"
    );
}

#[test]
fn other_executors_have_no_sections() {
    let env = two_languages();
    register(&env, "other", &fakes::fake(""));
    let output = env.run(["delegate", "Map it", "--executor", "other", "--all"]);
    let said = output.ended_with(2).stderr;
    assert!(said.contains("`--all` needs the executor scout"), "{said}");
}

/// A digest counted our own files: 209 before `init`, 211 behind it.
#[test]
fn what_init_writes_is_no_part_of_a_digest() {
    let env = two_languages();
    let head = || {
        let output = env.run(["delegate", "Map it", "--no-cache"]).success();
        let line = output.stdout.lines().nth(1).unwrap_or_default();
        line.split(" Scout").next().unwrap_or_default().to_owned()
    };
    let before = head();
    assert!(before.starts_with("Read "), "{before}");
    assert_eq!(head(), before, "behind the first delegation");
    env.run(["init", "--all", "--share"]).success();
    assert_eq!(head(), before, "behind init");
}
