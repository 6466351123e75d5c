//! Programs in the language of plans, checked and evaluated.

use callosum_testkit::{Schema, TestEnv};
use serde_json::json;

/// The seed's own answer of a model: a plan over one call, and a pure function of what it gives.
const SEED_PLAN: &str = "(defplan analyze (reviews) (let [sents (call :nlp.sentiment reviews)] \
     (pure (summarize sents))))";

/// CCOS-RTFS-1: a program is evaluated and its value printed in the language's own notation.
#[test]
fn eval_prints_the_value_in_the_languages_notation() {
    let env = TestEnv::new();
    for (source, printed) in [
        ("(+ 1 2)", "3\n"),
        ("(/ 7 2)", "3.5\n"),
        ("(sqrt 16)", "4.0\n"),
        (
            "{:b \"x\\n\" :a [nil true]}",
            "{:a [nil true] :b \"x\\n\"}\n",
        ),
        ("-3", "-3\n"),
    ] {
        let output = env.run(["plan", "eval", "-e", source]).success();
        assert_eq!(output.stdout, printed, "{source}");
        assert_eq!(output.stderr, "");
    }
    env.write("sum.rtfs", "(reduce + 0 (range 5))\n");
    assert_eq!(
        env.run(["plan", "eval", "sum.rtfs"]).success().stdout,
        "10\n"
    );
    let piped = env.callosum().arguments(["plan", "eval", "-"]);
    assert_eq!(piped.input("(inc 1)").run().success().stdout, "2\n");
}

