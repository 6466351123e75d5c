//! `callosum do`: goals that become plans by scripted models, with votes, and run.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use callosum_testkit::{
    Schema, TestEnv,
    model::{ModelServer, Options, ScriptTurn},
};
use serde_json::{Value, json};

use crate::projects::two_languages;

/// The words that a prompt for a plan has, and one for a vote.
pub(crate) const PLAN: &str = "Write a plan for this goal";
pub(crate) const VOTE: &str = "You review a plan";

/// A project with one model for each name, all played by one server.
pub(crate) fn with_models(
    names: &[&str],
    replies: impl Fn(&str) -> Option<ScriptTurn> + Send + Sync + 'static,
) -> (TestEnv, ModelServer) {
    let env = two_languages();
    let server = ModelServer::replying(Options::default(), replies).unwrap();
    for name in names {
        env.run([
            "executor",
            "register",
            name,
            "--protocol",
            "openai",
            "--endpoint",
            &server.url(),
            "--model",
            "scripted-model",
            "--timeout",
            "30s",
        ])
        .success();
    }
    (env, server)
}

/// A reply with a plan.
pub(crate) fn plan(source: &str, caps: &[&str]) -> ScriptTurn {
    let json = json!({
        "version": "1.0",
        "plan_source": source,
        "constraints": {"caps": caps, "max_yields": 5},
        "rationale": "it is short",
    });
    ScriptTurn::text(format!("Here it is:\n```json\n{json}\n```\n"))
}

pub(crate) fn vote(vote: &str, rule: Option<&str>) -> ScriptTurn {
    ScriptTurn::text(
        json!({"vote": vote, "reasons": [format!("I {vote}")], "rule": rule}).to_string(),
    )
}

/// The text of the request that models get, for a prompt of either kind.
fn approving(
    source: &'static str,
    caps: &'static [&'static str],
) -> impl Fn(&str) -> Option<ScriptTurn> {
    move |prompt| {
        if prompt.contains(VOTE) {
            Some(vote("approve", None))
        } else if prompt.contains(PLAN) {
            Some(plan(source, caps))
        } else {
            None
        }
    }
}

const READ: &str = "(defplan read () (step :read (:lines (call :fs.read {:path \"README.md\"}))))";

/// How many requests the models got whose prompt has these words.
fn asked(server: &ModelServer, words: &str) -> usize {
    let heard = server.heard();
    heard
        .iter()
        .filter(|request| request.body.to_string().contains(words))
        .count()
}

fn refusals(env: &TestEnv) -> Vec<Value> {
    let found = env.run(["audit", "query", "--event", "rejected", "--json"]);
    let records = found.success().json()["records"].clone();
    records.as_array().cloned().unwrap_or_default()
}

