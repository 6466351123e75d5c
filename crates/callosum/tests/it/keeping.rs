//! Snapshots that the hook takes: before what may lose work, in every client, and of nothing else.

use callosum_testkit::{Output, TestEnv};
use serde_json::{Value, json};

const CLIENTS: [&str; 4] = ["claude", "codex", "gemini", "qwen"];

fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/lib.rs", "pub fn one() -> u8 { 1 }\n");
    env.git_init();
    env.write("src/lib.rs", "pub fn hours_of_work() {}\n");
    env
}

fn ask(env: &TestEnv, client: &str, moment: &str, command: &str) -> Output {
    let event = json!({
        "cwd": env.project(), "permission_mode": "default", "tool_name": "Bash",
        "tool_input": {"command": command}, "session_id": "s-1",
    });
    let hook = env.callosum().without("CALLOSUM_TEST_IDS");
    let hook = hook.arguments(["hook", client, moment]);
    hook.input(event.to_string()).run()
}

#[track_caller]
fn passes(env: &TestEnv, client: &str, command: &str) {
    let output = ask(env, client, "pre-tool-use", command);
    assert_eq!(
        (output.stderr.as_str(), output.code),
        ("", 0),
        "{client}: {command}"
    );
    let said = output.json();
    let decides = said.get("decision").is_some()
        || said
            .pointer("/hookSpecificOutput/permissionDecision")
            .is_some();
    assert!(!decides, "{client}: {command}: {said}");
}

/// What the person and the model are told by an answer that lets a command run.
fn told(env: &TestEnv, client: &str, command: &str) -> [Option<String>; 2] {
    passes(env, client, "true");
    let said = ask(env, client, "pre-tool-use", command).json();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    [
        text(said.get("systemMessage")),
        text(said.pointer("/hookSpecificOutput/additionalContext")),
    ]
}

/// The labels of all snapshots but those that are taken besides where a machine is slow.
fn labels(env: &TestEnv) -> Vec<String> {
    let listed = env.run(["snapshot", "list", "--limit", "100", "--json"]);
    let listed = listed.success().json();
    let listed = listed["snapshots"].as_array().unwrap().clone();
    let label = |snapshot: &Value| snapshot["label"].as_str().unwrap().to_owned();
    let labels = listed.iter().map(label);
    labels
        .filter(|label| !label.ends_with(" (what it names)"))
        .collect()
}

fn records(env: &TestEnv) -> Vec<Value> {
    let day = env.machine_home().join("journal/audit/2026-01-02.jsonl");
    let text = std::fs::read_to_string(day).unwrap();
    let records = text.lines().map(|line| serde_json::from_str(line).unwrap());
    records
        .filter(|record: &Value| record["event"] == "guard")
        .collect()
}

/// CAKE-SNAP-1: what deletes files of the project is allowed, and they are kept before it runs.
#[test]
fn what_may_lose_work_finds_the_tree_kept_in_every_client() {
    let env = repository();
    for client in CLIENTS {
        passes(&env, client, "rm -rf src");
        assert_eq!(labels(&env)[0], "before: rm -rf src", "{client}");
    }
    assert_eq!(labels(&env).len(), CLIENTS.len());
    let kept = records(&env);
    assert!(kept.iter().all(|one| one["details"]["snapshot"] == "taken"));
    // It was there before the answer, so that it holds what the command then deletes.
    std::fs::remove_dir_all(env.project().join("src")).unwrap();
    let listed = env.run(["snapshot", "list", "--json"]).success().json();
    let id = listed["snapshots"][0]["snapshot_id"].as_str().unwrap();
    let restore = env.callosum().without("CALLOSUM_TEST_IDS");
    restore
        .arguments(["snapshot", "restore", id, "--yes"])
        .run()
        .success();
    assert_eq!(env.read("src/lib.rs"), "pub fn hours_of_work() {}\n");
}

