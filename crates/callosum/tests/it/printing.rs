//! What is printed at a terminal, with Python's `pty` as the terminal, and what `--color`, `--quiet` and `--no-pager` change.

use callosum_testkit::{Output, TestEnv};

use crate::projects::two_languages;

/// Runs a program on a terminal of its own: arguments are columns, rows, what a person types, and the command. Standard
/// error is not the terminal unless something is typed, so that no progress line is drawn.
const TERMINAL: &str = r#"
import fcntl, os, pty, struct, subprocess, sys, termios
columns, rows, typed, *command = sys.argv[1:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))
child = subprocess.Popen(
    command, stdin=theirs, stdout=theirs, stderr=theirs if typed else None, start_new_session=True
)
os.close(theirs)
if typed:
    os.write(ours, typed.encode())
shown = b""
while True:
    try:
        part = os.read(ours, 65536)
    except OSError:
        break
    if not part:
        break
    shown += part
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.exit(child.wait())
"#;

/// Runs `callosum` on a terminal of this size.
fn shown_at(
    env: &TestEnv,
    (columns, rows): (u32, u32),
    variables: &[(&str, &str)],
    words: &[&str],
) -> Output {
    on_terminal(env, (columns, rows), "", variables, words)
}

fn on_terminal(
    env: &TestEnv,
    (columns, rows): (u32, u32),
    typed: &str,
    variables: &[(&str, &str)],
    words: &[&str],
) -> Output {
    let program = callosum_testkit::fakes::program("callosum");
    let size = [columns.to_string(), rows.to_string()];
    let mut run = env
        .program("python3".into())
        .arguments(["-c", TERMINAL])
        .arguments(size)
        .arguments([typed])
        .arguments([program])
        .arguments(words)
        .env("TERM", "xterm-256color");
    for (name, value) in variables {
        run = run.env(name, *value);
    }
    run.run()
}

/// The text without escapes of colors and links.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = match after.strip_prefix(']') {
            Some(link) => link.split_once("\u{1b}\\").unwrap().1,
            None => after.split_once('m').unwrap().1,
        };
    }
    plain + rest
}

const SHOW: [&str; 3] = ["ledger", "show", "cal_2026_01_02_0001"];

#[test]
fn color_is_the_options_before_the_environments() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    let uncolored = env.run(SHOW).success().stdout;
    let show = |color: &str, (name, value): (&str, &str)| {
        let run = env.callosum().arguments(["--color", color]).arguments(SHOW);
        run.env(name, value).run().success().stdout
    };
    let colored = show("always", ("NO_COLOR", "1"));
    assert!(
        colored.contains("\u{1b}[1m## Entry points\u{1b}[0m\n"),
        "{colored:?}"
    );
    assert!(!colored.contains("\u{1b}]8;"), "{colored:?}");
    assert_eq!(plain(&colored), uncolored);
    assert_eq!(show("never", ("CLICOLOR_FORCE", "1")), uncolored);
    assert_eq!(show("auto", ("NO_COLOR", "1")), uncolored);
    let help = env.run(["--color=always", "--help"]).success().stdout;
    assert!(help.contains("\u{1b}["), "{help}");
    let refused = env
        .run(["--color", "always", "delgate"])
        .ended_with(2)
        .stderr;
    assert!(refused.contains("\u{1b}["), "{refused}");
    env.run(["--color", "sometimes", "status"]).ended_with(2);
}

#[test]
fn quiet_leaves_results_and_errors() {
    let env = two_languages();
    let words = ["delegate", "Why is the total wrong?"];
    let loud = env.run(words).success();
    assert!(loud.stderr.contains("note: "), "{}", loud.stderr);
    let quiet = env.callosum().arguments(words).arguments(["--quiet"]).run();
    let quiet = quiet.success();
    assert_eq!(quiet.stdout, loud.stdout);
    assert_eq!(quiet.stderr, "");
    let refused = env
        .run(["-q", "ledger", "show", "cal_2020_01_01_0001"])
        .ended_with(1);
    let told = "error: no entry `cal_2020_01_01_0001` in the ledger or its archives\n";
    assert!(refused.stderr.starts_with(told), "{}", refused.stderr);
    let nothing = env
        .run(["ledger", "query", "--text", "xyz", "-q"])
        .success();
    assert_eq!((&*nothing.stdout, &*nothing.stderr), ("", ""));
}

/// A person agrees to what they see, so `--quiet` shows what a question is about.
#[test]
fn quiet_hides_nothing_that_a_question_is_about() {
    let env = two_languages();
    let asked = |words: &[&str]| {
        let no = [("CALLOSUM_ASSUME_YES", "0")];
        let shown = on_terminal(&env, (100, 40), "n\n", &no, words);
        let shown = plain(&shown.stdout);
        // On a busy machine the terminal echoes the answer before the question.
        shown.strip_prefix("n\n").unwrap_or(&shown).to_owned()
    };
    let loud = asked(&["init", "--ledger"]);
    assert!(loud.contains("[y/N]"), "{loud}");
    let (plan, _) = loud.split_once("[y/N]").unwrap();
    let quiet = asked(&["--quiet", "init", "--ledger"]);
    assert!(quiet.starts_with(plan), "{quiet}");
}

