//! `callosum guard`: what it says to commands, and how well it does on a file of them.

use callosum_testkit::TestEnv;

/// CAKE-SHIM-1: a command that may run ends with 0, another with 1 and why, and nothing is run.
#[test]
fn check_says_whether_a_command_may_run() {
    let env = TestEnv::new();
    env.write("kept.txt", "x");
    env.run(["guard", "check", "--", "ls", "-la"]).success();
    let blocked = env
        .run([
            "guard",
            "check",
            "--json",
            "--",
            "rm -f kept.txt; git reset --hard",
        ])
        .ended_with(1);
    let said = blocked.json();
    assert_eq!(said["decision"], "block");
    assert_eq!(said["rule"], "git.reset-hard");
    assert_eq!(said["alternative"], "git stash");
    assert!(env.project().join("kept.txt").exists());
}

/// CAKE-SHIM-1: a link is judged by where it leads, and one that is removed by where it stands.
#[test]
fn links_are_followed_in_commands() {
    let env = TestEnv::new();
    std::os::unix::fs::symlink("/usr", env.project().join("l1")).unwrap();
    std::os::unix::fs::symlink(".git", env.project().join("l6")).unwrap();
    std::fs::create_dir_all(env.project().join(".git")).unwrap();
    std::fs::create_dir_all(env.project().join("build")).unwrap();
    std::os::unix::fs::symlink("build", env.project().join("out")).unwrap();
    for command in [
        "rm -rf l1/*",
        "cd l1 && rm -rf *",
        "find l1/ -delete",
        "echo x > l6/config",
        "rm -rf 'l6/'*",
    ] {
        env.run(["guard", "check", "--", command]).ended_with(1);
    }
    for command in ["rm l1", "rm -rf out/*", "ls l1", "cat l6/config"] {
        env.run(["guard", "check", "--", command]).success();
    }
}

/// CAKE-SHIM-1: a link is followed to where it leads, also where nothing stands there yet, over other links and through
/// folders that are missing; removing or replacing it is about the link.
#[test]
fn links_that_lead_nowhere_yet_are_followed() {
    let env = TestEnv::new();
    env.git_init();
    std::fs::create_dir_all(env.project().join("sub")).unwrap();
    let state = env
        .home()
        .join(".local/state/callosum/permissions/user.json");
    for (link, target) in [
        ("startup", env.home().join(".zshrc")),
        ("outside", env.home().join("out.txt")),
        ("folder", env.home().join("none")),
        ("state", state),
        ("settings", ".claude/settings.local.json".into()),
        ("hook", ".git/hooks/new".into()),
        ("system", "/etc/none-of-this-name".into()),
        ("other", "./startup".into()),
        ("round", "round".into()),
        ("told", "/dev/stderr".into()),
        ("made", "build/made".into()),
        ("sub/deep", "../../home/none".into()),
    ] {
        std::os::unix::fs::symlink(target, env.project().join(link)).unwrap();
    }
    for command in [
        "echo x > startup",
        "tee startup < README.md",
        "cp README.md outside",
        "curl -o outside https://example.org/x",
        "python3 -c \"open('startup','w').write('x')\"",
        "echo x > folder/x",
        "echo x > state",
        "echo x > settings",
        "echo x > hook",
        "echo x > system",
        "echo x > ./other",
        "echo x > sub/deep",
        "cd sub && echo x > deep",
        "ln -s ~/.zshrc new && echo x > new",
    ] {
        env.run(["guard", "check", "--", command]).ended_with(1);
    }
    for command in [
        "rm startup",
        "rm -f other sub/deep",
        "ln -sfn build/x outside",
        "cat startup",
        "echo x > made",
        "echo x > round",
        "echo x > told",
        "echo x > /dev/stderr | tee /dev/stdout",
        "echo x > none/x",
    ] {
        env.run(["guard", "check", "--", command]).success();
    }
}

