//! `callosum top`: the overview as JSON, and the dashboard in a real tmux.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use callosum_testkit::{Schema, TestEnv};
use serde_json::{Value, json};

use crate::plan_door::asks_for_all;
use crate::two_languages::two_languages;

/// A command that the guard asks about.
const ASKED_ABOUT: &str = "git branch -D old";

/// A project in which one thing of each kind waits, and one task is open.
fn project() -> TestEnv {
    let env = two_languages();
    env.git_init_with_work();
    asks_for_all(&env);
    let plan = "(:task (call :task.add {:prompt \"planted\"}))";
    env.run(["plan", "run", "-e", plan]).ended_with(5);
    let person = ["--as", "reviewer"];
    let send = ["mesh", "message", "send", "nope", "hi there"];
    env.run([&send, &person[..]].concat()).ended_with(1);
    let task = ["mesh", "task", "add", "Review the parser", "--id", "review"];
    env.run([&task, &person[..]].concat()).success();
    ask(&env);
    env
}

/// Has the guard ask about a command.
fn ask(env: &TestEnv) {
    let event = json!({
        "cwd": env.project(), "permission_mode": "default", "tool_name": "Bash",
        "tool_input": {"command": ASKED_ABOUT}, "session_id": "s-1",
    });
    let hook = env.callosum().arguments(["hook", "claude", "pre-tool-use"]);
    let output = hook.input(event.to_string()).run().success();
    assert!(output.stdout.contains("\"ask\""), "{}", output.stdout);
}

fn overview(env: &TestEnv) -> Value {
    let output = env.run(["top", "--json"]).success().json();
    assert_eq!(Schema::published("output-top").fault(&output), None);
    output
}

fn kinds(overview: &Value) -> Vec<&str> {
    let waiting = overview["waiting"].as_array().unwrap();
    let kinds = waiting.iter().map(|item| item["kind"].as_str().unwrap());
    let mut kinds: Vec<&str> = kinds.filter(|kind| *kind != "agent_blocked").collect();
    kinds.sort_unstable();
    kinds
}

/// Runs the command of this name of the first item of a kind.
fn resolve(env: &TestEnv, kind: &str, name: &str) {
    let overview = overview(env);
    let waiting = overview["waiting"].as_array().unwrap();
    let item = waiting.iter().find(|item| item["kind"] == kind).unwrap();
    let commands = item["commands"].as_array().unwrap();
    let command = commands.iter().find(|command| command["name"] == name);
    let argv = command.unwrap()["argv"].as_array().unwrap();
    let argv = argv.iter().map(|word| word.as_str().unwrap());
    let run = env.callosum().without("CALLOSUM_TEST_IDS");
    run.arguments(argv).run().success();
}

/// CALC §2, CAKE-MET-1: what waits for a person is listed with the commands that resolve it, and they do.
#[test]
fn what_waits_for_a_person_is_listed_until_its_command_resolves_it() {
    let env = project();
    let first = overview(&env);
    assert_eq!(kinds(&first), ["dead_letter", "guard_asked", "plan_call"]);
    assert_eq!(first["faults"], json!([]));
    let decision = &first["guard"][0];
    assert_eq!(
        (
            &decision["verdict"],
            &decision["command"],
            &decision["agent"]
        ),
        (&"asked".into(), &ASKED_ABOUT.into(), &"claude".into())
    );
    let task = &first["tasks"][0];
    assert_eq!(
        (&task["id"], &task["status"]),
        (&"review".into(), &"pending".into())
    );
    assert_eq!(
        (&first["tasks_total"], &first["task_counts"]["pending"]),
        (&1.into(), &1.into())
    );

    resolve(&env, "plan_call", "approve");
    resolve(&env, "dead_letter", "drop");
    resolve(&env, "guard_asked", "allow-once");
    let last = overview(&env);
    assert_eq!(kinds(&last), Vec::<&str>::new());
    // The plan's own task is there now.
    assert_eq!(last["tasks_total"], 2);
    assert_eq!(last["guard"][0]["verdict"], "permitted");
}

