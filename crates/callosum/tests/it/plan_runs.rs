//! Plans that are carried out: on record before anything happens. Those that are killed are in `plan_kills`.

use callosum_testkit::{Schema, fakes};
use serde_json::Value;

use crate::{
    projects::{
        appended, begun, carried_out, only_run, prompts, register, register_with, started,
        two_languages,
    },
    scripts::script,
};

/// CCOS-RTFS-2, CCOS-CHN-1: what a plan did can be read from the journal, call by call.
#[test]
fn a_run_is_carried_out_and_its_causal_chain_shown() {
    let env = two_languages();
    let plan = "(defplan look (file) (step :read (:lines (call :fs.read file))))";
    let output = carried_out(&env, &["-e", plan, "--param", "file=\"README.md\""]).success();
    assert_eq!(output.json()["value"], "3");
    let run = only_run(&env);
    let tree = env.run(["plan", "show", &run, "--tree"]).success().stdout;
    let lines: Vec<&str> = tree.lines().collect();
    assert_eq!(lines[0], "plan look (completed) 3");
    assert_eq!(lines[1], "  step read (completed)");
    assert!(
        lines[2].starts_with("    :fs.read [\"README.md\"] (answered)"),
        "{tree}"
    );
    assert!(lines[3].trim_start().starts_with("approved by "), "{tree}");
    assert!(lines[4].trim_start().starts_with("value {"), "{tree}");
    let branches = "(step-parallel (count (call :ledger.query {})) (step :go (count (call :ledger.query {}))))";
    let output = carried_out(&env, &["-e", branches]).success().json();
    let branched = output["run"].as_str().unwrap();
    let tree = env.run(["plan", "show", branched, "--tree"]).success();
    let lines: Vec<&str> = tree.stdout.lines().collect();
    assert!(lines[1].starts_with("  :ledger.query"), "{}", tree.stdout);
    assert_eq!(lines[4], "  step go (completed)", "{}", tree.stdout);
    env.run(["audit", "verify"]).success();
    let long = carried_out(&env, &["-e", "(range 3000)"]).success();
    let long = long.json()["run"].as_str().unwrap().to_owned();
    let wide = format!(
        "(count (call :ledger.query {{:text {:?}}}))",
        "x".repeat(150)
    );
    let wide = carried_out(&env, &["-e", &wide]).success().json();
    let wide = wide["run"].as_str().unwrap();
    let cut = env.run(["plan", "show", wide, "--tree"]).success().stderr;
    assert!(cut.contains("the full text: "), "{cut}");
    let told = env.run(["plan", "show", &long]).success().stdout;
    let way = format!("long; `callosum plan resume {long}` prints it");
    assert!(told.contains(&way), "{told}");
    let again = env.run(["plan", "resume", &run[..8]]).success();
    assert_eq!(again.stdout, "3\n");
    let asked = "(let [tree (call :chain.query {:run :this})] [(:kind tree) (:standing tree)])";
    let output = carried_out(&env, &["-e", asked]).success();
    assert_eq!(output.json()["value"], "[\"plan\" \"running\"]");
    let sample = "(:left-out (call :horizon.build {:intent :intent-123 :max-tokens 2048}))";
    carried_out(&env, &["-e", sample]).success();
    let output = carried_out(&env, &["-e", "(call :chain.query {:intent :123})"]).success();
    assert_eq!(output.json()["value"], "[]");
    let why = "no intent `123` in this project, so it matches nothing";
    assert!(output.stderr.contains(why), "{}", output.stderr);
}