/// CAKE-SNAP-1: who lets a command take away what git could not bring back is told how to, and of nothing else.
#[test]
fn what_only_a_snapshot_holds_is_told() {
    let env = repository();
    env.write(".gitignore", ".env\ntarget/\n");
    env.write(".env", "A=1\n");
    env.write("kept.txt", "x\n");
    env.git(&["add", "kept.txt", ".gitignore"]);
    env.git(&["commit", "-m", "more"]);
    env.write("notes/a.md", "a\n");
    env.write("notes/b.md", "b\n");
    env.write("target/debug/a", "made\n");
    for (command, file) in [
        ("rm -rf notes", "notes/a.md and 1 more"),
        ("rm .env", ".env"),
        ("rm src/*.rs", "src/lib.rs"),
        (": > src/lib.rs", "src/lib.rs"),
    ] {
        let [person, model] = told(&env, "claude", command);
        let listed = env.run(["snapshot", "list", "--json"]).success().json();
        let label = format!("before: {command}");
        let mut listed = listed["snapshots"].as_array().unwrap().iter();
        let own = listed.find(|snapshot| snapshot["label"] == label).unwrap();
        let id = own["snapshot_id"].as_str().unwrap();
        let expected = format!(
            "callosum saved {file} before this (git has no copy): callosum snapshot restore {}",
            &id[..8]
        );
        assert_eq!(person.as_deref(), Some(expected.as_str()), "{command}");
        assert_eq!(model, person, "{command}");
    }
    // Who is told is what each client was seen to pass on.
    for (client, to_person, to_model) in [
        ("codex", false, true),
        ("gemini", true, false),
        ("qwen", false, false),
    ] {
        let [person, model] = told(&env, client, "rm -rf notes");
        let passed_on = (person.is_some(), model.is_some());
        assert_eq!(passed_on, (to_person, to_model), "{client}");
    }
    for command in ["rm kept.txt", "rm -rf target", "rm gone.txt", "ls notes"] {
        assert_eq!(told(&env, "claude", command), [None, None], "{command}");
    }
}

/// CAKE-SNAP-1: what nobody can read may be anything: a person is asked, and the tree kept under a name
/// that says why.
#[test]
fn what_cannot_be_read_finds_the_tree_kept() {
    let env = repository();
    let unreadable =
        json!({"cwd": env.project(), "tool_name": "Bash", "tool_input": {"command": 7}});
    let hook = env.callosum().without("CALLOSUM_TEST_IDS");
    let hook = hook.arguments(["hook", "claude", "pre-tool-use"]);
    let asked = hook.input(unreadable.to_string()).run();
    assert!(asked.stdout.contains("\"ask\""), "{asked:?}");
    let mut looks = std::iter::repeat_with(|| labels(&env)).take(5000);
    let labels = looks.find(|labels| !labels.is_empty()).unwrap();
    assert_eq!(labels, ["before: a call that could not be read"]);
}

/// CAKE-SNAP-1: what a person has permitted before runs at once, and finds the tree kept as well.
#[test]
fn what_was_permitted_finds_the_tree_kept() {
    let env = repository();
    env.run(["guard", "allow", "git restore *"]).success();
    for client in CLIENTS {
        passes(&env, client, "git restore src/lib.rs");
    }
    assert_eq!(labels(&env).len(), CLIENTS.len());
}

/// CAKE-SNAP-1: nothing is kept for what is harmless, for what does not run, nor where a client
/// asks again about the same call.
#[test]
fn nothing_is_kept_for_what_is_harmless_or_does_not_run() {
    let env = repository();
    for client in CLIENTS {
        for command in [
            "ls -la",
            "git status",
            "cargo test > out.txt",
            "rm -rf /tmp/x",
            "git commit -m 'rm -rf src'",
        ] {
            passes(&env, client, command);
        }
        ask(&env, client, "pre-tool-use", "git reset --hard");
        ask(&env, client, "permission-request", "rm -rf src");
    }
    // Who cannot ask denies.
    ask(&env, "codex", "pre-tool-use", "git restore src/lib.rs");
    assert_eq!(labels(&env), Vec::<String>::new());
    let told = records(&env);
    assert!(told.iter().all(|one| one["details"]["snapshot"].is_null()));
}