/// LOA-FUT-1: a session is listed with the fill level of its context, by its own transcript.
#[test]
fn a_session_is_listed_with_its_task_and_the_fill_level_of_its_context() {
    let env = TestEnv::new();
    env.git_init_with_work();
    let session = "019a2b3c-1111-7222-8333-944455556666";
    let answer = |tokens: u64| json!({"type": "assistant", "message": {"usage": {"input_tokens": tokens, "output_tokens": 10}}});
    let transcript = format!("{}\n{}\n", answer(12_000), answer(90_000));
    let path = env
        .home()
        .join(format!(".claude/projects/-p/{session}.jsonl"));
    env.write(&path, transcript);
    // A session is known to a mesh that has begun.
    let task = ["mesh", "task", "add", "Review the parser", "--id", "review"];
    env.run([&task, &["--as", "reviewer"][..]].concat())
        .success();
    let event = json!({"cwd": env.project(), "session_id": session, "hook_event_name": "SessionStart", "source": "startup"});
    let hook = env
        .callosum()
        .arguments(["hook", "claude", "session-start"]);
    hook.input(event.to_string()).run().success();
    let claim = [
        "mesh",
        "task",
        "claim",
        "review",
        "--as",
        "claude",
        "--session",
        session,
    ];
    env.run(claim).success();
    let overview = overview(&env);
    let agents = overview["agents"].as_array().unwrap();
    let agent = agents.iter().find(|agent| agent["session_id"] == session);
    let agent = agent.unwrap_or_else(|| panic!("{overview:#}"));
    assert_eq!(agent["name"], format!("claude-code@{session}"));
    assert_eq!(
        agent["task"],
        json!({"id": "review", "prompt": "Review the parser"})
    );
    assert_eq!(
        agent["budget"],
        json!({"used": 90_010, "window": null, "percent": null, "zone": "green"})
    );
    assert_eq!(overview["tasks"][0]["claimed_session"], session);
}

/// A part that cannot be read hides no other.
#[test]
fn a_mesh_that_cannot_be_read_is_a_fault_and_the_rest_is_shown() {
    let env = project();
    let log = env.machine_home().join("mesh");
    let origin = log.join("origin");
    fs::remove_file(&origin).unwrap();
    fs::create_dir(&origin).unwrap();
    let overview = overview(&env);
    assert_eq!(kinds(&overview), ["guard_asked", "plan_call"]);
    let faults = overview["faults"].as_array().unwrap();
    assert!(
        faults
            .iter()
            .any(|fault| fault.as_str().unwrap().starts_with("mesh: ")),
        "{faults:?}"
    );
}

#[test]
fn without_a_terminal_the_dashboard_names_the_json() {
    let env = TestEnv::new();
    let output = env.run(["top"]).ended_with(2);
    assert_eq!(
        output.stderr,
        "error: cannot draw without a terminal\nhint: callosum top --json\n"
    );
    assert_eq!(output.stdout, "");
}

/// The dashboard in a tmux server of its own.
struct Dashboard {
    env: TestEnv,
}

