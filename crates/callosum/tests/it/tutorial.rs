//! The tutorial's commands run, and print what the page shows.

use std::path::Path;

use callosum_testkit::{TestEnv, fakes};

/// Returns the `console` blocks of a page, each as its commands and the lines that they print.
fn blocks(page: &str) -> Vec<(Vec<&str>, Vec<&str>)> {
    let blocks = page.split("```console\n").skip(1);
    blocks
        .map(|block| {
            let (block, _) = block.split_once("```").unwrap();
            let (commands, printed) = block
                .lines()
                .partition::<Vec<_>, _>(|line| line.starts_with("$ "));
            let commands = commands.into_iter().map(|line| &line[2..]).collect();
            (commands, printed)
        })
        .collect()
}

/// Whether a line is what the page shows, in which `…` stands for any text.
fn is_shown(line: &str, shown: &str) -> bool {
    let mut parts = shown.split('…');
    let mut rest = line.trim_start();
    let first = parts.next().unwrap_or_default().trim_start();
    let Some(after) = rest.strip_prefix(first) else {
        return false;
    };
    rest = after;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || shown.ends_with('…')
}

#[test]
fn the_tutorial_works_as_it_is_written() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial.md");
    let page = std::fs::read_to_string(page).unwrap();
    let env = TestEnv::new();
    let program = fakes::program("callosum");
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let blocks = blocks(&page);
    assert!(
        blocks.len() >= 8,
        "the tutorial has {} blocks",
        blocks.len()
    );
    for (number, (commands, printed)) in blocks.iter().enumerate() {
        let begin = if number == 0 { "true" } else { "cd pool" };
        let script = format!("set -e\n{begin}\n{}\n", commands.join("\n"));
        let run = env.program("bash".into()).arguments(["-c", &script]);
        // The page asks before it writes, where a test does not.
        let run = run.env("PATH", &path).run().success();
        let output = format!("{}{}", run.stdout, run.stderr);
        for shown in printed {
            assert!(
                output.lines().any(|line| is_shown(line, shown)),
                "`{shown}` is not printed by {commands:?}:\n{output}"
            );
        }
    }
}

#[test]
fn an_ellipsis_stands_for_any_text() {
    assert!(is_shown("a 1 b", "a … b"));
    assert!(is_shown("  a b c", "a …"));
    assert!(!is_shown("a 1 c", "a … b"));
    assert!(!is_shown("a b c", "a b"));
}