/// CAKE-SNAP-1: outside of a repository nothing is kept where nothing that is named is there; what is let pass since a
/// snapshot keeps it is asked about where none can be taken.
#[test]
fn what_no_snapshot_can_keep_is_asked_about() {
    let env = TestEnv::new();
    env.write("src/lib.rs", "pub fn one() -> u8 { 1 }\n");
    passes(&env, "codex", "rm -rf gone \"$DIR\"");
    assert!(!env.machine_home().join("snapshots").exists());
    std::fs::create_dir(env.project().join("empty")).unwrap();
    passes(&env, "codex", "rm -rf empty");
    let env = repository();
    std::fs::create_dir_all(env.machine_home()).unwrap();
    std::fs::write(env.machine_home().join("snapshots"), "in the way").unwrap();
    for command in [
        "rm -rf src",
        "> src/lib.rs",
        "find . -name '*.rs' | xargs rm",
    ] {
        let denied = ask(&env, "codex", "pre-tool-use", command);
        let why = "and it would be lost; `callosum snapshot create` says why";
        assert!(denied.stderr.contains(why), "{command}: {denied:?}");
    }
    env.write("target/debug/a", "made");
    passes(&env, "codex", "rm -rf target gone");
    let told = records(&env);
    assert_eq!(told[0]["details"]["snapshot"], "failed");
    assert_eq!(told[0]["status"], "asked");
}

/// CAKE-SNAP-1: what writes over files that are there is allowed, and they are kept before it runs.
#[test]
fn what_writes_over_files_finds_the_tree_kept() {
    let env = repository();
    env.write("vendor/a.c", "int a;\n");
    env.write("b.rs", "fn b() {}\n");
    for command in [
        "unzip -o /tmp/x.zip",
        "unzip -qo /tmp/x.zip -d vendor",
        "tar xf /tmp/x.tar",
        "tar -x -f /tmp/x.tar -C vendor",
        "curl -s https://x.io/a.tgz | tar xz",
        "bsdtar -xf /tmp/x.zip -C vendor",
        "cpio -idu < /tmp/a.cpio",
        "7z x /tmp/a.7z -y",
        "unrar x -o+ /tmp/a.rar",
        "patch -p1 < /tmp/fix.diff",
        "git apply /tmp/fix.diff",
        "git show HEAD:src/lib.rs > src/lib.rs",
        "cp -f /tmp/b.rs src/lib.rs",
        "cp -r /tmp/x/. src",
        "cp /tmp/lib.rs src/",
        "rsync -a /tmp/x/ src/",
        "mv -f b.rs src/lib.rs",
        "curl -o src/lib.rs https://x.io/lib.rs",
        "sort b.rs | sponge src/lib.rs",
        "echo | tee src/lib.rs",
    ] {
        passes(&env, "claude", command);
        let label: String = format!("before: {command}").chars().take(60).collect();
        let labels = labels(&env);
        let mut labels = labels.iter();
        assert!(labels.any(|one| one.starts_with(&label)), "{command}");
    }
}

/// CAKE-SNAP-1: nothing is kept where nothing is there that could be written over.
#[test]
fn what_writes_where_nothing_is_keeps_nothing() {
    let env = repository();
    env.write("empty.txt", "");
    std::fs::create_dir(env.project().join("fresh")).unwrap();
    for command in [
        "unzip -o /tmp/x.zip -d fresh",
        "tar xf /tmp/x.tar -C new",
        "mkdir -p t && tar xf /tmp/x.tar -C t",
        "tar xf /tmp/x.tar -C /tmp/y",
        "tar xkf /tmp/x.tar",
        "unzip /tmp/x.zip",
        "7z x /tmp/a.7z -onew -y",
        "cp src/lib.rs src/main.rs",
        "cp -r src copy",
        "cp -n src/lib.rs src/main.rs",
        "mv src/lib.rs src/main.rs",
        "rsync -a src/ new/",
        "patch --dry-run -p1 < /tmp/fix.diff",
        "git apply --check /tmp/fix.diff",
        "echo x > empty.txt",
        "curl -o new.json https://x.io/a.json",
        "echo x | tee -a src/lib.rs",
        "git diff > fix.diff",
    ] {
        passes(&env, "claude", command);
        assert_eq!(labels(&env), Vec::<String>::new(), "{command}");
    }
}

