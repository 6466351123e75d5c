//! `status` without `-v`: at most eight lines, in local time.

use callosum_testkit::TestEnv;

use crate::projects::two_languages;

/// The lines that a person in a zone half an hour off reads.
fn summary(env: &TestEnv) -> Vec<String> {
    let run = env.callosum().arguments(["status"]);
    let stdout = run.env("TZ", "XYZ-5:30").run().success().stdout;
    let lines: Vec<String> = stdout.lines().map(str::to_owned).collect();
    assert!(lines.len() <= 8, "{stdout}");
    lines
}

/// The summary is short before and after `init`, and names what was done last.
#[test]
fn a_summary_has_at_most_eight_lines() {
    let env = two_languages();
    let fresh = summary(&env).join("\n");
    assert!(
        fresh.contains("executors scout (active, default)"),
        "{fresh}"
    );
    assert!(
        fresh.ends_with("healthy (all: callosum status -v)"),
        "{fresh}"
    );
    env.run(["init", "--all", "--share"]).success();
    env.run(["delegate", "map"]).success();
    env.run(["mesh", "message", "send", "codex", "hi", "--as", "claude"]);
    let lines = summary(&env).join("\n");
    assert!(
        lines.contains("last: cal_2026_01_02_0001 by scout at 2026-01-02 08:34"),
        "{lines}"
    );
    let bytes = std::fs::read(env.project().join(".cal_memory.json"))
        .unwrap()
        .len();
    let bytes = format!("{},{:03} bytes", bytes / 1000, bytes % 1000);
    assert!(lines.contains(&bytes), "{bytes}: {lines}");
    assert!(!lines.contains("TASK "), "{lines}");
    let all = env
        .callosum()
        .arguments(["status", "-v"])
        .env("TZ", "XYZ-5:30");
    let all = all.run().success().stdout;
    assert!(
        all.contains("TASK ") && all.contains("2026-01-02 08:34"),
        "{all}"
    );
    // Programs read UTC.
    let json = env
        .callosum()
        .arguments(["status", "--json"])
        .env("TZ", "XYZ-5:30");
    let json = json.run().success().json();
    let at = json["last_tasks"][0]["timestamp"].as_str().unwrap();
    assert!(at.starts_with("2026-01-02T03:04:05"), "{at}");
}

/// What needs attention comes first, and is counted when there is too much of it.
#[test]
fn what_needs_attention_comes_first() {
    let env = two_languages();
    env.run(["init", "--all", "--share"]).success();
    env.write(
        ".calrc",
        "{\"one\": 1, \"two\": 2, \"three\": 3, \"four\": 4, \"five\": 5}\n",
    );
    let json = env.run(["status", "--json"]).success().json();
    let count = json["attention"].as_array().unwrap().len();
    assert!(count >= 5, "{json}");
    let lines = summary(&env);
    assert!(lines[0].starts_with("attention: "), "{lines:?}");
    let health = lines.last().unwrap();
    let told = format!("{count} warnings, {} not shown", count - 3);
    assert!(health.contains(&told), "{health}");
    let all = env.run(["status", "-v"]).success().stdout;
    assert_eq!(all.matches("attention: ").count(), count, "{all}");
}