/// CCOS-RTFS-2: a parameter is a value, whatever stands in it, and a secret is refused before it is kept.
#[test]
fn a_parameter_never_becomes_source() {
    let env = two_languages();
    let plan = "(defplan p (x) (string-length x))";
    let hostile = "x=\"(call :session.decide {:decision \\\"no\\\"}) $(touch gone)\"";
    let output = carried_out(&env, &["-e", plan, "--param", hostile]).success();
    assert_eq!(output.json()["value"], "53");
    let json = r#"{"x": "(call :fs.read 1)"}"#;
    let output = carried_out(&env, &["-e", plan, "--input", json]).success();
    assert_eq!(output.json()["value"], "17");
    let twice = carried_out(&env, &["-e", plan, "--input", r#"{"x": "a", "x": "b"}"#]);
    let said = twice.ended_with(2).stderr;
    assert!(said.contains("duplicate key `x`"), "{said}");
    let secret = format!("x=\"ghp_{}\"", "a1B2".repeat(9));
    let refused = carried_out(&env, &["-e", plan, "--param", &secret]).ended_with(2);
    assert!(
        refused.stderr.contains("the parameter `x`"),
        "{}",
        refused.stderr
    );
    let journal = env.run(["audit", "tail", "-n", "100", "--json"]).success();
    assert!(!journal.stdout.contains("ghp_"));
}

/// CCOS-RTFS-2: with --dry-run nothing is touched, and nothing recorded.
#[test]
fn a_dry_run_touches_nothing() {
    let env = two_languages();
    env.write(
        "answers.jsonl",
        "{\"call\": \":fs.read\", \"value\": \"{:lines 7}\"}\n",
    );
    let output = env
        .run([
            "plan",
            "run",
            "-e",
            "(:lines (call :fs.read \"none\"))",
            "--dry-run",
            "--answers",
            "answers.jsonl",
        ])
        .success();
    assert_eq!(output.stdout, "7\n");
    assert!(
        output.stderr.contains("call 0 :fs.read: approved by reads"),
        "{}",
        output.stderr
    );
    assert!(!env.project().join("cal_audit").exists());
}

/// CCOS-GOV-1, CCOS-RTFS-2: a dry run tells what the kernel would say, and lets no denied call pass.
#[test]
fn a_dry_run_tells_what_would_be_denied() {
    let env = two_languages();
    env.write(
        ".cal_constitution.cedar",
        "// callosum-constitution: format 1, version 1\n\
         @id(\"no-mesh\") forbid (principal, action, resource in Group::\"mesh\");",
    );
    env.write(
        "answers.jsonl",
        "{\"call\": \":agent.delegate\", \"value\": \"{:summary \\\"s\\\"}\"}\n",
    );
    let plan = "[(:summary (call :agent.delegate {:prompt \"p\"})) \
                (try (call :mesh.publish {:topic \"agent.note\"}) (catch :SecurityViolation e :kept-in)) \
                (try (call :fs.read 7) (catch :TypeValidationError e :no-path))]";
    let dry = ["--dry-run", "--answers", "answers.jsonl", "--json"];
    let output = env.run([&["plan", "run", "-e", plan][..], &dry].concat());
    let json = output.success().json();
    assert_eq!(Schema::published("output-plan-eval").fault(&json), None);
    assert_eq!(json["value"], "[\"s\" :kept-in :no-path]");
    let rulings = json["rulings"].as_array().unwrap().iter();
    let rulings: Vec<&str> = rulings.map(|one| one["ruling"].as_str().unwrap()).collect();
    assert_eq!(rulings, ["approved", "denied", "denied"]);
    assert_eq!(json["rulings"][1]["policies"][0], "project.no-mesh");
    assert!(!env.project().join("cal_audit").exists());
}

/// CCOS-GOV-1: a task that names nobody goes to `scout` where those that would be asked before it are forbidden.
#[test]
fn a_task_goes_past_those_that_are_forbidden() {
    let env = two_languages();
    register(&env, "quick", &fakes::fake(""));
    env.run(["executor", "enable", "quick"]).success();
    let plan = "(:executor (call :agent.delegate {:prompt \"p\" :kind \"scan\" :fresh true}))";
    let asked = || carried_out(&env, &["-e", plan]);
    assert_eq!(asked().success().json()["value"], "\"quick\"");
    let forbidden = |names: &[&str]| {
        let policies = names.iter().map(|name| {
            format!(
                "@id(\"no-{name}\") forbid (principal, action, resource == Capability::\"agent.{name}\");\n"
            )
        });
        let policies: String = policies.collect();
        let head = "// callosum-constitution: format 1, version 1\n";
        env.write(".cal_constitution.cedar", format!("{head}{policies}"));
    };
    forbidden(&["quick"]);
    assert_eq!(asked().success().json()["value"], "\"scout\"");
    forbidden(&["quick", "scout"]);
    let refused = asked().ended_with(1).json()["error"].to_string();
    assert!(
        refused.contains("no ready executor is allowed"),
        "{refused}"
    );
}

/// CCOS-RTFS-2: a failure of a call is the plan's to catch, and else the run's.
#[test]
fn a_call_that_fails_is_caught_or_ends_the_run() {
    let env = two_languages();
    let caught = "(try (call :fs.read \"../x\") (catch :SecurityViolation e :kept-out))";
    let output = carried_out(&env, &["-e", caught]).success();
    assert_eq!(output.json()["value"], ":kept-out");
    let output = carried_out(&env, &["-e", "(call :fs.read {:pth \"x\"})"]).ended_with(1);
    let error = output.json()["error"].clone();
    assert_eq!(error["line"], 1, "{error}");
    let misspelt = "(do (call :task.add {:prompt \"p\" :to \"codex\"}) (call :ledger.qurey {}))";
    let refused = env.run(["plan", "run", "-e", misspelt]).ended_with(1);
    assert!(
        refused.stderr.contains("`:ledger.query`"),
        "{}",
        refused.stderr
    );
    let left = env.run(["mesh", "task", "list", "--json"]).success().json();
    assert_eq!(left["tasks"], Value::Array(Vec::new()), "it did nothing");
}

/// An executor that leaves a mark for each time that it is asked, and fails.
pub(crate) const FAILING: &str = r#"
with pathlib.Path(__file__).with_name("asked").open("a") as marks:
    marks.write(prompt)
sys.exit(1)
"#;

/// CCOS-RTFS-2: a call is tried as often as its step says, and else once.
#[test]
fn an_executor_is_asked_again_only_where_its_step_says_so() {
    let env = two_languages();
    env.write("tools/fail.py", script(FAILING));
    let unconfined = &["--sandbox", "off"];
    register_with(&env, "failing", "python3 tools/fail.py", unconfined);
    let call = "(call :agent.failing {:prompt \"a\"})";
    let again = "(step :s {:retries {:max 1}} (call :agent.failing {:prompt \"b\"}))";
    for plan in [call, again] {
        carried_out(&env, &["-e", plan]).ended_with(1);
    }
    let asked = std::fs::read_to_string(env.project().join("tools/asked")).unwrap();
    assert_eq!(asked, "abb");
}

/// CCOS-GOV-1: what a run was given is what its calls may use, and what was used is told.
#[test]
fn a_run_that_has_used_up_its_tokens_calls_nothing_more() {
    let env = two_languages();
    let answering = FAILING.replace("sys.exit(1)", "answer(prompt, 700)");
    env.write("tools/one.py", script(&answering));
    let unconfined = &["--sandbox", "off"];
    register_with(&env, "one", "python3 tools/one.py", unconfined);
    let plan = "(map (fn [p] (:summary (call :agent.one {:prompt p}))) [\"a\" \"b\" \"c\"])";
    let capped = ["-e", plan, "--max-tokens", "1000", "--max-cost", "2.5"];
    let json = carried_out(&env, &capped).ended_with(1).json();
    assert_eq!(json["error"]["kind"], "BudgetExhausted", "{json}");
    assert_eq!(prompts(&env), ["a", "b"]);
    let run = only_run(&env);
    let shown = env.run(["plan", "show", &run, "--json"]).success().json();
    assert_eq!(Schema::published("output-plan-show").fault(&shown), None);
    assert_eq!(shown["tokens"], 1400);
    assert_eq!(shown["max_tokens"], 1000);
    assert_eq!(shown["max_cost_usd"], 2.5);
    let told = env.run(["plan", "show", &run]).success().stdout;
    assert!(
        told.contains("1400 of 1000 tokens, $0.00 of $2.50, "),
        "{told}"
    );
    for cap in ["--max-tokens=0", "--max-cost=0", "--timeout=0s"] {
        env.run(["plan", "run", "-e", "1", cap]).ended_with(2);
    }
    let part = env.run(["plan", "run", "-e", "1", "--timeout=0.5s"]);
    let told = part.ended_with(2).stderr;
    assert!(told.contains("30s, 10m"), "{told}");
}

/// CCOS-GOV-1: a run that came along with a repository is gone on with by nobody, approved or not.
#[test]
fn a_run_is_gone_on_with_where_it_was_begun() {
    let env = two_languages();
    let policies = "// callosum-constitution: format 1, version 1\n\
                    @id(\"ask\") @ask(\"it files a task\") permit (principal, action, resource);";
    let file = env.configuration().with_file_name("constitution.cedar");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, policies).unwrap();
    env.run(["constitution", "sign", file.to_str().unwrap()])
        .success();
    let plan = "(:task (call :task.add {:prompt \"planted\"}))";
    env.run(["plan", "run", "-e", plan]).ended_with(5);
    let run = only_run(&env);
    let elsewhere = env.folder().join("another-home");
    for verb in ["approve", "resume"] {
        let there = env.callosum().env("CALLOSUM_HOME", elsewhere.clone());
        let refused = there.arguments(["plan", verb, &run]).run().ended_with(1);
        let why = "was not started on this machine";
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
    let known = env.machine_home().join(format!("plan-runs/{run}.json"));
    assert!(known.exists());
    env.run(["plan", "approve", &run]).success();
    assert!(!known.exists(), "what is over needs no memory");
    assert!(
        env.run(["plan", "resume", &run])
            .success()
            .stdout
            .contains("plan-")
    );
}

/// CCOS-RTFS-2: a record that is none of a run's, or does not fit, is told of and keeps no other run from being read.
#[test]
fn a_record_that_does_not_fit_is_no_matter_of_other_runs() {
    let env = two_languages();
    carried_out(&env, &["-e", "(+ 1 2)"]).success();
    let whole = only_run(&env);
    let other = "01234567-89ab-4def-8123-456789abcdef";
    for run in [serde_json::json!("../../x"), 5.into(), other.into()] {
        let details = serde_json::json!({"run": run, "format": 2, "key": "ab"});
        appended(&env, "started", &details);
    }
    let listed = env.run(["plan", "list"]).success();
    assert!(listed.stdout.contains(&whole), "{}", listed.stdout);
    for told in [
        "ignoring 2 records without a run: ",
        &format!("ignoring the run {other}: "),
    ] {
        assert!(listed.stderr.contains(told), "{}", listed.stderr);
    }
    env.run(["plan", "show", &whole]).success();
    env.run(["plan", "show", &whole[..8]]).success();
    let broken = env.run(["plan", "show", other]).ended_with(3);
    let told = "as a plan record";
    assert!(broken.stderr.contains(told), "{}", broken.stderr);
    carried_out(&env, &["-e", "(count (call :chain.query {:run :this}))"]).success();
}

/// CCOS-RTFS-2: one call starts its executor once, also where `delegate` would send a short answer back.
#[test]
fn a_short_answer_to_a_plan_is_taken_as_it_is() {
    let env = two_languages();
    env.write("large/much.rs", "fn much() {}\n".repeat(2_000));
    env.write("tools/echo.py", script("answer(prompt, 0)"));
    register_with(&env, "echo", "python3 tools/echo.py", &[]);
    let plan = r#"(:summary (call :agent.delegate {:executor "echo" :prompt "what is here"}))"#;
    let output = carried_out(&env, &["-e", plan]).success();
    assert!(!output.stdout.contains("sent back"), "{}", output.stdout);
    let query = ["audit", "query", "--event", "rejected", "--json"];
    let records = env.run(query).success().json();
    assert_eq!(records["records"], serde_json::json!([]));
}

/// CCOS-CAP-1: of plans that leave a task for the same at a time, in processes of their own, one does.
#[test]
fn a_task_with_an_id_is_left_once_by_many_processes() {
    let env = two_languages();
    let plan = r#"(:task (call :task.add {:prompt "mend it" :id "audit"}))"#;
    let start = |_| started(&env, &["run", "-e", plan]);
    let running: Vec<_> = (0..6).map(start).collect();
    let told = running.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    });
    let told: std::collections::BTreeSet<String> = told.collect();
    assert_eq!(told.len(), 1, "{told:?}");
    let left = env.run(["mesh", "task", "list", "--json"]).success().json();
    assert_eq!(left["tasks"].as_array().unwrap().len(), 1, "{left}");
}