/// CAKE-SNAP-1: outside of a repository what a folder holds is kept where it may be written over, and not
/// the whole of a folder that nobody has set apart.
#[test]
fn outside_of_a_repository_the_folder_that_is_written_to_is_kept() {
    let env = TestEnv::new();
    env.write("vendor/a.c", "int a;\n");
    passes(&env, "codex", "tar xf /tmp/x.tar");
    assert!(!env.machine_home().join("snapshots").exists());
    passes(&env, "codex", "tar xf /tmp/x.tar -C vendor");
    assert_eq!(labels(&env), ["before: tar xf /tmp/x.tar -C vendor"]);
}

/// CAKE-SNAP-1: what git ignores is what a snapshot alone can bring back, and it does; the record
/// says which one, and what of the named files is not in it.
#[test]
fn what_is_ignored_and_named_is_kept_and_what_is_not_kept_is_recorded() {
    let env = TestEnv::new();
    env.write(".gitignore", ".env\ndata/\n");
    env.git_init();
    for command in [
        "rm .env",
        "rm -rf data",
        ": > data/app.db",
        "sed -i /SECRET/d .env",
        "mv data/app.db /tmp/elsewhere.db",
        "cp /dev/null .env",
        "mv data data.old; mkdir data; rm -rf data.old",
        "cp -r data data.new && mv data data.old && mv data.new data && rm -rf data.old",
        "mv data src && rm -rf src/data",
        "F=$(find . -name app.db); rm -f \"$F\"",
        "find . -name app.db -delete",
    ] {
        env.write(".env", "SECRET=1\n");
        env.write("data/app.db", "rows\n");
        passes(&env, "claude", command);
        let told = records(&env).pop().unwrap();
        let id = told["details"]["snapshot_id"].as_str().unwrap();
        assert!(told["details"]["snapshot_lacks"].is_null(), "{told}");
        for name in [".env", "data/app.db"] {
            let is_of_data = command.contains("data") || command.contains("app.db");
            if command.contains(name) || is_of_data && name.starts_with("data") {
                std::fs::remove_file(env.project().join(name)).unwrap();
                let restore = env.callosum().without("CALLOSUM_TEST_IDS");
                let restore = restore.arguments(["snapshot", "restore", id, "--yes"]);
                restore.run().success();
                assert!(!env.read(name).is_empty(), "{command}");
            }
        }
    }
    let big = std::fs::File::create(env.project().join("big.bin")).unwrap();
    big.set_len(60_000_000).unwrap();
    // A person is asked then.
    let asked = ask(&env, "claude", "pre-tool-use", "rm big.bin");
    assert!(asked.stdout.contains("snapshot.not-held"), "{asked:?}");
    let told = records(&env).pop().unwrap();
    assert_eq!(told["details"]["snapshot_lacks"], json!(["big.bin"]));
    let log = env.run(["guard", "log", "--json"]).success().json();
    let decisions = log["decisions"].as_array().unwrap();
    let lacks = decisions.iter().map(|one| &one["snapshot_missing"]);
    let lacks: Vec<&Value> = lacks.filter(|lacks| **lacks != json!([])).collect();
    assert_eq!(lacks, [&json!(["big.bin"])]);
    let id = told["details"]["snapshot_id"].as_str().unwrap();
    let log = env.run(["guard", "log"]).success().stderr;
    let said = format!("not in {}: big.bin\n", &id[..8]);
    assert!(log.contains(&said), "{log}");
}

/// CAKE-SNAP-1: a file that git does not hold can be restored after it was edited in place or unpacked over.
#[test]
fn what_git_does_not_hold_is_kept_before_it_is_edited_or_unpacked_over() {
    let env = TestEnv::new();
    env.write(".gitignore", ".env\ntarget/\n");
    env.git_init();
    // Too much to hold, and a build makes it again.
    for number in 0..2_100 {
        env.write(format!("target/{number}"), "x");
    }
    for command in [
        "sed -i s/SECRET=.*/SECRET=x/ .env new.txt",
        "sed -i.bak -e s/1/2/ ./.env new.txt",
        "perl -pi -e 's/SECRET=.*/SECRET=x/' .env new.txt",
        "ruby -i -pe 'sub(/1/, \"2\")' .env new.txt",
        "gawk -i inplace '{sub(/1/, \"2\")} 1' .env new.txt",
        "tar -xf /tmp/x.tar",
        "unzip -o /tmp/x.zip",
        "cpio -idu < /tmp/x.cpio",
        "7z x /tmp/x.7z -y",
    ] {
        env.write(".env", "SECRET=1\n");
        env.write("new.txt", "never committed\n");
        passes(&env, "claude", command);
        let details = records(&env).pop().unwrap()["details"].take();
        let id = details["snapshot_id"].as_str();
        let id = id.unwrap_or_else(|| panic!("{command}: {details}"));
        env.write(".env", "SECRET=x\n");
        env.write("new.txt", "x\n");
        let restore = env.callosum().without("CALLOSUM_TEST_IDS");
        let restore = restore.arguments(["snapshot", "restore", id, "--yes"]);
        restore.run().success();
        assert_eq!(env.read(".env"), "SECRET=1\n", "{command}");
        assert_eq!(env.read("new.txt"), "never committed\n", "{command}");
    }
}

