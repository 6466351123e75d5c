//! Guards that gave nothing away, and take one order after another.

#![cfg(target_os = "linux")]

use std::path::PathBuf;

use callosum_testkit::TestEnv;
use serde_json::Value;

use crate::{
    projects::{register_with, two_languages},
    scripts::script,
};

/// An executor that tells its guard, its folder and who else the guard has; that leaves somebody behind;
/// and that ends its guard once where it is asked to.
const TELLING: &str = r#"
guard = os.getppid()
children = pathlib.Path(f"/proc/{guard}/task/{guard}/children").read_text().split()
if "end your guard" in prompt and not pathlib.Path("notes").exists():
    pathlib.Path("notes").touch()
    os.kill(guard, signal.SIGKILL)
else:
    left = subprocess.Popen(["sleep", "600"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    pathlib.Path("left").open("a").write(f"{left.pid}\n")
    temporary = os.environ["TMPDIR"]
    told = {"guard": guard, "children": len(children), "temporary": temporary, "empty": not os.listdir(temporary)}
    pathlib.Path(temporary, "mine").touch()
    answer(json.dumps(told))
"#;

fn telling() -> TestEnv {
    let env = two_languages();
    env.write("tools/tell.py", script(TELLING));
    let unconfined = &["--sandbox", "off"];
    register_with(&env, "telling", "python3 tools/tell.py", unconfined);
    env
}

/// What each task of a file told, in the file's order; the tasks run one after the other.
fn told(env: &TestEnv, prompts: &[&str]) -> Vec<Value> {
    let tasks: Vec<Value> = prompts
        .iter()
        .enumerate()
        .map(|(at, prompt)| {
            serde_json::json!({"id": format!("t{at}"), "prompt": prompt, "executor": "telling",
                "links": (at > 0).then(|| format!("t{}", at - 1)).into_iter().collect::<Vec<_>>()})
        })
        .collect();
    env.write(
        "tasks.json",
        serde_json::json!({ "tasks": tasks }).to_string(),
    );
    let output = env.run(["delegate", "--tasks", "tasks.json", "--json"]);
    let output = output.success().json();
    output["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| serde_json::from_str(task["summary"].as_str().unwrap()).unwrap())
        .collect()
}

/// CAL-SEC-1, CAL-EXE-2: one guard starts one program after another, and nothing of a task reaches the
/// next one: no process, no temporary file.
#[test]
fn a_guard_takes_another_order_and_keeps_nothing_of_the_one_before() {
    let env = telling();
    let told = told(&env, &["one", "two", "three"]);
    let guards: Vec<_> = told.iter().map(|told| &told["guard"]).collect();
    assert_eq!(guards[0], guards[1]);
    assert_eq!(guards[1], guards[2]);
    for told in &told {
        assert_eq!(told["children"], 1, "{told}");
        assert_eq!(told["empty"], true, "{told}");
    }
    assert_ne!(told[0]["temporary"], told[1]["temporary"]);
    for pid in env.read("left").lines() {
        assert!(!PathBuf::from("/proc").join(pid).exists(), "{pid} goes on");
    }
}

/// CAL-ERR-1: a guard that is ended fails its task and no other: the next try has another guard.
#[test]
fn a_guard_that_is_ended_is_replaced() {
    let env = telling();
    let told = told(&env, &["one", "end your guard", "three"]);
    assert_ne!(told[0]["guard"], told[1]["guard"]);
    assert_eq!(told[1]["guard"], told[2]["guard"]);
}