/// CALC-L1-2, CCOS-CAP-1: what the branches of ten plans publish at a time, each for a window of five seconds, has its
/// turn within the time of a call.
#[test]
fn publications_have_the_time_to_wait_for_their_turns() {
    let env = two_languages();
    let show = ["capability", "show", "mesh.publish", "--json"];
    let shown = env.run(show).success().json();
    let within = shown["milliseconds"].as_u64().unwrap();
    assert!(within >= 10 * 8 * 5_000, "{shown}");
}

/// CCOS-CAP-1: what a task is about is the project's: the same word in another project of the machine is another's.
#[test]
fn a_task_with_an_id_is_the_projects() {
    let env = two_languages();
    env.write("docs/intro.md", "# Intro\n");
    let other = env.folder().join("other");
    env.write(other.join("README.md"), "# other\n");
    let plan = r#"(:task (call :task.add {:prompt "mend it" :id "audit"}))"#;
    let left = |folder: &std::path::Path| {
        let run = env
            .callosum()
            .in_folder(folder)
            .without("CALLOSUM_TEST_IDS");
        let run = run.arguments(["plan", "run", "-e", plan]).run();
        run.success().stdout
    };
    let here = left(&env.project());
    let there = left(&other);
    assert_ne!(here, there);
    assert_eq!(left(&env.project().join("docs")), here);
    assert_eq!(left(&other), there);
    let left = env.run(["mesh", "task", "list", "--json"]).success().json();
    assert_eq!(left["tasks"].as_array().unwrap().len(), 2, "{left}");
}