impl Dashboard {
    /// Starts it in a pane of 80 by 24. Afterward the pane says how it ended, and how the terminal is set.
    fn start(env: TestEnv) -> Self {
        let dashboard = Self { env };
        let env = &dashboard.env;
        let command = env.callosum().without("CALLOSUM_TEST_IDS").command();
        let mut script = "printf 'before\\n'\nset --".to_owned();
        for (name, value) in command.get_envs() {
            let value = value.unwrap().to_str().unwrap();
            write!(script, " '{}={value}'", name.to_str().unwrap()).unwrap();
        }
        let program = command.get_program().to_str().unwrap();
        let project = env.project();
        let (project, pid) = (project.display(), dashboard.pid_file());
        let pid = pid.display();
        write!(
            script,
            "\ncd '{project}'\nenv -i TERM=\"$TERM\" \"$@\" sh -c 'echo $$ > \"$1\"; exec \"$0\" top' '{program}' '{pid}'\n\
             echo \"ended with $?\"\nstty -a | grep -o ' icanon\\| echo ' | tr -d '\\n'\necho ' end'\nexec sleep 600\n"
        )
        .unwrap();
        let file = env.folder().join("top.sh");
        fs::write(&file, script).unwrap();
        let line = format!("sh '{}'", file.display());
        dashboard.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "80",
            "-y",
            "24",
            &line,
        ]);
        dashboard
    }

    fn pid_file(&self) -> PathBuf {
        self.env.folder().join("top-pid")
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let output = Command::new("tmux")
            .arg("-u")
            .args(arguments)
            .env("TMUX_TMPDIR", self.env.folder())
            .env_remove("TMUX")
            .output()
            .expect("tmux is installed");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Types letters, or presses the key of this name.
    fn press(&self, keys: &[&str]) {
        for key in keys {
            self.tmux(&["send-keys", "--", key]);
            if *key == "Escape" {
                // A terminal sends Alt with a key as Escape and the key: read at once, they are one key.
                thread::sleep(Duration::from_millis(400));
            }
        }
    }

    fn write(&self, text: &str) {
        self.tmux(&["send-keys", "-l", "--", text]);
    }

    /// Waits until the screen has a text, for thirty seconds.
    #[track_caller]
    fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    #[track_caller]
    fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(Instant::now() < end, "no `{what}` on:\n{screen}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits for the end, and checks that the terminal is as it was before.
    #[track_caller]
    fn ends_with(&self, code: i32) {
        let screen = self.shows(" end");
        assert!(screen.contains(&format!("ended with {code}\n")), "{screen}");
        assert!(screen.starts_with("before\n"), "{screen}");
        assert!(screen.contains(" icanon echo  end"), "{screen}");
        let flags = self.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]);
        assert_eq!(flags, "0 1");
    }

    fn json(&self, words: &[&str]) -> Value {
        self.env.run([words, &["--json"]].concat()).success().json()
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// CALC §2, CAKE-MET-1: every key of the dashboard does in 80 by 24 what its command line does.
#[test]
fn every_key_does_what_its_command_line_does() {
    let top = Dashboard::start(project());
    let first = top.shows("Waiting for you (3)");
    assert!(
        first.starts_with("callosum top  1 Now  2 Tasks  3 Guard "),
        "{first}"
    );
    for line in first.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // Details of the selected item, help, and back.
    top.press(&["Enter"]);
    top.shows("key d        $ callosum ");
    top.press(&["j", "k", "Escape", "?"]);
    top.shows("allow the command once");
    top.press(&["Escape"]);
    // Movement.
    top.press(&[
        "G", "g", "j", "k", "Down", "Up", "NPage", "PPage", "End", "Home",
    ]);
    top.shows("> ");
    // A call of a plan is approved.
    top.press(&["/"]);
    top.write("plan task.add");
    top.shows("/plan task.add");
    top.press(&["Enter", "a"]);
    top.shows("Waiting for you (2)");
    assert_eq!(
        top.json(&["plan", "list"])["runs"][0]["standing"],
        "completed"
    );
    top.press(&["Escape"]);
    // A dead letter is dropped, after a question.
    top.press(&["/"]);
    top.write("nope");
    top.press(&["Enter", "d"]);
    top.shows("[y/n] drop: callosum mesh message drop");
    top.press(&["n"]);
    top.shows("nothing was done");
    top.press(&["d", "y"]);
    top.shows("Waiting for you (1)");
    top.press(&["Escape"]);
    // A command is allowed once.
    top.press(&["3"]);
    top.shows(ASKED_ABOUT);
    top.press(&["o"]);
    top.shows("permitted once: git branch -D old");
    let permitted = top.json(&["guard", "allow", "--list"]);
    assert_eq!(permitted["permissions"][0]["pattern"], ASKED_ABOUT);
    assert_eq!(permitted["permissions"][0]["once"], true);
    // A task is canceled.
    top.press(&["Escape", "BTab"]);
    top.shows("2 pending");
    top.press(&["/"]);
    top.write("review");
    top.press(&["Enter", "d"]);
    top.shows("[y/n] cancel: callosum mesh task cancel");
    top.press(&["y"]);
    top.shows("1 pending, 0 in progress, 0 complete, 1 canceled");
    top.press(&["Tab", "1", "2", "1", "r"]);
    top.shows("Waiting for you (0)");
    // Sizes, down to one cell.
    for (width, height) in [("40", "10"), ("1", "1"), ("200", "50"), ("80", "24")] {
        top.tmux(&["resize-window", "-x", width, "-y", height]);
        top.press(&["j"]);
    }
    top.shows("Waiting for you (0)");
    top.press(&["q"]);
    top.ends_with(0);
}

/// The terminal is as before after Ctrl-C, and after a signal.
#[test]
fn the_terminal_is_restored_after_an_interrupt_and_a_signal() {
    let top = Dashboard::start(TestEnv::new());
    top.shows("Waiting for you (0)");
    top.press(&["C-c"]);
    top.ends_with(0);
    drop(top);
    let top = Dashboard::start(TestEnv::new());
    top.shows("Waiting for you (0)");
    let pid = fs::read_to_string(top.pid_file()).unwrap();
    let killed = Command::new("kill").args(["-TERM", pid.trim()]).status();
    assert!(killed.unwrap().success());
    top.ends_with(130);
}

/// CALC §2: a dashboard whose terminal is closed, as by a lost connection, ends instead of reading its end for ever.
#[test]
fn a_dashboard_whose_terminal_is_gone_ends() {
    let top = Dashboard::start(project());
    top.shows("Waiting for you");
    let pid = fs::read_to_string(top.pid_file()).unwrap();
    let stat = PathBuf::from(format!("/proc/{}/stat", pid.trim()));
    assert!(stat.exists());
    top.tmux(&["kill-server"]);
    let end = Instant::now() + Duration::from_mins(1);
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(Instant::now() < end, "it does not end");
        thread::sleep(Duration::from_millis(50));
    }
}