/// CAKE-SNAP-1: where a tree takes longer than an answer may wait, what the command names is held by itself before it runs.
#[test]
fn what_is_named_is_held_before_a_tree_that_takes_long() {
    let env = repository();
    env.write("note.txt", "hours of work\n");
    passes(&env, "claude", "rm note.txt");
    let trees = std::fs::read_dir(env.machine_home().join("snapshots")).unwrap();
    let trees: Vec<_> = trees.map(|tree| tree.unwrap().path()).collect();
    let lock = std::fs::File::open(trees[0].join("lock")).unwrap();
    lock.lock().unwrap();
    let [person, model] = told(&env, "claude", "rm note.txt");
    assert!(person.unwrap().contains("saved note.txt"));
    assert!(model.unwrap().contains("saved note.txt"));
    drop(lock);
    let told = records(&env).pop().unwrap();
    assert_eq!(told["details"]["snapshot"], "late");
    let id = told["details"]["snapshot_id"].as_str().unwrap();
    std::fs::remove_file(env.project().join("note.txt")).unwrap();
    let restore = env.callosum().without("CALLOSUM_TEST_IDS");
    let restore = restore.arguments(["snapshot", "restore", id, "--yes"]);
    restore.run().success();
    assert_eq!(env.read("note.txt"), "hours of work\n");
}

/// CAKE-SNAP-1: names are seen from the project, though the repository begins above it.
#[test]
fn what_is_named_in_a_part_of_a_repository_is_kept() {
    let env = TestEnv::new();
    env.write(".gitignore", ".env\n");
    env.git_init();
    env.write("part/.env", "SECRET=1\n");
    let part = env.project().join("part");
    let create = env.callosum().without("CALLOSUM_TEST_IDS").in_folder(&part);
    let create = create.arguments(["-C", ".", "snapshot", "create", "--also", ".env"]);
    let id = create.run().success().stdout;
    std::fs::remove_file(part.join(".env")).unwrap();
    let restore = env.callosum().without("CALLOSUM_TEST_IDS");
    let restore = restore.arguments(["snapshot", "restore", id.trim(), "--yes"]);
    restore.run().success();
    assert_eq!(env.read("part/.env"), "SECRET=1\n");
}

/// CAKE-SNAP-1: outside of a repository the files are kept that the command names, and no others.
#[test]
fn outside_of_a_repository_what_is_named_is_kept() {
    let env = TestEnv::new();
    env.write("notes/a.txt", "hours of work\n");
    env.write("b.txt", "more\n");
    env.write("other.txt", "other\n");
    let list = || {
        let listed = env.run(["snapshot", "list", "--json"]).success().json();
        listed["snapshots"].as_array().unwrap().clone()
    };
    for harmless in ["ls notes", "cat b.txt", "rm -f gone.txt", "rm -rf \"$DIR\""] {
        passes(&env, "codex", harmless);
    }
    assert_eq!(list(), Vec::<Value>::new());
    let lossy = "rm -rf notes && sed -i d b.txt";
    passes(&env, "codex", lossy);
    let listed = list();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["dirty_files"], json!(["b.txt", "notes/a.txt"]));
    std::fs::remove_dir_all(env.project().join("notes")).unwrap();
    env.write("b.txt", "");
    env.write("other.txt", "changed\n");
    let id = listed[0]["snapshot_id"].as_str().unwrap();
    env.run(["snapshot", "restore", id, "--yes"]).success();
    assert_eq!(env.read("notes/a.txt"), "hours of work\n");
    assert_eq!(env.read("b.txt"), "more\n");
    assert_eq!(env.read("other.txt"), "changed\n");
    let last = records(&env).pop().unwrap();
    assert_eq!(last["details"]["snapshot"], "taken");
    // Who looks at what was let pass finds the way back.
    let log = env.run(["guard", "log"]).success();
    assert!(log.stdout.contains(&id[..8]), "{}", log.stdout);
    let way = format!("callosum snapshot restore {id}\n");
    assert!(log.stderr.ends_with(&way), "{}", log.stderr);
}