/// CCOS-CAP-1: a plan is told which citations of an answer hold, and whoever looks at its run is, too.
#[test]
fn a_plan_is_told_how_many_citations_hold() {
    let env = two_languages();
    env.write("tools/echo.py", script("answer(prompt, 0)"));
    register_with(&env, "echo", "python3 tools/echo.py", &[]);
    let plan = r#"(let [of (fn [p] (:citations (call :agent.echo {:prompt p :fresh true})))
                        bad (of "It holds: src/nothere.rs:99999")]
                    {:bad bad :none (:total (of "It holds"))
                     :again (map :citations (call :ledger.query {:text "nothere"}))})"#;
    let output = carried_out(&env, &["-e", plan]).success().json();
    let value = output["value"].as_str().unwrap();
    let bad = "{:missing 1 :missing-places [{:place \"src/nothere.rs:99999\" :why \"there is no such file\"}] \
               :moved 0 :total 1 :verified 0}";
    assert_eq!(
        value,
        format!("{{:again [{bad}] :bad {bad} :none 0}}"),
        "{value}"
    );
    let tree = env.run(["plan", "show", &only_run(&env), "--tree"]);
    let tree = tree.success().stdout;
    let told = "by echo; 0 of 1 citation hold, not src/nothere.rs:99999 (there is no such file)\n";
    assert!(tree.contains(told), "{tree}");
    assert!(tree.contains("by echo\n"), "{tree}");
}

