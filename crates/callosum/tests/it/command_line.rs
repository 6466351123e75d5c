//! The command line's surface: groups of commands in help, topics, short forms of `delegate`, suggestions.

use crate::projects::two_languages;

const GROUPS: [&str; 6] = ["Delegate", "Guard", "Sessions", "Mesh", "Plans", "Setup"];

#[test]
fn help_lists_commands_by_group_and_ends_with_global_options() {
    let env = callosum_testkit::TestEnv::new();
    for option in ["--help", "-h"] {
        let help = env.run([option]).success().stdout;
        let mut at = 0;
        for group in GROUPS {
            let heading = format!("\n{group}: ");
            at = help[at..]
                .find(&heading)
                .unwrap_or_else(|| panic!("{group}: {help}"))
                + at;
        }
        assert!(
            help[at..].contains("\nGlobal options:\n  -C <DIR>"),
            "{help}"
        );
        assert!(!help.contains("\nCommands:"), "{help}");
    }
    let page = env.run(["ledger", "query", "--help"]).success().stdout;
    let (own, global) = page.split_once("\nGlobal options:\n").unwrap();
    assert!(
        own.contains("--limit <N>") && !own.contains("--json"),
        "{page}"
    );
    assert!(
        global.contains("--json") && !global.contains("--limit <N>"),
        "{page}"
    );
}

#[test]
fn help_has_a_page_for_a_group_and_for_a_command() {
    let env = callosum_testkit::TestEnv::new();
    let setup = env.run(["help", "setup"]).success().stdout;
    assert!(setup.contains("  doctor  "), "{setup}");
    let guard = env.run(["help", "guard"]).success().stdout;
    assert!(
        guard.contains("Usage: callosum guard") && guard.contains("  snapshot  "),
        "{guard}"
    );
    let ledger = env.run(["help", "ledger"]).success().stdout;
    assert!(
        ledger.contains("Usage: callosum ledger") && !ledger.contains("  replay  "),
        "{ledger}"
    );
    let unknown = env.run(["help", "gaurd"]).ended_with(2).stderr;
    assert!(
        unknown.contains("a similar subcommand exists: 'guard'"),
        "{unknown}"
    );
}

#[test]
fn a_mistyped_command_is_answered_with_the_nearest_one() {
    let env = callosum_testkit::TestEnv::new();
    for (words, name) in [
        (&["delgate", "map"][..], "delegate"),
        (&["snapshto"], "snapshot"),
        (&["ledger", "qeury"], "query"),
    ] {
        let refused = env.run(words).ended_with(2).stderr;
        let tip = format!("tip: a similar subcommand exists: '{name}'\n");
        assert!(refused.contains(&tip), "{refused}");
    }
    let json = env.run(["delgate", "map", "--json"]).ended_with(2).json();
    assert_eq!(json["error"]["hint"], "callosum delegate map --json");
}

/// The short forms answer what `delegate --kind` answers.
#[test]
fn short_forms_delegate_their_kind() {
    let env = two_languages();
    for kind in ["scan", "deps", "tests", "api"] {
        let short = env.run([kind]).success();
        let long = env
            .run(["delegate", "x", "--kind", kind, "--executor", "scout"])
            .success();
        assert_eq!(short.stdout, long.stdout);
        assert!(!short.stderr.contains("note:"), "{}", short.stderr);
    }
    let json = env.run(["deps", "src", "--json"]).success().json();
    assert_eq!(json["kind"], "deps");
    let below = env.run(["ledger", "query", "--limit", "1", "--json"]);
    let below = below.success().json();
    assert_eq!(below["entries"][0]["metadata"]["paths"][0], "src");
    let section = env.run(["scan", "--section", "no such", "--json"]);
    let refused = section.ended_with(2).json();
    assert_eq!(refused["kind"], "scan");
    assert_eq!(refused["status"], "error");
}

/// A person who asks scout a question that it does not answer hears so before the scan.
#[test]
fn a_prompt_that_scout_ignores_is_answered_with_the_command_that_fits() {
    let env = two_languages();
    let asked = |prompt: &str| env.run(["delegate", prompt]).success().stderr;
    let deps = asked("Which modules depend on each other?");
    let note = "note: scout does not interpret prompts: this one gets a scan; `deps` answers it\n\
                hint: callosum deps\n";
    assert!(deps.starts_with(note), "{deps}");
    let below = ["delegate", "Which tests cover total?", "--path", "src"];
    let below = env.run(below).success().stderr;
    assert!(below.contains("hint: callosum tests src\n"), "{below}");
    let other = asked("Why is the total wrong?");
    assert!(
        other.starts_with("note: scout does not interpret prompts"),
        "{other}"
    );
    for fits in ["Map this repository", "where is the entry point?"] {
        assert!(!asked(fits).contains("note:"), "{fits}");
    }
    let kind = ["delegate", "Who depends on whom?", "--kind", "scan"];
    let kind = env.run(kind).success().stderr;
    assert!(!kind.contains("note:"), "{kind}");
}

/// `man` shows the third field at the foot of a page and the fourth at its head.
#[test]
fn the_title_of_a_manual_page_names_program_and_version() {
    let env = callosum_testkit::TestEnv::new();
    let version = env!("CARGO_PKG_VERSION");
    for (words, name) in [
        (&[][..], "callosum"),
        (&["guard"], "callosum-guard"),
        (&["ledger", "query"], "callosum-ledger-query"),
    ] {
        let page = ["generate", "man"].iter().chain(words);
        let page = env.run(page).success().stdout;
        let title = format!(".TH {name} 1  \"callosum {version}\" \"Callosum Manual\"\n");
        assert!(page.contains(&title), "{page}");
    }
}
