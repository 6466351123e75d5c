//! `init --instructions`: one text for all clients, and a tree that is as before after `uninstall`.

use callosum_testkit::{Output, TestEnv};

/// A repository in which these clients are installed.
fn repository(clients: &[&str]) -> TestEnv {
    let env = TestEnv::new();
    env.write("src/a.rs", "pub fn one() {}\n");
    env.git_init();
    for client in clients {
        std::fs::copy("/bin/true", env.programs().join(client)).unwrap();
    }
    env
}

const ALL: [&str; 5] = ["claude", "codex", "gemini", "qwen", "opencode"];

fn run(env: &TestEnv, words: &[&str]) -> Output {
    let run = env.callosum().arguments(words);
    run.without("CALLOSUM_STATE")
        .without("CALLOSUM_ASSUME_YES")
        .run()
}

/// What `doctor` says of instructions: outcome and text.
fn doctor(env: &TestEnv) -> Option<(String, String)> {
    let output = run(env, &["doctor", "--json"]).json();
    let checks = output["checks"].as_array().unwrap().iter();
    let mut of_instructions = checks.filter(|check| check["name"] == "instructions");
    let check = of_instructions.next()?;
    let text = |key: &str| check[key].as_str().unwrap().to_owned();
    Some((text("outcome"), text("found")))
}

/// Without a text of a client's own, one is created; git sees the text and nothing else.
#[test]
fn a_tree_without_instructions_gets_one_text() {
    let env = repository(&ALL);
    let plan = run(&env, &["init", "--instructions"]).ended_with(1).stderr;
    for line in [
        "AGENTS.md: would be created",
        "CLAUDE.md: would be created",
        "codex: reads AGENTS.md",
        "gemini: AGENTS.md would be added to .gemini/settings.json",
    ] {
        assert!(plan.contains(line), "{line} in {plan}");
    }
    assert!(!env.project().join("AGENTS.md").exists());
    assert_eq!(doctor(&env), None);
    run(&env, &["init", "--instructions", "--yes"]).success();
    assert_eq!(env.read("CLAUDE.md"), "@AGENTS.md\n");
    let settings: serde_json::Value =
        serde_json::from_str(&env.read(".gemini/settings.json")).unwrap();
    assert_eq!(
        settings["context"]["fileName"],
        serde_json::json!(["AGENTS.md", "GEMINI.md"])
    );
    env.git(&["add", "--all"]);
    let staged = env.git(&["diff", "--cached", "--name-only"]);
    assert_eq!(staged, "AGENTS.md\nCLAUDE.md\n");
    let (outcome, found) = doctor(&env).unwrap();
    assert_eq!(outcome, "ok", "{found}");
    assert!(
        found.contains("claude reads CLAUDE.md and AGENTS.md"),
        "{found}"
    );
    assert!(found.contains("gemini reads AGENTS.md"), "{found}");
    let again = run(&env, &["init", "--instructions", "--yes", "--json"])
        .success()
        .json();
    for entry in again["instructions"].as_array().unwrap() {
        let change = entry["change"].as_str().unwrap();
        assert!(["unchanged", "read"].contains(&change), "{entry}");
    }
    run(&env, &["uninstall", "--yes"]).success();
    for gone in ["AGENTS.md", "CLAUDE.md", ".gemini"] {
        assert!(!env.project().join(gone).exists(), "{gone}");
    }
    assert!(!env.read(".git/info/exclude").contains(".gemini"));
}

/// Text that is there stays in its place, and each file is as before after `uninstall`, byte for byte.
#[test]
fn text_that_people_wrote_is_kept_and_comes_back() {
    for mine in [
        "# Mine\n\nUse tabs.\n",
        "without an end",
        "",
        "ends with a gap\n\n",
    ] {
        let env = repository(&ALL);
        env.write("CLAUDE.md", mine);
        env.write("GEMINI.md", mine);
        let settings = "{\n  // mine\n  \"ui\": {\"hideTips\": true}\n}\n";
        env.write(".gemini/settings.json", settings);
        run(
            &env,
            &[
                "init",
                "--instructions",
                "--guard",
                "--scope",
                "project",
                "--yes",
            ],
        )
        .success();
        let text = env.read("CLAUDE.md");
        assert!(
            text.starts_with(mine) && text.ends_with("@AGENTS.md\n"),
            "{text}"
        );
        assert_eq!(env.read("GEMINI.md"), mine);
        assert!(env.read(".gemini/settings.json").contains("// mine"));
        run(&env, &["init", "--instructions", "--yes"]).success();
        assert_eq!(env.read("CLAUDE.md"), text, "again");
        run(&env, &["uninstall", "--yes"]).success();
        assert_eq!(env.read("CLAUDE.md"), mine);
        assert_eq!(env.read(".gemini/settings.json"), settings);
        assert!(!env.project().join("AGENTS.md").exists());
    }
}