/// CAKE-SHIM-1: `..` behind a link leads from where that leads, but for a shell's `cd`, which takes it away as text; of what
/// a tool is given, which may do either, the worse counts.
#[test]
fn what_is_behind_a_link_is_where_that_leads() {
    let env = TestEnv::new();
    env.git_init();
    for folder in [env.home().join("Documents"), env.home().join("other")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    env.write(env.home().join(".zshrc"), "");
    for folder in ["other", "a/b", "build"] {
        std::fs::create_dir_all(env.project().join(folder)).unwrap();
    }
    let link = |target: &str, link: &str| {
        std::os::unix::fs::symlink(target, env.project().join(link)).unwrap();
    };
    link(env.home().join("Documents").to_str().unwrap(), "l");
    link("../a/b", "build/inner");
    std::os::unix::fs::symlink(env.project(), env.home().join("mine")).unwrap();
    for command in [
        "rm -rf l/../other",
        "rm -rf l/../Documents",
        "cd l && rm -rf ../other",
        "cd -P l && rm -rf ../other",
        "cd -P l/.. && rm -rf other",
        "env -C l/.. rm -rf other",
        "make -C l/.. -f - <<< $'x:\\n\\trm -rf other'",
        "find l/../other -delete",
        "python3 -c 'import shutil; shutil.rmtree(\"l/../other\")'",
        "python3 -c 'import os, shutil; os.chdir(\"l/..\"); shutil.rmtree(\"other\")'",
        "echo x > l/../.zshrc",
        "echo x > l/../other/x",
        "sed -i s/a/b/ l/../.zshrc",
        "rm l/../.zshrc",
        "rm -rf \"$PWD/l/../other\"",
        "rm -rf \"${PWD}/l/../other\"",
        "rm -rf ~/mine/l/../other",
        "rm -rf $HOME/mine/l/../other",
        "rm -rf \"${HOME}/mine/l/../other\"",
        "echo x > ~/mine/l/../.zshrc",
        "patch -d l/.. -p1 < /tmp/x.diff",
        "patch -dl/../other -p1 < /tmp/x.diff",
    ] {
        env.run(["guard", "check", "--", command]).ended_with(1);
    }
    for command in [
        "cd l/.. && rm -rf other",
        "cd -L l/.. && rm -rf other",
        "rm l",
        "rm -rf build/inner/../x",
        "echo x > build/inner/../x",
        "ls l/..",
        "rm -rf ~/mine/build/x",
        "patch -d build -p1 < /tmp/x.diff",
    ] {
        env.run(["guard", "check", "--", command]).success();
    }
    let write = |path: &str| {
        let event = serde_json::json!({"hook_event_name": "PreToolUse", "tool_name": "Write",
            "cwd": env.project(), "tool_input": {"file_path": path, "content": "x"}});
        let hook = env.callosum().arguments(["hook", "claude"]);
        hook.input(event.to_string()).run().stdout
    };
    std::fs::create_dir_all(env.project().join("a/.git")).unwrap();
    for path in [
        "l/../.zshrc",
        "l/../other/x",
        "build/inner/../.git/config",
        "l/../.git/config",
    ] {
        assert_ne!(write(path), "{}\n", "{path}");
    }
    assert_eq!(write("build/inner/../x"), "{}\n");
}

/// CAKE-SHIM-1: a folder with a history of its own is not deleted unasked; a submodule's history stands elsewhere.
#[test]
fn another_repository_is_not_deleted_unasked() {
    let env = TestEnv::new();
    env.git_init();
    std::fs::create_dir_all(env.project().join("cloned/.git")).unwrap();
    std::fs::create_dir_all(env.project().join("build")).unwrap();
    env.write("module/.git", "gitdir: ../.git/modules/module\n");
    for command in [
        "rm -rf cloned",
        "rm -rf build ./cloned/",
        "rm -r \"$PWD/cloned\"",
    ] {
        let check = env.run(["guard", "check", "--", command]).ended_with(1);
        assert!(check.stdout.contains("rm.repository"), "{}", check.stdout);
    }
    for command in [
        "rm -rf build",
        "rm -rf module",
        "rm -rf cloned/target",
        "ls cloned",
    ] {
        env.run(["guard", "check", "--", command]).success();
    }
}

/// CAKE-SHIM-1: a word that names what stands there is a path to `git checkout`, and what is not committed there is lost.
#[test]
fn what_git_checkout_would_write_over_is_asked_about() {
    let env = TestEnv::new();
    env.git_init();
    env.write("src/lib.rs", "1");
    env.write("Makefile", "1");
    for command in [
        "git checkout src",
        "git checkout Makefile",
        "git -C src checkout ../Makefile",
        "cd src && git checkout lib.rs",
        "f=Makefile; git checkout \"$f\"",
    ] {
        let check = env.run(["guard", "check", "--", command]).ended_with(1);
        assert!(
            check.stdout.contains("git.discard"),
            "{command}: {}",
            check.stdout
        );
    }
    for command in [
        "git checkout main",
        "git checkout -b src",
        "git checkout docs",
    ] {
        env.run(["guard", "check", "--", command]).success();
    }
}

/// CAKE-SHIM-1: the explanation fits on one screen and names the deciding rule; with `-v` it shows every rule.
#[test]
fn explain_shows_each_command_and_rule() {
    let env = TestEnv::new();
    let line = "env X=1 bash -c 'git push --force'; rm -rf \"$DIR/\"";
    let explain = ["guard", "explain", "--", line];
    let shown = env.run(explain).success().stdout;
    for part in [
        "block by git.push-force",
        "git push --force (through bash -c)",
        "callosum guard rule git.push-force",
        "matched as well, and did not decide:\n  rm.possibly-vital (ask)",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(shown.lines().count() <= 24, "{shown}");
    let all = ["-v", "guard", "explain", "--", line];
    let shown = env.run(all).success().stdout;
    for part in [
        "[env] bash",
        "[bash -c] git push --force",
        "block: git.push-force",
        "rules passed: ",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
}

/// CAKE-SHIM-1: a file of commands gives recall, false blocks and misses.
#[test]
fn test_measures_a_file_of_commands() {
    let env = TestEnv::new();
    env.write(
        "commands.jsonl",
        "{\"id\": \"1\", \"command\": \"git reset --hard\", \"expect\": \"block\"}\n\
         {\"id\": \"2\", \"command\": \"ls\", \"expect\": \"allow\"}\n\
         {\"id\": \"3\", \"command\": \"ls\", \"expect\": \"block\"}\n",
    );
    let measured = env
        .run(["guard", "test", "commands.jsonl", "--json"])
        .ended_with(1);
    let said = measured.json();
    assert_eq!((&said["rows"], &said["recall"]), (&3.into(), &0.5.into()));
    assert_eq!(said["misses"][0], "3");
    assert_eq!(said["verdicts"][0]["decision"], "block");
    // To block what was to be asked about is no miss, and of nothing there is no share.
    let row = "{\"id\": \"1\", \"command\": \"git reset --hard\", \"expect\": \"ask\"}\n";
    let piped = env.callosum().arguments(["guard", "test", "-", "--json"]);
    let said = piped.input(row).run().success().json();
    assert_eq!(said["misses"], serde_json::json!([]));
    assert_eq!(said["too_strict"], serde_json::json!(["1"]));
    assert_eq!(said["false_blocks"], serde_json::Value::Null);
    let row = "{\"id\": \"1\", \"command\": \"ls\", \"expect\": \"allow\"}\n";
    let piped = env.callosum().arguments(["guard", "test", "-"]).input(row);
    let said = piped.run().success().stdout;
    assert!(
        said.contains("0 of 0 dangerous commands caught, 0 of 1"),
        "{said}"
    );
    env.write("commands.jsonl", "\n\n");
    let said = env.run(["guard", "test", "commands.jsonl"]).ended_with(2);
    assert!(said.stderr.contains("there are no commands in"));
    env.write("commands.jsonl", "{\"id\": 1}\n");
    env.run(["guard", "test", "commands.jsonl"]).ended_with(2);
}

/// CAKE-SHIM-1: what is no text is never said to be harmless, by a hook or at a terminal.
#[test]
fn bytes_that_are_no_text_are_asked_about() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    let env = TestEnv::new();
    for (command, rule) in [
        (&b"ls \xff"[..], "hook.unreadable"),
        (b"git reset --hard; echo \xff", "git.reset-hard"),
    ] {
        let words: [&OsStr; 5] = [
            "guard".as_ref(),
            "check".as_ref(),
            "--json".as_ref(),
            "--".as_ref(),
            OsStr::from_bytes(command),
        ];
        let said = env.callosum().arguments(words).run().ended_with(1);
        assert_eq!(said.json()["rule"], rule);
    }
}

/// CAKE-SHIM-1: what steers plans on this machine is not written, by whichever name: the user's constitution, its
/// signature, the machine's key, what was revoked, and the project's own constitution.
#[test]
fn what_steers_plans_is_not_written() {
    let env = TestEnv::new();
    env.write(".calrc", "{}");
    let dotfiles = env.folder().join("dotfiles");
    std::fs::create_dir_all(&dotfiles).unwrap();
    std::os::unix::fs::symlink(&dotfiles, env.home().join("linked")).unwrap();
    let elsewhere = env.home().join("linked/callosum/config.toml");
    let constitution = env.configuration().with_file_name("constitution.cedar");
    std::fs::write(dotfiles.join("own.cedar"), "").unwrap();
    std::os::unix::fs::symlink(dotfiles.join("own.cedar"), &constitution).unwrap();
    let (home, machine) = (env.home(), env.machine_home());
    let (home, machine) = (home.display(), machine.display());
    let folder = env.folder();
    for command in [
        format!("echo x > {home}/constitution.cedar"),
        format!("rm {home}/constitution.cedar"),
        format!("echo x > {}/dotfiles/own.cedar", folder.display()),
        format!("cp x {home}/constitution.cedar.sig"),
        format!("sed -i s/a/b/ {machine}/capabilities/revoked.json"),
        format!("truncate -s 0 {machine}/keys/constitution"),
        "echo x > .cal_constitution.cedar".to_owned(),
        "mv x.cedar .cal_constitution.cedar".to_owned(),
    ] {
        let said = env.run(["guard", "check", "--json", "--", &command]);
        assert_eq!(
            said.ended_with(1).json()["rule"],
            "protect.state",
            "{command}"
        );
    }
    // A folder that is reached by a link, before anything is in it.
    for path in [
        "linked/callosum/constitution.cedar",
        "linked/callosum/cake_config.yaml",
    ] {
        let command = format!("echo x > {home}/{path}");
        let checked = env.callosum().env("CALLOSUM_CONFIG", &elsewhere);
        let said = checked
            .arguments(["guard", "check", "--json", "--", &command])
            .run();
        assert_eq!(
            said.ended_with(1).json()["rule"],
            "protect.state",
            "{command}"
        );
    }
    let harmless = format!("cat {home}/constitution.cedar .cal_constitution.cedar");
    env.run(["guard", "check", "--", &harmless]).success();
}