/// CCOS-RTFS-1: a failure is told with its kind and its place, and the exit code is 1.
#[test]
fn eval_tells_the_kind_and_the_place_of_a_failure() {
    let env = TestEnv::new();
    for (source, kind) in [
        ("(+ 1 \"a\")", "TypeError"),
        ("(inc)", "ArityMismatch"),
        ("(/ 1 0)", "DivisionByZero"),
        ("(foo)", "UndefinedSymbol"),
        ("(match 1 2 3)", "MatchError"),
        ("(let [x : Int :a] x)", "TypeValidationError"),
        ("(step-loop true 1)", "BudgetExhausted"),
        ("(pure (call :a))", "SecurityViolation"),
        ("(call :a)", "UnknownCapability"),
        ("(+ 1", "ParseError"),
        ("(cond true 1)", "UnsupportedForm"),
    ] {
        let output = env.run(["plan", "eval", "-e", source]).ended_with(1);
        assert!(output.stderr.contains(kind), "{source}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{source}");
        let json = env
            .run(["plan", "eval", "-e", source, "--json"])
            .ended_with(1);
        assert_eq!(json.json()["error"]["kind"], kind, "{source}");
    }
    env.write("bad.rtfs", "(let [x 1]\n  (+ x nil))\n");
    let output = env.run(["plan", "eval", "bad.rtfs"]).ended_with(1);
    insta::assert_snapshot!(output.stderr, @r"
    error[TypeError]: `+` takes numbers, but got nil
     --> bad.rtfs:2:3
      |
    2 |   (+ x nil))
      |   ^^^^^^^^^
    ");
    let output = env.run(["plan", "eval", "-e", "(cond true (frist [1]))"]);
    insta::assert_snapshot!(output.ended_with(1).stderr, @r"
    error[unsupported-form]: `cond` is not supported
     --> -e:1:2
      |
    1 | (cond true (frist [1]))
      |  ^^^^
      |
      = hint: nest `if`: `(if a x (if b y z))`; or use `match` if one value decides

    error: UnsupportedForm: the program was rejected for 1 reason
    ");
}

/// CCOS-RTFS-1: where no program stands there is none that came to nil.
#[test]
fn a_text_without_a_program_is_refused() {
    let env = TestEnv::new();
    env.write("comment.rtfs", "; later\n#| or never |#\n");
    for verb in ["eval", "run", "check"] {
        for (source, told) in [
            (&["-e", " \n"][..], "there is no program in -e: it is empty"),
            (
                &["comment.rtfs"],
                "there is no program in comment.rtfs: it contains only comments",
            ),
        ] {
            let refused = env.run(["plan", verb].iter().chain(source)).ended_with(2);
            assert!(refused.stderr.contains(told), "{verb}: {}", refused.stderr);
        }
    }
}

/// CCOS-RTFS-1: what a plan is not given is told at once, with lines to paste.
#[test]
fn parameters_that_are_missing_or_none_are_told_with_what_to_paste() {
    let env = TestEnv::new();
    let plan = "(defplan p (what who) (str what who))";
    let hint = |verb: &str, given: &[&str]| {
        let base = ["plan", verb, "-e", plan];
        let refused = env.run(base.iter().chain(given)).ended_with(2);
        refused.stderr
    };
    for verb in ["eval", "run"] {
        let missing = hint(verb, &[]);
        assert!(
            missing.contains("parameters `what`, `who` have no value"),
            "{missing}"
        );
        let options = "--param 'what=VALUE' --param 'who=VALUE'\n";
        assert!(missing.ends_with(options), "{missing}");
        let bare = hint(verb, &["--param", "what=it's a \"cat\""]);
        let pasted = bare.lines().next_back().unwrap();
        let (_, pasted) = pasted.split_once("quotation marks: ").unwrap();
        let words = shlex::split(pasted).unwrap();
        assert_eq!(words, ["--param", "what=\"it's a \\\"cat\\\"\""], "{bare}");
    }
}

/// CCOS-RTFS-1: calls are answered from a file, in their order, and the capability must agree.
#[test]
fn eval_takes_the_answer_to_each_call_from_a_file() {
    let env = TestEnv::new();
    env.write(
        "answers.jsonl",
        "{\"call\": \":nlp/sentiment\", \"value\": \"[:good :bad :good]\"}\n\n",
    );
    let with_answers = |source: &str| {
        let words = ["plan", "eval", "--answers", "answers.jsonl", "-e", source];
        env.run(words)
    };
    let doubled = with_answers("(count (call \"nlp.sentiment\" [1 2 3]))").success();
    assert_eq!(doubled.stdout, "3\n");
    let other = with_answers("(call :storage.read)").ended_with(1);
    assert!(other.stderr.contains(":storage.read"), "{}", other.stderr);
    assert!(other.stderr.contains("answers.jsonl:1"), "{}", other.stderr);
    let unused = with_answers("1").success();
    assert!(unused.stderr.contains("1 answer"), "{}", unused.stderr);

    let plan = [
        "plan",
        "eval",
        "-e",
        SEED_PLAN,
        "--answers",
        "answers.jsonl",
    ];
    let missing = env.run(plan).ended_with(2);
    assert!(missing.stderr.contains("`reviews`"), "{}", missing.stderr);
    let given = plan
        .iter()
        .chain(&["--param", "reviews=[\"fine\" \"poor\" \"fine\"]", "--json"]);
    let output = env.run(given).success().json();
    assert_eq!(
        output["calls"][0],
        "0 :nlp.sentiment [\"fine\" \"poor\" \"fine\"]"
    );
    assert_eq!(output["value"], "{:count 3 :frequencies {:bad 1 :good 2}}");

    env.write("failing.jsonl", r#"{"call": ":a", "error": "away"}"#);
    let caught = ["plan", "eval", "--answers", "failing.jsonl", "-e"];
    let source = "(try (call :a) (catch :CapabilityError e (:message e)))";
    let output = env.run(caught.iter().chain(&[source])).success();
    assert_eq!(output.stdout, "\"away\"\n");
    for (line, said) in [
        ("{", "bad.jsonl:1"),
        (r#"{"call": ":a"}"#, "`value` and `error`"),
        (r#"{"call": "a b", "value": "1"}"#, "a b"),
        (r#"{"call": ":a", "value": "(f)"}"#, "(f)"),
        (r#"{"call": ":a", "valeu": "1"}"#, "valeu"),
    ] {
        env.write("bad.jsonl", line);
        let words = ["plan", "eval", "--answers", "bad.jsonl", "-e", "(call :a)"];
        let output = env.run(words).ended_with(2);
        assert!(output.stderr.contains(said), "{line}: {}", output.stderr);
    }
}

/// CCOS-RTFS-1: what a program would do is told before it runs, and every reason to refuse it.
#[test]
fn check_tells_what_a_program_would_do_or_all_that_is_wrong() {
    let env = TestEnv::new();
    let fine = env.run(["plan", "check", "-e", SEED_PLAN]).success();
    assert_eq!(
        fine.stdout,
        "plan analyze (reviews): may run, makes at most 1 call\n  calls :nlp.sentiment\n  \
         not in a project: whether these are provided was not checked\n"
    );
    let allow = |cap: &str| env.run(["plan", "check", "-e", SEED_PLAN, "--allow", cap]);
    allow(":nlp/*").success();
    let refused = allow(":storage/*").ended_with(1);
    assert!(
        refused.stderr.contains("capability-not-allowed"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("allowed: :storage.*"),
        "{}",
        refused.stderr
    );
    allow("nlp sentiment").ended_with(2);

    let source = "(let [c :a] (call c (frist 1)))";
    let json = env
        .run(["plan", "check", "--json", "-e", source])
        .ended_with(1)
        .json();
    let rules: Vec<&str> = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["computed-capability", "undefined-symbol"]);

    let looping = "(map (fn [x] (call :a x)) (range 3))";
    let checked = |more: &[&str]| {
        let words = ["plan", "check", "-e", looping, "--max-calls", "5"];
        env.run(words.iter().chain(more))
    };
    checked(&[]).success();
    let refused = checked(&["--refuse-unbounded"]).ended_with(1);
    assert!(
        refused.stderr.contains("too-many-yields"),
        "{}",
        refused.stderr
    );
}

/// CCOS-RTFS-1: in a project, a program that names what nobody provides is refused before it does anything.
#[test]
fn in_a_project_what_nobody_provides_is_told_before_anything_runs() {
    let env = TestEnv::new();
    env.run(["init", "--all", "--share"]).success();
    let source = "(do (call :task.add {:prompt \"p\"}) (call :ledger.qurey {:limit 3}))";
    for verb in ["check", "run"] {
        let refused = env.run(["plan", verb, "-e", source]).ended_with(1);
        for said in [
            "unknown-capability",
            "did you mean `:ledger.query`?",
            "callosum capability list",
        ] {
            assert!(refused.stderr.contains(said), "{verb}: {}", refused.stderr);
        }
        let output = env
            .run(["plan", verb, "-e", source, "--json"])
            .ended_with(1);
        let json = output.json();
        let published = Schema::published(&format!("output-plan-{verb}"));
        assert_eq!(published.fault(&json), None, "{verb}");
        assert_eq!(json["findings"][0]["rule"], "unknown-capability", "{verb}");
        assert_eq!(json["findings"][0]["line"], 1, "{verb}");
    }
    let listed = env.run(["plan", "list", "--json"]).success().json();
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(0), "{listed}");

    let caught = "(try (call :agent.codex {:prompt \"p\"}) (catch :UnknownCapability e :none))";
    let output = env.run(["plan", "run", "-e", caught]).success();
    assert_eq!(output.stdout, ":none\n");
    let fine = env.run(["plan", "check", "-e", "(call :fs.read \"a\")", "--json"]);
    assert_eq!(fine.success().json()["providers_resolved"], true);

    env.write(".calrc", "{");
    let source = "(call :fs.read 1)";
    let output = env.run(["plan", "check", "-e", source]).success();
    assert!(
        output
            .stderr
            .contains("cannot find out what is provided here"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let env = TestEnv::new();
    let output = env.run(["plan", "eval", "absent.rtfs"]).ended_with(2);
    assert!(output.stderr.contains("absent.rtfs"), "{}", output.stderr);
    env.run(["plan", "eval"]).ended_with(2);
    env.write("latin.rtfs", b"\"\xe9\"");
    let output = env.run(["plan", "eval", "latin.rtfs"]).ended_with(1);
    assert!(output.stderr.contains("not UTF-8"), "{}", output.stderr);
}

/// CCOS-RTFS-1: programs and answers are read as editors of other systems save them; what is too large,
/// or none, is told.
#[test]
fn files_are_read_as_other_systems_save_them() {
    let env = TestEnv::new();
    env.write(
        "windows.rtfs",
        "\u{feff}; a note\r\n(call :a\r\n  \"é😀\")\r\n",
    );
    let answers = "\u{feff}{\"call\": \":a\", \"value\": \"{\\\"ü\\\" [1]}\"}\r\n\r\n";
    env.write("windows.jsonl", answers);
    let words = ["plan", "eval", "windows.rtfs", "--answers", "windows.jsonl"];
    assert_eq!(env.run(words).success().stdout, "{\"ü\" [1]}\n");
    env.write("failing.rtfs", "\u{feff}\"é\"\r\n  (inc \"😀\")\r\n");
    let output = env
        .run(["plan", "eval", "failing.rtfs", "--json"])
        .ended_with(1);
    let error = &output.json()["error"];
    assert_eq!((&error["line"], &error["column"]), (&2.into(), &3.into()));

    env.write("utf16.rtfs", b"\xff\xfe(\0+\0)\0");
    let output = env.run(["plan", "eval", "utf16.rtfs"]).ended_with(1);
    assert!(output.stderr.contains("iconv"), "{}", output.stderr);
    // Two bytes a character, so that the bound falls into one.
    env.write("large.rtfs", format!(" \"{}\"", "é".repeat(1 << 20)));
    let output = env.run(["plan", "check", "large.rtfs"]).ended_with(1);
    assert!(output.stderr.contains("1048576"), "{}", output.stderr);
    let piped = env.callosum().arguments(["plan", "eval", "-"]);
    let output = piped.input("\u{feff}(+ 1\r\n").run().ended_with(1);
    assert!(
        output.stderr.contains("standard input:1:1"),
        "{}",
        output.stderr
    );
    env.write("bad.jsonl", "\r\n{\"call\": \":a\", \"value\": 3}\r\n");
    let words = ["plan", "eval", "-e", "(call :a)", "--answers", "bad.jsonl"];
    let output = env.run(words).ended_with(2);
    assert!(output.stderr.contains("bad.jsonl:2"), "{}", output.stderr);
    assert!(!output.stderr.contains("line 1"), "{}", output.stderr);
    assert!(output.stderr.contains("{:a 1}"), "{}", output.stderr);
    for file in [".", "/dev/zero"] {
        env.run(["plan", "eval", file]).ended_with(2);
    }
}

/// CCOS-CAP-1: a call of an executor that can't be asked as it stands is told before the plan runs, which may be later.
#[test]
fn who_cannot_be_asked_now_is_told_before_a_plan_runs() {
    let env = crate::projects::two_languages();
    env.callosum()
        .arguments(["executor", "register", "lame", "--command", "false"])
        .run();
    let source = "(do (call :agent.lame {:prompt \"a\"}) (call :fs.read \"README.md\"))";
    let check = ["plan", "check", "-e", source];
    let json = env.run([&check[..], &["--json"]].concat()).success().json();
    assert_eq!(Schema::published("output-plan-check").fault(&json), None);
    let told = json["not_ready"].as_array().unwrap();
    assert_eq!(told.len(), 1, "{json}");
    assert_eq!(told[0]["capability"], "agent.lame");
    let told = env.run(check).success().stderr;
    assert!(
        told.contains("`:agent.lame` would fail now: executor `lame` is inactive"),
        "{told}"
    );
}

/// CCOS-LLM-2: why what a model handed in is refused has its place in the source that stands there.
#[test]
fn a_rejection_has_its_place_in_the_source() {
    let env = crate::projects::two_languages();
    let constraints = json!({"caps": [":fs.read"], "max_yields": 2});
    let source = "(defplan p ()\n  (call :fs.read pth))";
    let whole = json!({"version": "1.0", "plan_source": source, "constraints": constraints});
    let steps = json!([{"step_id": "s", "purpose": "", "rtfs_pure": "(+ 1 pth)"},
        {"step_id": "s", "purpose": "", "rtfs_pure": "1"}]);
    let steps = json!({"version": "1.0", "steps": steps, "constraints": constraints});
    let check = ["plan", "check", "--proposal", "answer.json"];
    for (proposal, path, line, column) in [
        (whole, "/plan_source", 2, 18),
        (steps, "/steps/0/rtfs_pure", 1, 6),
    ] {
        env.write("answer.json", proposal.to_string());
        let checked = env.run([&check[..], &["--json"]].concat()).ended_with(1);
        let checked = checked.json();
        let fault = Schema::published("output-plan-check").fault(&checked);
        assert_eq!(fault, None);
        let rejections = checked["rejections"].as_array().unwrap();
        let placed = rejections.iter().find(|one| one["path"] == path).unwrap();
        assert_eq!(placed["line"], line, "{placed}");
        assert_eq!(placed["column"], column, "{placed}");
        let others = rejections.iter().filter(|one| one["path"] != path);
        assert!(others.clone().all(|one| one["line"].is_null()), "{checked}");
        let told = env.run(check).ended_with(1).stderr;
        let place = format!("answer.json{path}:{line}:{column}");
        assert!(told.contains(&place), "{told}");
        assert!(told.contains("^^^"), "{told}");
    }
}

/// CCOS-LLM-2: a step calls what takes a map, and what is checked of it runs.
#[test]
fn a_step_that_a_model_hands_in_calls_what_takes_a_map() {
    let env = crate::projects::two_languages();
    env.run(["init", "--all", "--share"]).success();
    let steps = json!([{"step_id": "s", "purpose": "", "yields": [
        {"cap": ":fs.read", "args": [{"path": "README.md", "lines": 1}]},
        {"cap": ":task.add", "args": [{"prompt": "mend it", "priority": 2}]}]}]);
    let constraints = json!({"caps": [":fs.read", ":task.add"], "max_yields": 2});
    let proposal = json!({"version": "1.0", "steps": steps, "constraints": constraints});
    env.write("answer.json", proposal.to_string());
    let check = ["plan", "check", "--proposal", "answer.json", "--json"];
    let taken = env.run(check).success().json();
    let source = taken["source"].as_str().unwrap();
    let run = env.run(["plan", "run", "--json", "-e", source]).success();
    assert_eq!(run.json()["outcome"], "completed");
    let left = env.run(["mesh", "task", "list", "--json"]).success().json();
    assert_eq!(left["tasks"][0]["prompt"], "mend it");
    assert_eq!(left["tasks"][0]["priority"], 2);
}

/// CCOS-LLM-2: what a model hands in becomes a plan that may do no more than was allowed, or is refused, and why is
/// on record.
#[test]
fn what_a_model_hands_in_is_a_plan_or_refused_on_record() {
    let env = crate::projects::two_languages();
    env.run(["init", "--all", "--share"]).success();
    let proposal = |cap: &str| {
        let steps = json!([{"step_id": "read", "purpose": "quote \") (call :x)",
            "yields": [{"cap": cap, "args": ["README.md"]}]}]);
        json!({"version": "1.0", "steps": steps, "constraints": {"caps": [cap], "max_yields": 1}})
            .to_string()
    };
    let check = ["plan", "check", "--proposal", "answer.json", "--json"];
    let narrow = ["--allow", ":fs/*", "--max-calls", "2"];
    env.write("answer.json", proposal(":fs.read"));
    let taken = env.run([&check[..], &narrow].concat()).success().json();
    assert_eq!(Schema::published("output-plan-check").fault(&taken), None);
    assert_eq!(taken["capabilities"], json!(["fs.read"]));
    assert_eq!(taken["max_calls"], 1);
    let source = taken["source"].as_str().unwrap();
    let run = env.run(["plan", "check", "-e", source, "--max-calls", "1"]);
    assert!(run.success().stdout.contains("step read"));
    env.write("answer.json", proposal(":task.add"));
    let refused = env.run([&check[..], &narrow].concat()).ended_with(1).json();
    assert_eq!(refused["rejections"][0]["rule"], "wider-than-allowed");
    assert_eq!(refused["source"], json!(null));
    env.write("answer.json", proposal(":fs.raed"));
    let unknown = env.run(check).ended_with(1).json();
    assert_eq!(unknown["findings"][0]["rule"], "unknown-capability");
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    env.write(
        "answer.json",
        format!("{{\"version\": \"1.0\", \"{secret}\": 1}}"),
    );
    let text = env.run(["plan", "check", "--proposal", "answer.json"]);
    assert!(text.ended_with(1).stderr.contains("json-shape"));
    let plan = proposal(":fs.read");
    env.write("answer.json", plan.replace("README.md", &secret));
    let held = env.run(check).ended_with(1).json();
    assert_eq!(held["rejections"][0]["rule"], "secret", "{held}");
    env.write("answer.json", &plan);
    let untold = env.run(["plan", "check", "answer.json"]).ended_with(1);
    assert!(untold.stderr.contains("plan check --proposal"));
    env.write("answer.json", format!("```json\n{plan}\n```"));
    let fenced = env.run(["plan", "check", "--proposal", "answer.json"]);
    let fenced = fenced.ended_with(1).stderr;
    assert!(fenced.contains("without the code fence"), "{fenced}");
    assert!(
        fenced.contains("\njson-shape: ") || fenced.starts_with("json-shape: "),
        "{fenced}"
    );
    let journal = env.run(["audit", "tail", "-n", "20", "--json"]).success();
    let refusals = journal.stdout.matches("plan-refused").count();
    assert_eq!(refusals, 5, "{}", journal.stdout);
    assert!(journal.stdout.contains("wider-than-allowed"));
    assert!(!journal.stdout.contains("ghp_a1B2"));
}
