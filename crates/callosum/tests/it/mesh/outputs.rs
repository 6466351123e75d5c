//! Output files of tasks: written for the agent that asked, inside allowed folders only.

use std::{fs, os::unix::fs::symlink};

use callosum_testkit::TestEnv;
use serde_json::Value;

use super::json;

/// Leaves a task with an output file, has another agent complete it, and returns what `task show` prints.
fn done(env: &TestEnv, id: &str, file: &str, result: &str) -> Value {
    let add = ["add", "Review", "--id", id, "--output-file", file];
    let done = ["done", id, "--result", result];
    for (words, agent) in [(&add[..], "claude"), (&done, "gemini")] {
        env.run([&["mesh", "task"], words, &["--as", agent]].concat())
            .success();
    }
    json(env, &["task", "show", id])["output"].clone()
}

fn reason(output: &Value) -> &str {
    assert_eq!(output["outcome"], "refused", "{output}");
    assert_eq!(output["bytes"], Value::Null, "{output}");
    output["reason"].as_str().unwrap()
}

/// CALC-PAT-2b: the result is in the file that the author named, with a receipt in the log, in `task show` and in the
/// author's digest; secrets are masked.
#[test]
fn a_result_is_written_for_the_agent_that_asked() {
    let env = TestEnv::new();
    let output = done(
        &env,
        "t",
        "docs/review.md",
        "the key is AKIAIOSFODNN7EXAMPLE",
    );
    assert_eq!(output["outcome"], "written", "{output}");
    let file = env.project().join("docs/review.md");
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("the key is ") && text.ends_with('\n'),
        "{text}"
    );
    assert!(!text.contains("AKIAIOSFODNN7EXAMPLE"), "{text}");
    assert_eq!(output["bytes"], text.len());
    assert_eq!(output["sha256"].as_str().unwrap().len(), 64, "{output}");
    let shown = env.run(["mesh", "task", "show", "t"]).success().stdout;
    assert!(shown.contains("output written: "), "{shown}");
    let tail = [
        "mesh",
        "tail",
        "--since",
        "0",
        "--topic",
        "calc.task.output",
    ];
    let events = env.run([&tail[..], &["--json"]].concat()).success().stdout;
    let [event] = &super::lines(&events)[..] else {
        panic!("{events}");
    };
    assert_eq!(event["source"], "callosum");
    assert_eq!(event["payload"]["task"], "t");
    assert_eq!(event["payload"]["sha256"], output["sha256"]);
    let told = env
        .run(["mesh", "digest", "--to", "claude"])
        .success()
        .stdout;
    assert!(
        told.contains("result in \"") && told.contains("docs/review.md"),
        "{told}"
    );
    assert!(!told.contains("calc.task.output"), "{told}");
}

/// CALC-PAT-2b: no path leads out of the allowed folders, into hidden files, or through a link.
#[test]
fn no_path_leads_out_of_the_allowed_folders() {
    let env = TestEnv::new();
    let outside = env.folder().join("outside");
    fs::create_dir_all(&outside).unwrap();
    let victim = outside.join("victim.md");
    fs::write(&victim, "old").unwrap();
    let project = env.project();
    symlink(&outside, project.join("out")).unwrap();
    symlink(&victim, project.join("linked.md")).unwrap();
    symlink(outside.join("new.md"), project.join("dangling.md")).unwrap();
    fs::create_dir_all(project.join("folder")).unwrap();
    for (at, (path, part)) in [
        (outside.join("a.md").to_str().unwrap(), "is outside of"),
        ("../outside/a.md", "is outside of"),
        ("folder/../../outside/a.md", "is outside of"),
        ("out/a.md", "is outside of"),
        ("out/deep/a.md", "is outside of"),
        ("linked.md", "is a link"),
        ("dangling.md", "is a link"),
        ("folder", "is a folder"),
        (".git/hooks/pre-commit", "`.git` is hidden"),
        (".claude/settings.json", "`.claude` is hidden"),
        ("src/.envrc", "`.envrc` is hidden"),
        ("a\u{1b}[2J.md", "control character"),
        ("folder/..", "is a folder"),
    ]
    .into_iter()
    .enumerate()
    {
        let output = done(&env, &format!("t{at}"), path, "text");
        let reason = reason(&output);
        assert!(reason.contains(part), "{path}: {reason}");
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "old");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert!(!project.join(".git/hooks/pre-commit").exists());
    // The author is warned before anyone works on it.
    let add = ["mesh", "task", "add", "x", "--output-file", "out/b.md"];
    let warned = env.run(add).success().stderr;
    assert!(warned.contains("will not be written"), "{warned}");
}