/// CCOS-CAP-1: a mode in which no task runs is refused, with those that there are.
#[test]
fn the_ledger_is_not_asked_for_a_mode_that_is_none() {
    let env = two_languages();
    let plan = "(count (call :ledger.query {:mode :queued}))";
    carried_out(&env, &["-e", plan]).success();
    let plan = "(call :ledger.query {:mode :at-once})";
    let refused = carried_out(&env, &["-e", plan]).ended_with(1).json();
    let why = "`:mode` is `at-once` (allowed: :sequential, :concurrent, :staggered, :queued)";
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(said.contains(why), "{refused}");
}

/// CCOS-RTFS-2: a plan's decision is one of the project's.
#[test]
fn a_plan_decides() {
    let env = two_languages();
    let plan = "(:title (call :session.decide {:decision \"Use one pool\" :assume true}))";
    let output = carried_out(&env, &["-e", plan]).success();
    assert_eq!(output.json()["value"], "\"Use one pool\"");
}

/// CCOS-RTFS-2: another process ends a run, and what it has running.
#[test]
fn a_run_is_cancelled_by_another_process() {
    let env = two_languages();
    let patient = &["--idle-timeout", "10m"];
    register_with(&env, "silent", &fakes::fake("--silent"), patient);
    let plan = "(call :agent.delegate {:executor \"silent\" :prompt \"a\"})";
    let (mut child, run) = begun(&env, plan);
    env.run(["plan", "cancel", &run]).success();
    child.wait().unwrap();
    let shown = env.run(["plan", "show", &run, "--json"]).success().json();
    assert_eq!(shown["standing"], "cancelled");
    env.run(["plan", "cancel", &run]).success();
    env.run(["plan", "resume", &run]).ended_with(1);
    env.run(["plan", "show", "0000-none"]).ended_with(1);
}