/// What someone wrote after `init` is kept by `uninstall`, and only our line goes.
#[test]
fn text_that_was_written_later_is_kept() {
    let env = repository(&["claude"]);
    env.write("CLAUDE.md", "# Mine\n");
    run(&env, &["init", "--instructions", "--yes"]).success();
    env.write("AGENTS.md", "# Ours\n\nRun the tests.\n");
    let text = env.read("CLAUDE.md");
    env.write("CLAUDE.md", format!("{text}\nMore.\n"));
    run(&env, &["uninstall", "--yes"]).success();
    assert_eq!(env.read("CLAUDE.md"), "# Mine\n\nMore.\n");
    assert_eq!(env.read("AGENTS.md"), "# Ours\n\nRun the tests.\n");
}

/// A link to `AGENTS.md` reads it already, and one out of the project is left alone.
#[test]
fn links_are_not_written_through() {
    let env = repository(&["claude"]);
    env.write("AGENTS.md", "# Ours\n");
    std::os::unix::fs::symlink("AGENTS.md", env.project().join("CLAUDE.md")).unwrap();
    let output = run(&env, &["init", "--instructions", "--yes", "--json"])
        .success()
        .json();
    assert_eq!(output["instructions"][0]["change"], "unchanged", "{output}");
    assert_eq!(env.read("AGENTS.md"), "# Ours\n");
    std::fs::remove_file(env.project().join("CLAUDE.md")).unwrap();
    let outside = env.project().parent().unwrap().join("outside.md");
    std::fs::write(&outside, "theirs\n").unwrap();
    std::os::unix::fs::symlink(&outside, env.project().join("CLAUDE.md")).unwrap();
    let told = run(&env, &["init", "--instructions", "--yes"])
        .success()
        .stderr;
    assert!(told.contains("leads out of the project"), "{told}");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "theirs\n");
}

/// `doctor` says who does not read the common text, and which file has more.
#[test]
fn doctor_says_where_texts_differ() {
    let env = repository(&ALL);
    env.write("AGENTS.md", "# Ours\n\nRun the tests.\n");
    env.write("CLAUDE.md", "# Mine\n\nRun the tests.\nUse tabs.\n");
    let (outcome, found) = doctor(&env).unwrap();
    assert_eq!(outcome, "warning", "{found}");
    for part in [
        "claude reads CLAUDE.md;",
        "codex reads AGENTS.md",
        "gemini reads none",
        "CLAUDE.md has 2 lines that AGENTS.md lacks",
    ] {
        assert!(found.contains(part), "{part} in {found}");
    }
    run(&env, &["init", "--instructions", "--yes"]).success();
    let (outcome, found) = doctor(&env).unwrap();
    assert_eq!(outcome, "ok", "{found}");
    assert!(
        found.contains("claude reads CLAUDE.md and AGENTS.md"),
        "{found}"
    );
    assert!(found.contains("CLAUDE.md has 2 lines"), "{found}");
}

/// Names of files that a person chose for Gemini CLI are left, and said.
#[test]
fn names_of_files_that_a_person_chose_are_left() {
    let env = repository(&["gemini"]);
    let settings = "{\"context\": {\"fileName\": \"CONTEXT.md\"}}\n";
    env.write(".gemini/settings.json", settings);
    let told = run(&env, &["init", "--instructions", "--yes"])
        .success()
        .stderr;
    assert!(
        told.contains("`context.fileName` is not a list with `AGENTS.md`"),
        "{told}"
    );
    assert_eq!(env.read(".gemini/settings.json"), settings);
}