#[test]
fn a_terminal_shows_digests_in_color_and_within_its_width() {
    let env = two_languages();
    let piped = env.run(["scan"]).success().stdout;
    let shown = shown_at(&env, (60, 500), &[], &["scan"]).success().stdout;
    assert!(
        shown.contains("\u{1b}[1m## Entry points\u{1b}[0m\n"),
        "{shown:?}"
    );
    assert!(!shown.contains("\u{1b}]8;"), "{shown:?}");
    let lines = plain(&shown);
    assert!(
        lines.lines().all(|line| line.chars().count() <= 60),
        "{lines}"
    );
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(&lines), words(&piped));
    let narrow = shown_at(&env, (20, 500), &[], &["scan"]).success().stdout;
    assert_eq!(plain(&narrow), lines);
    let none = shown_at(&env, (60, 500), &[("NO_COLOR", "1")], &["scan"]);
    assert_eq!(none.success().stdout, lines);
}

#[test]
fn a_place_is_a_link_where_the_terminal_shows_links() {
    let env = two_languages();
    let file = env.project().join("src/main.rs");
    let link = format!("\u{1b}]8;;file://{}\u{1b}\\src/main.rs:", file.display());
    for words in [&["scan"][..], &["find", "numbers of a file"]] {
        let shown = |variables: &[(&str, &str)]| {
            let shown = shown_at(&env, (200, 500), variables, words);
            shown.success().stdout
        };
        assert!(
            shown(&[("TERM_PROGRAM", "WezTerm")]).contains(&link),
            "{words:?}"
        );
        assert!(!shown(&[]).contains("\u{1b}]8;"), "{words:?}");
        let piped = env
            .callosum()
            .arguments(["--color=always"])
            .arguments(words);
        let piped = piped.env("FORCE_HYPERLINK", "1").run().success().stdout;
        assert!(piped.contains(&link), "{piped:?}");
    }
}

#[test]
fn what_is_longer_than_the_screen_goes_through_the_pager() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    let pager = [("CALLOSUM_PAGER", "sed 's/^/| /'")];
    let is_paged = |size, variables: &[(&str, &str)], words: &[&str]| {
        let shown = shown_at(&env, size, variables, words).success().stdout;
        shown.lines().all(|line| line.starts_with("| "))
    };
    for words in [&["scan"][..], &["find", "numbers"], &SHOW] {
        assert!(is_paged((80, 4), &pager, words), "{words:?}");
        assert!(!is_paged((80, 500), &pager, words), "{words:?}");
        let without = [words, &["--no-pager"]].concat();
        assert!(!is_paged((80, 4), &pager, &without), "{words:?}");
        let json = [words, &["--json"]].concat();
        assert!(!is_paged((80, 4), &pager, &json), "{words:?}");
    }
    let other = [("PAGER", "sed 's/^/| /'")];
    assert!(is_paged((80, 4), &other, &["scan"]));
    // One that is not there is no reason to print nothing.
    let gone = [("PAGER", "no-such-pager")];
    let shown = shown_at(&env, (200, 4), &gone, &["--color=never", "scan"]);
    assert_eq!(shown.success().stdout, env.run(["scan"]).success().stdout);
}

#[test]
fn a_table_stays_within_60_columns() {
    let env = two_languages();
    let prompt = "Map this repository and describe its architecture";
    env.run(["delegate", prompt]).success();
    let shown = shown_at(&env, (60, 40), &[], &["ledger", "query"]);
    let shown = shown.success().stdout;
    assert!(
        shown.lines().all(|line| line.chars().count() <= 60),
        "{shown}"
    );
    assert!(shown.contains("cal_2026_01_02_0001"), "{shown}");
}

/// A person reads their own time; programs read UTC.
#[test]
fn a_terminal_shows_local_time() {
    let env = two_languages();
    env.run(["delegate", "map"]).success();
    env.run(["snapshot", "create", "before"]).success();
    let zone = [("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")];
    let (local, utc) = ("2026-01-02 04:04:05", "2026-01-02T03:04:05Z");
    for words in [
        &["ledger", "query"][..],
        &SHOW,
        &["ledger", "stats"],
        &["audit", "query"],
        &["snapshot", "list"],
    ] {
        let shown = shown_at(&env, (200, 500), &zone, words).success().stdout;
        assert!(shown.contains(local) && !shown.contains(utc), "{shown}");
        let piped = env.callosum().arguments(words).env("TZ", zone[0].1).run();
        let piped = piped.success().stdout;
        assert!(piped.contains(utc) && !piped.contains(local), "{piped}");
    }
    let json = [&SHOW[..], &["--json"]].concat();
    let json = shown_at(&env, (200, 500), &zone, &json).success().stdout;
    assert!(json.contains(utc) && !json.contains(local), "{json}");
}

/// The digest writes 1,234, and so do the lines about it.
#[test]
fn numbers_have_commas_wherever_people_read_them() {
    let env = two_languages();
    let long = "pub fn one() -> usize { 1 }\n".repeat(1500);
    env.write("src/long.rs", long);
    let told = env.run(["scan"]).success();
    assert!(told.stdout.contains("1,5"), "{}", told.stdout);
    let json = env.run([&SHOW[..], &["--json"]].concat()).success().json();
    let used = json["tokens_used"].as_u64().unwrap();
    assert!(used > 9_999, "{used}");
    let text = format!("{},{:03}", used / 1000, used % 1000);
    assert!(
        told.stderr.contains(&format!("{text} tokens read")),
        "{}",
        told.stderr
    );
    for words in [&["ledger", "query"][..], &SHOW, &["ledger", "stats"]] {
        let shown = env.run(words).success().stdout;
        assert!(shown.contains(&text), "{shown}");
        assert!(!shown.contains(&used.to_string()), "{shown}");
    }
}