/// CAKE-SNAP-1: what no snapshot holds is asked about where it would be gone, unless it can be made again.
#[test]
fn what_no_snapshot_holds_is_asked_about() {
    let env = repository();
    for path in ["data.bin", "target/made.bin"] {
        env.write(path, "");
        let file = std::fs::File::options()
            .write(true)
            .open(env.project().join(path));
        file.unwrap().set_len(60 * 1024 * 1024).unwrap();
    }
    env.write("small.bin", "hours of work\n");
    for harmless in ["rm small.bin", "rm target/made.bin", "ls -l data.bin"] {
        passes(&env, "codex", harmless);
    }
    let asked = ask(&env, "claude", "pre-tool-use", "rm data.bin");
    assert!(asked.stdout.contains("\"ask\""), "{asked:?}");
    assert!(asked.stdout.contains("snapshot.not-held"), "{asked:?}");
    assert!(asked.stdout.contains("data.bin"), "{asked:?}");
    let denied = ask(&env, "codex", "pre-tool-use", "rm data.bin");
    assert_eq!(denied.code, 2, "{denied:?}");
    assert!(denied.stderr.contains("by hand"), "{denied:?}");
}

/// CAKE-SNAP-1: so is a folder of which the snapshot holds nothing, and what has a repository of its own within; a search
/// through the whole tree is not.
#[test]
fn what_a_folder_has_and_no_snapshot_holds_is_asked_about() {
    let env = repository();
    env.write(".gitignore", "data/\nnode_modules/\n.worktrees/\n");
    std::fs::create_dir(env.project().join("data")).unwrap();
    for number in 0..2_010 {
        std::fs::write(env.project().join(format!("data/{number}")), "row\n").unwrap();
    }
    for inner in ["w/inner", "node_modules/inner"] {
        env.write(format!("{inner}/a.txt"), "work\n");
        let path = env.project().join(inner).display().to_string();
        env.git(&["-C", &path, "init", "-q"]);
    }
    env.git(&["worktree", "add", "-q", ".worktrees/a"]);
    for command in [
        "rm -rf data",
        "rm -rf data/*",
        "rm -rf w",
        "rm -rf w/*",
        "rm w/inner/a.txt",
        "rm -rf .worktrees",
        "rm .worktrees/a/src/lib.rs",
    ] {
        let denied = ask(&env, "codex", "pre-tool-use", command);
        assert!(
            denied.stderr.contains("snapshot.not-held"),
            "{command}: {denied:?}"
        );
    }
    for command in [
        "rm -rf node_modules",
        "find . -name '*.tmp' -delete",
        "rm -rf src",
    ] {
        passes(&env, "codex", command);
    }
}

/// CAKE-SNAP-1: of the whole machine or a home there is no snapshot, but of what is named there.
#[test]
fn the_whole_machine_is_not_kept() {
    let env = TestEnv::new();
    let create = |folder: &std::path::Path, rest: &[&str]| {
        let create = env.callosum().arguments(["-C", folder.to_str().unwrap()]);
        create
            .arguments(["snapshot", "create"])
            .arguments(rest)
            .run()
    };
    for folder in ["/".into(), "/proc".into(), env.home()] {
        let refused = create(&folder, &[]).ended_with(2);
        assert!(refused.stderr.contains("is not a project"), "{refused:?}");
        assert!(refused.stderr.contains("--only PATH"), "{refused:?}");
    }
    env.write(env.home().join("notes.txt"), "x");
    create(&env.home(), &["--only", "notes.txt"]).success();
}