/// CCOS-RTFS-2: the examples of the documentation do what they say, with fakes for their agents.
#[test]
fn the_examples_run() {
    let env = two_languages();
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    let example = |name: &str| examples.join(name).to_string_lossy().into_owned();
    for name in ["first", "second", "judge"] {
        register(&env, name, &fakes::fake(""));
    }
    let review = example("review-by-two.rtfs");
    let input = r#"{"paths": ["src"], "first": "first", "second": "second", "judge": "judge"}"#;
    let output = carried_out(&env, &[&review, "--input", input])
        .success()
        .json();
    let value = output["value"].as_str().unwrap();
    assert!(value.contains(":reviews [\"cal_2026_"), "{value}");
    let run = only_run(&env);
    let tree = env.run(["plan", "show", &run, "--tree"]).success().stdout;
    assert_eq!(tree.matches("(commit) by ").count(), 3, "{tree}");
    assert!(value.contains(": 0 of 0 citations hold. "), "{value}");

    let survey = example("survey-and-file.rtfs");
    let output = carried_out(&env, &[&survey, "--param", "agent=\"codex\""])
        .success()
        .json();
    assert!(
        output["value"]
            .as_str()
            .unwrap()
            .contains(":tasks [\"plan-"),
        "{output}"
    );
    let tasks = env.run(["mesh", "task", "list", "--json"]).success().json();
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 3, "{tasks}");
    assert_eq!(tasks["tasks"][0]["created_by"], "plan");

    let stale = example("stale-decisions.rtfs");
    let input = r#"{"executor": "judge", "agent": "codex"}"#;
    let output = carried_out(&env, &[&stale, "--input", input])
        .success()
        .json();
    assert_eq!(output["value"], "{:checked 0 :left-out 0 :verdict :fine}");
    env.run(["session", "decide", "Use one pool", "--source=assumption"])
        .success();
    let known =
        "(map :text (:items (call :horizon.build {:intent \"pool\" :sources [:decision]})))";
    let known = carried_out(&env, &["-e", known]).success().json();
    let known = known["value"].as_str().unwrap();
    assert_eq!(known.matches("Use one pool").count(), 1, "{known}");
    for _night in 0..2 {
        let output = carried_out(&env, &[&stale, "--input", input])
            .success()
            .json();
        // The fake says back what it was asked, which begins with neither of the two words.
        assert!(
            output["value"]
                .as_str()
                .unwrap()
                .contains(":verdict :unclear"),
            "{output}"
        );
    }
    let open_tasks = || env.run(["mesh", "task", "list", "--json"]).success().json();
    let tasks = open_tasks();
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 4, "{tasks}");
    let tasks = tasks["tasks"].as_array().unwrap();
    let filed = tasks.iter().filter_map(|task| task["id"].as_str());
    let filed = filed
        .filter(|id| id.starts_with("unclear-audit."))
        .collect::<Vec<_>>();
    let [filed] = filed.as_slice() else {
        panic!("{tasks:?}");
    };
    // Once it is over, there may be another.
    env.run(["mesh", "task", "cancel", filed, "--as", "codex"])
        .success();
    carried_out(&env, &[&stale, "--input", input]).success();
    assert_eq!(open_tasks()["tasks"].as_array().unwrap().len(), 4);
}