/// CALC §2: a message is written to an agent from the dashboard; Esc cancels it.
#[test]
fn a_message_reaches_the_agent_that_is_selected() {
    let env = TestEnv::new();
    env.git_init_with_work();
    let session = "0f3a0f3a-1111-7222-8333-944455556666";
    // A session is known to a mesh that has begun.
    let task = ["mesh", "task", "add", "Review", "--as", "reviewer"];
    env.run(task).success();
    let event = json!({"cwd": env.project(), "session_id": session, "hook_event_name": "SessionStart", "source": "startup"});
    let hook = env
        .callosum()
        .arguments(["hook", "claude", "session-start"]);
    hook.input(event.to_string()).run().success();
    let top = Dashboard::start(env);
    top.shows("Agents (1)");
    top.press(&["m"]);
    top.write("never sent");
    top.shows("never sent");
    top.press(&["Escape"]);
    top.shows("no message was sent");
    top.press(&["m"]);
    top.write("Look at 字 please");
    top.shows("字 please");
    top.press(&["Enter"]);
    top.shows("done: ");
    let messages = top.json(&["mesh", "message", "list"]);
    let contents = messages["messages"].as_array().unwrap().iter();
    let contents: Vec<&Value> = contents.map(|message| &message["content"]).collect();
    assert_eq!(contents, ["Look at 字 please"]);
    top.press(&["q"]);
    top.ends_with(0);
}