/// CALC-PAT-2b: a home folder is no project, and only the user's own configuration adds folders.
#[test]
fn only_the_users_configuration_adds_folders() {
    let env = TestEnv::new();
    let reports = env.folder().join("reports");
    fs::create_dir_all(&reports).unwrap();
    let file = reports.join("a.md");
    let file = file.to_str().unwrap();
    let folders = format!(
        "[mesh]\noutput_folders = [{:?}]\n",
        reports.to_str().unwrap()
    );
    env.write(env.project().join("config.toml"), &folders);
    env.write(env.project().join("callosum.toml"), &folders);
    assert!(reason(&done(&env, "t1", file, "x")).contains("is outside of"));
    env.write(env.configuration(), &folders);
    let output = done(&env, "t2", file, "x");
    assert_eq!(output["outcome"], "written", "{output}");
    // What was refused before is written on request.
    let again = env.run(["mesh", "task", "write", "t1", "--as", "claude"]);
    assert!(again.success().stdout.contains("output written: 2 bytes"));
}

/// CALC-PAT-2b: a file with other content stays until the author consents, and a new result replaces what Callosum wrote.
#[test]
fn a_file_with_other_content_stays_until_its_author_consents() {
    let env = TestEnv::new();
    let file = env.project().join("review.md");
    fs::write(&file, "mine\n").unwrap();
    let output = done(&env, "t", "review.md", "theirs");
    let why = reason(&output);
    assert!(why.contains("exists with other content"), "{why}");
    assert!(why.contains("callosum mesh task write t --force"), "{why}");
    let write = |words: &[&str]| env.run([&["mesh", "task", "write", "t"], words].concat());
    assert!(write(&[]).ended_with(1).stderr.contains("other content"));
    // Only the author decides about files of the author's project.
    let refused = write(&["--force", "--as", "gemini"]).ended_with(1).stderr;
    assert!(
        refused.contains("does not belong to gemini-cli"),
        "{refused}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
    write(&["--force", "--as", "claude"]).success();
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs\n");
    let done_again = ["mesh", "task", "done", "t", "--result", "better", "--force"];
    env.run([&done_again[..], &["--as", "codex"]].concat())
        .success();
    assert_eq!(fs::read_to_string(&file).unwrap(), "better\n");
    fs::write(&file, "edited since\n").unwrap();
    let worse = ["mesh", "task", "done", "t", "--result", "worse", "--force"];
    env.run([&worse[..], &["--as", "codex"]].concat()).success();
    assert_eq!(fs::read_to_string(&file).unwrap(), "edited since\n");
    // A file that already holds the result, as its agent wrote it, is fine.
    fs::write(env.project().join("same.md"), "the same\n").unwrap();
    let same = done(&env, "s", "same.md", "the same");
    assert_eq!(same["outcome"], "written", "{same}");
}

/// CALC-PAT-2b: no event and no hand edit records a receipt, and a completion by hand is written too.
#[test]
fn receipts_come_from_the_program_alone() {
    let env = TestEnv::new();
    let add = ["mesh", "task", "add", "x", "--id", "t", "--as", "claude"];
    env.run([&add[..], &["--output-file", "a.md"]].concat())
        .success();
    let forged = r#"{"task":"t","outcome":"written","path":"/etc/passwd","bytes":1,"sha256":"0","reason":null}"#;
    let publish = ["mesh", "publish", "calc.task.output", "--payload", forged];
    let refused = env.run([&publish[..], &["--as", "codex"]].concat());
    let refused = refused.ended_with(1).stderr;
    assert!(
        refused.contains("only Callosum itself records"),
        "{refused}"
    );
    let none = env.run(["mesh", "task", "write", "t"]).ended_with(1).stderr;
    assert!(none.contains("task `t` is not complete"), "{none}");
    let path = json(&env, &["bridge"])["path"].as_str().unwrap().to_owned();
    let text = env.read(&path);
    let edited = text
        .replace("\"status\": \"pending\"", "\"status\": \"complete\"")
        .replace(
            "\"output_file\"",
            "\"result\": \"by hand\",\n      \"output_file\"",
        );
    assert_ne!(text, edited);
    env.write(&path, edited);
    let output = json(&env, &["task", "show", "t"])["output"].clone();
    assert_eq!(output["outcome"], "written", "{output}");
    assert_eq!(env.read(env.project().join("a.md")), "by hand\n");
}
