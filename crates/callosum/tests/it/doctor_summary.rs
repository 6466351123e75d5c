//! `doctor` without `-v`: at most eight lines, the worst problem first, with a fix that works.

use callosum_testkit::TestEnv;

use crate::clients::with_clients;

/// The lines of the summary.
fn summary(env: &TestEnv) -> Vec<String> {
    let run = env.callosum().arguments(["doctor"]);
    let stdout = run.without("CALLOSUM_STATE").run().stdout;
    let lines: Vec<String> = stdout.lines().map(str::to_owned).collect();
    assert!(lines.len() <= 8, "{stdout}");
    lines
}

/// Runs the first fix of a summary, as a person who pastes it.
fn run_first_fix(env: &TestEnv, lines: &[String]) -> String {
    let mut fixes = lines
        .iter()
        .filter_map(|line| line.trim().strip_prefix("fix: callosum "));
    let fix = fixes.next().expect("a fix").to_owned();
    env.run(fix.split(' ')).success();
    fix
}

/// The summary is short in a project that was not initialized, and in one that was.
#[test]
fn a_summary_has_at_most_eight_lines() {
    let env = with_clients();
    let before = summary(&env);
    assert_eq!(
        before[0],
        "warning Claude Code guard: not installed, so its commands are not checked (and 1 problem with this fix)"
    );
    assert_eq!(before[1], "        fix: callosum init --client claude");
    // A program that could be registered is no problem.
    assert!(!before.join("\n").contains("executor"), "{before:?}");
    env.run(["init", "--all", "--share"]).success();
    let after = summary(&env);
    assert!(!after.join("\n").contains("not installed"), "{after:?}");
    let verdict = after.last().unwrap();
    assert!(verdict.contains(" checks passed"), "{verdict}");
    // Every check of `--json` is in the list of `-v`.
    let json = env.run(["doctor", "--json"]).json();
    let checks = json["checks"].as_array().unwrap();
    let all = env.run(["doctor", "-v"]).stdout;
    let starts = ["ok ", "warning ", "failed "];
    let printed = all
        .lines()
        .filter(|line| starts.iter().any(|start| line.starts_with(start)));
    assert_eq!(printed.count(), checks.len(), "{all}");
    let ok = checks
        .iter()
        .filter(|check| check["outcome"] == "ok")
        .count();
    assert!(
        verdict.contains(&format!("{ok} checks passed")),
        "{verdict}"
    );
}

/// Problems that no line is left for are counted.
#[test]
fn problems_that_do_not_fit_are_counted() {
    let env = with_clients();
    let lines = summary(&env);
    assert_eq!(lines.len(), 8, "{lines:?}");
    let more = lines[6].strip_prefix("and ").unwrap();
    let more: usize = more.split(' ').next().unwrap().parse().unwrap();
    let problems: usize = lines[7].split(' ').next().unwrap().parse().unwrap();
    // Three fixes have room, each for the guard and the sessions of a client.
    assert_eq!(more + 6, problems, "{lines:?}");
    assert!(lines[6].ends_with(" more: callosum doctor -v"), "{lines:?}");
}

/// A broken registration of the hook comes before every other problem, and the command below it repairs it.
#[test]
fn a_broken_hook_comes_first_and_its_fix_works() {
    let env = with_clients();
    env.run(["init", "--all", "--share"]).success();
    env.write("registry.json", "{");
    let path = env.home().join(".gemini/settings.json");
    let text = env.read(&path);
    let program = callosum_testkit::fakes::program("callosum");
    let gone = text.replace(program.to_str().unwrap(), "/gone/callosum");
    assert_ne!(gone, text);
    env.write(&path, gone);
    let lines = summary(&env);
    assert!(
        lines[0].starts_with("failed  Gemini CLI guard: fails, registered in "),
        "{lines:?}"
    );
    std::fs::remove_file(env.project().join("registry.json")).unwrap();
    let fix = run_first_fix(&env, &lines);
    assert_eq!(fix, "init --client gemini");
    let lines = summary(&env);
    assert!(!lines.join("\n").contains("Gemini CLI"), "{lines:?}");
}

/// A hook that was removed from one client's settings is installed again by its fix.
#[test]
fn a_missing_hook_is_installed_by_its_fix() {
    let env = with_clients();
    env.run(["init", "--all", "--share"]).success();
    env.run(["uninstall", "--client", "qwen"]).success();
    let lines = summary(&env);
    let missing = "warning Qwen Code guard: not installed";
    let is_named = lines.iter().any(|line| line.starts_with(missing));
    assert!(is_named, "{lines:?}");
    let fix = run_first_fix(&env, &lines);
    assert_eq!(fix, "init --client qwen");
    let lines = summary(&env);
    assert!(!lines.join("\n").contains("Qwen Code guard"), "{lines:?}");
}
