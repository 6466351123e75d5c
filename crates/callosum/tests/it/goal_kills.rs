//! A goal whose process is killed at random moments: it continues, nothing is lost, and no effect happens twice.

use std::{
    collections::BTreeSet,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use callosum_testkit::{TestEnv, model::ScriptTurn};
use serde_json::{Value, json};

use crate::goals::{PLAN, VOTE, plan, vote, with_models};

/// Kills in all.
const KILLS: usize = 200;

/// Longest time until a kill, in milliseconds: several lives of the process for each goal.
const LATEST: u64 = 300;

/// A plan with two effects that must happen once.
const EFFECTS: &str = "(defplan note () (do (step :decide (call :session.decide {:decision \"keep retries at three\"})) \
                       (step :task (:task (call :task.add {:prompt \"look at the retries\"})))))";

/// Returns random numbers from a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// The runs, each with the name of its plan.
fn runs(env: &TestEnv) -> Vec<(String, String)> {
    let listed = env.run(["plan", "list", "--json"]).success().json();
    let runs = listed["runs"].as_array().unwrap().iter();
    let text = |run: &Value, key: &str| run[key].as_str().unwrap_or_default().to_owned();
    runs.map(|run| (text(run, "plan"), text(run, "run")))
        .collect()
}

/// Starts the program, and kills it after some milliseconds unless it ends before. Returns whether it was killed.
fn killed(env: &TestEnv, arguments: &[&str], after: u64) -> bool {
    let mut child = env
        .callosum()
        .arguments(arguments)
        .command()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_millis(after);
    while Instant::now() < until {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    let items = value.as_array().unwrap().iter();
    items
        .map(|item| item[key].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// CCOS-FED-2, RTFS-2: 200 kills at random moments of goals with three reviewers lose nothing and repeat no effect.
#[test]
fn a_goal_survives_any_kill() {
    let seed = 0x2545_f491_4f6c_dd1d;
    let mut random = Random(seed);
    let mut kills = 0;
    let mut goals = 0;
    while kills < KILLS {
        goals += 1;
        let (env, _server) = with_models(&["one", "two"], |prompt| {
            let turn = if prompt.contains(VOTE) {
                vote("approve", None)
            } else if prompt.contains(PLAN) {
                plan(EFFECTS, &[":session.decide", ":task.add"])
            } else {
                return None;
            };
            Some(ScriptTurn {
                delay_ms: 20,
                ..turn
            })
        });
        let first = ["do", "Note what we know about retries", "--yes", "--json"];
        let mut is_killed = killed(&env, &first, random.below(LATEST));
        kills += usize::from(is_killed);
        // Before its first record it has not begun, and is started again.
        while is_killed && runs(&env).is_empty() {
            is_killed = killed(&env, &first, random.below(LATEST));
            kills += usize::from(is_killed);
        }
        let all = runs(&env);
        let deliberation = all.iter().find(|(plan, _)| plan == "deliberate");
        let (_, deliberation) = deliberation.expect("it began");
        let resume = ["do", "--resume", deliberation, "--yes", "--json"];
        while is_killed {
            is_killed = killed(&env, &resume, random.below(LATEST));
            kills += usize::from(is_killed);
        }
        let done = env.run(resume).success().json();
        assert_eq!(
            done["outcome"], "completed",
            "seed {seed}, goal {goals}: {done}"
        );
        assert_eq!(done["votes"].as_array().unwrap().len(), 3);
        let plans: BTreeSet<String> = runs(&env).into_iter().map(|(plan, _)| plan).collect();
        let expected = ["deliberate".to_owned(), "note".to_owned()].into();
        assert_eq!(plans, expected, "seed {seed}, goal {goals}");
        assert_eq!(runs(&env).len(), 2, "seed {seed}, goal {goals}");
        let notes = env.read("loa-grimoire/NOTES.md");
        let count = notes.matches("**Decision**: keep retries at three").count();
        assert_eq!(count, 1, "seed {seed}, goal {goals}: {notes}");
        let tasks = env.run(["mesh", "task", "list", "--json"]).success().json();
        let prompts = texts(&tasks["tasks"], "prompt");
        let expected = ["look at the retries"];
        assert_eq!(prompts, expected, "seed {seed}, goal {goals}: {tasks}");
        env.run(["audit", "verify"]).success();
    }
    assert!(
        kills >= KILLS,
        "{}",
        json!({"kills": kills, "goals": goals})
    );
}