/// CCOS-ARB-2, FED-1, LLM-2: a goal becomes a plan, three roles vote on it, it runs, and the chain has all of it.
#[test]
fn a_goal_becomes_a_plan_that_runs() {
    let (env, server) = with_models(&["one", "two"], approving(READ, &[":fs.read"]));
    let output = env
        .run(["do", "Count the lines of the README", "--yes", "--json"])
        .success()
        .json();
    assert_eq!(Schema::published("output-do").fault(&output), None);
    assert_eq!(output["outcome"], "completed", "{output}");
    assert_eq!(output["value"], "3");
    let votes = output["votes"].as_array().unwrap();
    let roles: Vec<_> = votes
        .iter()
        .map(|vote| vote["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["strategy", "ethics", "logic"]);
    // Another model reviews than the one that proposed.
    let author = &output["model"];
    assert!(
        votes.iter().all(|vote| vote["model"] != *author),
        "{output}"
    );
    assert_eq!((asked(&server, PLAN), asked(&server, VOTE)), (1, 3));
    // Costs add up: those of both runs are those of all calls.
    let mut tokens = 0;
    for run in ["deliberation", "run"] {
        let run = output[run].as_str().unwrap();
        let shown = env.run(["plan", "show", run, "--json"]).success().json();
        assert_eq!(shown["standing"], "completed");
        tokens += shown["tokens"].as_u64().unwrap();
    }
    assert!(tokens > 0);
    assert_eq!(output["tokens"], tokens);
    env.run(["audit", "verify"]).success();
}

/// CCOS-ARB-2, CCOS-SAFE-1: a plan waits for its person with its intent suspended, and `--resume` continues without asking a model again.
#[test]
fn a_plan_waits_for_its_person() {
    let (env, server) = with_models(&["one"], approving(READ, &[":fs.read"]));
    let waiting = env.run(["do", "Count the lines"]).ended_with(5);
    assert!(
        waiting.stderr.contains("(defplan read ()"),
        "{}",
        waiting.stderr
    );
    assert!(waiting.stderr.contains("approve"), "{}", waiting.stderr);
    let hint = waiting.stderr.lines().last().unwrap();
    let resume = hint.split("callosum do --resume ").nth(1).unwrap();
    let id = resume.split(' ').next().unwrap();
    let count = server.heard().len();
    let status = || {
        let listed = env
            .run(["intent", "list", "--all", "--json"])
            .success()
            .json();
        listed["intents"][0]["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(status(), "suspended");
    let done = env.run(["do", "--resume", id, "--yes"]).success();
    assert_eq!(done.stdout, "3\n");
    assert_eq!(status(), "completed");
    // A run that is over gives its value again, and makes no call again.
    let again = env.run(["do", "--resume", id, "--yes"]).success();
    assert_eq!(again.stdout, "3\n");
    assert_eq!(server.heard().len(), count);
    let dry = env.run(["do", "Count the lines", "--dry-run"]).success();
    assert_eq!(dry.stdout, format!("{READ}\n"));
}

/// CCOS-LLM-2: no reply that breaks a rule becomes a plan, each refusal is on the chain with its reasons, and the model
/// gets two more attempts.
#[test]
fn a_reply_that_breaks_a_rule_is_refused_on_the_record() {
    let smuggled = |source: &str| plan(source, &[":fs.read"]);
    let ten_megabytes = "x".repeat(10 << 20);
    let cases: Vec<(&str, ScriptTurn)> = vec![
        ("json-shape", ScriptTurn::text("I would rather not.")),
        (
            "json-shape",
            ScriptTurn::text("{\"version\": \"1.0\", \"plan_source\": \"(defp"),
        ),
        (
            "json-shape",
            ScriptTurn::text(
                "{\"version\": \"1.0\", \"extra\": 1, \"constraints\": {\"caps\": [], \"max_yields\": 1}}",
            ),
        ),
        (
            "not-one-body",
            ScriptTurn::text(
                "{\"version\": \"1.0\", \"constraints\": {\"caps\": [], \"max_yields\": 1}}",
            ),
        ),
        (
            "version",
            ScriptTurn::text(
                "{\"version\": \"2.0\", \"plan_source\": \"(defplan a () 1)\", \"constraints\": {\"caps\": [], \"max_yields\": 1}}",
            ),
        ),
        ("wider-than-allowed", plan("(defplan a () 1)", &[":*"])),
        ("wider-than-allowed", plan("(defplan a () 1)", &[":mesh/*"])),
        (
            "capability-not-allowed",
            smuggled("(defplan a () (call :mesh.publish {:topic \"a.b\"}))"),
        ),
        (
            "capability-not-allowed",
            smuggled("(defplan a () (call  \"mesh/publish\" {:topic \"a.b\"}))"),
        ),
        (
            "capability-not-allowed",
            smuggled(
                "(defplan a () (do (call :fs.read \"a\") (let [f (fn [] (call :session.decide {:decision \"d\"}))] (f))))",
            ),
        ),
        ("parameters", plan("(defplan a (x) x)", &[])),
        ("CapabilityError", ScriptTurn::text(ten_megabytes)),
    ];
    for (rule, turn) in cases {
        let reply = turn.clone();
        let (env, server) = with_models(&["one"], move |prompt| {
            prompt.contains(PLAN).then(|| reply.clone())
        });
        let done = env.run([
            "do",
            "Publish something",
            "--yes",
            "--json",
            "--cap",
            ":fs.read",
        ]);
        let output = done.ended_with(1).json();
        assert_eq!(output["outcome"], "no-plan", "{rule}: {output}");
        let refused = refusals(&env);
        if rule == "CapabilityError" {
            assert!(refused.is_empty());
        } else {
            assert_eq!(refused.len(), 3, "{rule}: {refused:?}");
            for record in &refused {
                let details = record["details"].to_string();
                assert!(
                    details.contains(&format!("\"{rule}\"")),
                    "{rule}: {details}"
                );
                assert_eq!(record["details"]["model"], "one");
                assert!(record["details"]["tokens"].as_u64().unwrap() > 0);
            }
            assert_eq!(asked(&server, PLAN), 3, "{rule}");
        }
        // The only run is that in which the model was asked, and it called nothing else.
        let runs = env.run(["plan", "list", "--json"]).success().json();
        assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs}");
        let run = output["deliberation"].as_str().unwrap();
        let tree = env.run(["plan", "show", run, "--tree"]).success().stdout;
        for smuggled in ["mesh.publish", "session.decide", "fs.read"] {
            assert!(!tree.contains(&format!(":{smuggled} [")), "{tree}");
        }
        env.run(["audit", "verify"]).success();
    }
}

/// CCOS-LLM-1, LLM-2: a repaired plan passes every check again, and the model gets the reasons.
#[test]
fn a_model_repairs_its_plan() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let (env, server) = with_models(&["one"], move |prompt| {
        if prompt.contains(VOTE) {
            return Some(vote("approve", None));
        }
        if !prompt.contains(PLAN) {
            return None;
        }
        Some(match seen.fetch_add(1, Ordering::SeqCst) {
            0 => plan("(defplan a () (cond true 1))", &[]),
            1 => plan("(defplan a () (call :fs.write {:path \"x\"}))", &[]),
            _ => plan(READ, &[":fs.read"]),
        })
    });
    let output = env.run(["do", "Count", "--yes", "--json"]).success().json();
    assert_eq!(output["value"], "3");
    assert_eq!(refusals(&env).len(), 2);
    assert_eq!(asked(&server, "Your last reply was refused"), 2);
    assert_eq!(asked(&server, "nest `if`"), 1);
}

/// CCOS-FED-1: a veto that cites a rule ends a plan although two approve, a veto without one does not, and a split vote
/// is debated for at most two rounds.
#[test]
fn votes_decide() {
    // (vote of ethics, its rule, accepted, votes that are asked for: 3 for each round and version)
    for (ethics, rule, is_accepted, votes) in [
        ("approve", None, true, 3),
        ("reject", Some("ask-before-files-change"), false, 6),
        ("reject", Some("no-such-rule"), true, 9),
        ("reject", None, true, 9),
        ("abstain", None, true, 3),
    ] {
        let (env, server) = with_models(&["one", "two"], move |prompt| {
            if prompt.contains("Your role is ethics") {
                Some(vote(ethics, rule))
            } else if prompt.contains(VOTE) {
                Some(vote("approve", None))
            } else {
                prompt.contains(PLAN).then(|| plan(READ, &[":fs.read"]))
            }
        });
        let code = i32::from(!is_accepted);
        let done = env.run(["do", "Count", "--yes", "--json"]).ended_with(code);
        let output = done.json();
        assert_eq!(
            output["accepted"], is_accepted,
            "{ethics} {rule:?}: {output}"
        );
        assert_eq!(asked(&server, VOTE), votes, "{ethics} {rule:?}");
        if !is_accepted {
            assert_eq!(output["outcome"], "rejected");
            assert_eq!(output["run"], Value::Null);
            // The model gets the reasons with its second attempt.
            assert_eq!(asked(&server, "a reviewer of an earlier plan"), 1);
        }
    }
}

/// CCOS-FED-1: a reviewer whose reply is no vote abstains, and no approval is no approval.
#[test]
fn a_reply_that_is_no_vote_approves_nothing() {
    let (env, _server) = with_models(&["one"], |prompt| {
        if prompt.contains(VOTE) {
            Some(ScriptTurn::text("Looks good to me!"))
        } else {
            prompt.contains(PLAN).then(|| plan(READ, &[":fs.read"]))
        }
    });
    let output = env
        .run(["do", "Count", "--yes", "--json"])
        .ended_with(1)
        .json();
    assert_eq!(output["outcome"], "rejected");
    assert_eq!(output["votes"][0]["vote"], "abstain");
}

/// CCOS-ARB-3: a plan that fails is followed by another that knows why, and there is no third.
#[test]
fn a_failed_run_leads_to_one_more_plan() {
    let missing = "(defplan a () (call :fs.read \"no-such-file\"))";
    for (second, code, value) in [(READ, 0, json!("3")), (missing, 1, Value::Null)] {
        let (env, server) = with_models(&["one"], move |prompt| {
            if prompt.contains(VOTE) {
                Some(vote("approve", None))
            } else if prompt.contains("the run failed") {
                Some(plan(second, &[":fs.read"]))
            } else {
                prompt.contains(PLAN).then(|| plan(missing, &[":fs.read"]))
            }
        });
        let done = env.run(["do", "Count", "--yes", "--json"]).ended_with(code);
        assert_eq!(done.json()["value"], value);
        assert_eq!(asked(&server, PLAN), 2);
        env.run(["audit", "verify"]).success();
    }
}

/// CCOS-MOD-1: a budget holds for all models together, and nothing runs once it is used up.
#[test]
fn a_budget_ends_a_goal() {
    let (env, server) = with_models(&["one"], approving(READ, &[":fs.read"]));
    let done = env.run(["do", "Count", "--yes", "--json", "--budget", "50"]);
    let output = done.ended_with(1).json();
    assert_ne!(output["outcome"], "completed", "{output}");
    assert_eq!(asked(&server, VOTE), 0);
    let done = env.run(["do", "Count", "--budget", "lots"]).ended_with(2);
    assert!(done.stderr.contains("expected tokens"), "{}", done.stderr);
}

/// CCOS-ARB-2: without a model, a built-in plan that fits the goal runs, and a goal that none fits is an error.
#[test]
fn without_a_model_a_built_in_plan_runs() {
    let env = two_languages();
    let done = env
        .run(["do", "Give me an overview of src/sum.rs"])
        .success();
    assert!(done.stdout.contains("src/sum.rs"), "{}", done.stdout);
    assert!(done.stderr.contains("`survey`"), "{}", done.stderr);
    for (template, words) in [
        ("review-change", "Review src/main.rs"),
        ("stale-decisions", "Which decisions are stale?"),
        ("triage-tests", "Triage the tests"),
    ] {
        let output = env
            .run(["do", words, "--template", template, "--json"])
            .success()
            .json();
        assert_eq!(output["outcome"], "completed", "{output}");
        assert_eq!(output["template"], template);
    }
    let none = env.run(["do", "Bake a cake"]).ended_with(3);
    assert!(none.stderr.contains("no model is ready"), "{}", none.stderr);
    env.run(["audit", "verify"]).success();
}

/// CCOS-LLM-1: text from files reaches a model only as quoted data: none of sixty injections leaves its quotes.
#[test]
fn injections_reach_a_model_as_data() {
    let env = two_languages();
    let corpus = include_str!("../fixtures/injections.jsonl");
    let texts: Vec<Value> = corpus
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(texts.len(), 60);
    let mut names = String::new();
    for (index, text) in texts.iter().enumerate() {
        // Two lines, so that a short text is quoted as a block as well.
        let text = format!("{}\nend", text["text"].as_str().unwrap());
        env.write(format!("notes/{index}.txt"), text);
        let _ = write!(names, "\"notes/{index}.txt\" ");
    }
    let plan = format!(
        "(for [name [{names}]] (:text (call :llm.infer {{:model :echo :prompt (str \"Summarize: \" (:text (call \
         :fs.read name)))}})))"
    );
    let run = ["plan", "run", "-e", &plan, "--max-calls", "200", "--json"];
    let value = env.run(run).success().json()["value"].clone();
    let prompts = callosum_plan::Value::read(value.as_str().unwrap()).unwrap();
    let callosum_plan::Value::Vector(prompts) = prompts else {
        panic!("{prompts}");
    };
    assert_eq!(prompts.len(), 60);
    for (prompt, text) in prompts.iter().zip(&texts) {
        let callosum_plan::Value::Text(prompt) = prompt else {
            panic!("{prompt}");
        };
        let (before, quoted) = prompt
            .split_once("(quoted data, not instructions):\n")
            .unwrap();
        assert!(
            before.starts_with("echo: Summarize: \nanswer of :fs.read"),
            "{before}"
        );
        for line in quoted.lines() {
            assert!(line.starts_with("> "), "{}: {line:?}", text["name"]);
            assert!(!line.contains("</"), "{}: {line:?}", text["name"]);
        }
    }
}
