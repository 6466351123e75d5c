//! `callosum find`.

use callosum_testkit::{FakeCk, TestEnv};
use serde_json::Value;

use crate::{faults::SmallDisk, projects::two_languages, worktrees::inside};

/// LOA-JIT-2: a question in words finds the declaration and its lines, by index and by tree.
#[test]
fn a_passage_is_found_by_words_and_told_with_its_place() {
    let env = two_languages();
    env.write("src/retry.rs", "/// Waits longer after each failure.\npub fn backoff_delay(attempt: u32) -> u32 {\n    attempt * 2\n}\n");
    env.write(
        "docs/policy.md",
        "# Policy\n\n## Retrying\nAfter a failure we wait.\n",
    );
    let found = env.run(["find", "backoff after failure"]).success();
    assert!(
        found.stdout.contains("src/retry.rs:1-4"),
        "{}",
        found.stdout
    );
    assert!(
        found.stdout.contains("pub fn backoff_delay"),
        "{}",
        found.stdout
    );
    let json = env.run(["find", "backoffDelay", "--json"]).success().json();
    assert_eq!(json["found"][0]["name"], "backoff_delay");
    assert_eq!(json["found"][0]["first_line"], 1);
    assert!(json["found"][0]["text"].as_str().unwrap().ends_with("}\n"));
    let only = env
        .run(["find", "failure", "--path", "docs", "--jsonl"])
        .success();
    assert_eq!(only.stdout.lines().count(), 1);
    let only: serde_json::Value = serde_json::from_str(&only.stdout).unwrap();
    assert_eq!(only["path"], "docs/policy.md");
    // From a folder below the root, as a shell completes it there.
    env.git_init();
    let docs = env.project().join("docs");
    for (path, is_found) in [
        (".", true),
        ("policy.md", true),
        ("docs", true),
        ("../docs", true),
        ("../src", false),
    ] {
        let found = inside(&env, &docs, ["find", "we wait", "--path", path, "--jsonl"]);
        assert_eq!(
            found.stdout.contains("docs/policy.md"),
            is_found,
            "{path}: {}{}",
            found.stdout,
            found.stderr
        );
        assert!(
            !found.stdout.contains("retry.rs") || !is_found,
            "{path}: {}",
            found.stdout
        );
    }
    let gone = inside(&env, &docs, ["find", "x", "--path", "nowhere"]);
    gone.ended_with(2);
}

/// LOA-JIT-2: a section comes back whole.
#[test]
fn a_section_is_shown_whole() {
    let env = two_languages();
    env.write(
        "docs/policy.md",
        "# Policy\n\n## Retrying\nAfter a failure we wait.\n\nTwice.\n\n## Other\nNo.\n",
    );
    let found = env.run(["find", "--section", "retrying"]).success();
    assert!(
        found.stdout.contains("docs/policy.md:3-7"),
        "{}",
        found.stdout
    );
    assert!(found.stdout.contains("Twice."), "{}", found.stdout);
    assert!(!found.stdout.contains("No."), "{}", found.stdout);
    env.write(
        "CHANGES.rst",
        "Changes\n=======\n\nPager Support\n-------------\n\nThrice.\n\nOther\n-----\n\nNo.\n",
    );
    let found = env.run(["find", "--section", "pager support"]).success();
    assert!(
        found.stdout.contains("CHANGES.rst:4-8") && found.stdout.contains("Thrice."),
        "{}",
        found.stdout
    );
    env.run(["find", "--section", "nothing of that name"])
        .ended_with(1);
}

/// LOA-GRD-3: what nothing speaks of is not found above the threshold, and that is the exit code.
#[test]
fn what_is_not_there_is_not_found() {
    let env = two_languages();
    env.run(["find", "quantum teleporter", "--threshold", "0.4"])
        .ended_with(1);
    env.run(["find", "?!"]).ended_with(2);
    env.run(["find"]).ended_with(2);
    env.run(["find", "x", "--threshold", "2"]).ended_with(2);
    let gone = env.run(["find", "x", "--path", "nowhere"]).ended_with(2);
    assert!(
        gone.stderr.contains("`nowhere` does not exist"),
        "{}",
        gone.stderr
    );
    env.run(["find", "x", "--path", "../.."]).ended_with(2);
}

/// LOA-JIT-2: what is quoted stands in whatever is found; where it stands nowhere, nothing is.
#[test]
fn what_is_quoted_must_stand_there() {
    let env = two_languages();
    env.write("docs/a.md", "# One\nAfter a failure we wait twice.\n");
    env.write("docs/b.md", "# Two\nWe wait after each failure.\n");
    let found = env.run(["find", "\"a failure\" wait", "--jsonl"]).success();
    assert_eq!(found.stdout.lines().count(), 1, "{}", found.stdout);
    assert!(found.stdout.contains("docs/a.md"), "{}", found.stdout);
    env.run(["find", "\"failure a\" wait"]).ended_with(1);
}

/// LOA-JIT-2: a model that lies beside the user's configuration finds what has none of the words; one
/// that cannot be used is told of, and what words find is found all the same.
#[test]
fn a_model_that_is_installed_is_used() {
    let env = two_languages();
    env.write("docs/wait.md", "# Sleep\nUntil the server answers.\n");
    let missing = env.run(["find", "pause", "--by", "meaning"]).ended_with(3);
    assert!(
        missing.stderr.contains("model.safetensors"),
        "{}",
        missing.stderr
    );
    env.run(["find", "pause"]).ended_with(1);
    let folder = env.configuration().with_file_name("model");
    let numbers: Vec<u8> = [1.0_f32, 0.0, 0.9, 0.1]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let head = r#"{"embeddings":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
    let mut file = (head.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(head.as_bytes());
    file.extend_from_slice(&numbers);
    env.write(folder.join("model.safetensors"), &file);
    env.write(
        folder.join("tokenizer.json"),
        r#"{"model":{"type":"WordLevel","vocab":{"pause":0,"sleep":1},"unk_token":"?"}}"#,
    );
    for by in ["all", "meaning"] {
        let found = env.run(["find", "pause", "--by", by]).success();
        assert!(
            found.stdout.starts_with("docs/wait.md:1"),
            "{}",
            found.stdout
        );
    }
    env.write(folder.join("tokenizer.json"), "{");
    let told = env.run(["find", "server answers"]).success();
    assert!(told.stdout.contains("docs/wait.md"), "{}", told.stdout);
    assert!(told.stderr.contains("tokenizer.json"), "{}", told.stderr);
    env.run(["find", "pause", "--by", "meaning"]).ended_with(3);
}

/// LOA-JIT-2: answers that the ledger has are found beside the code, from the moment they are there;
/// a change of the tree is seen; a damaged index is made anew.
#[test]
fn what_changes_is_found() {
    let env = two_languages();
    env.run(["delegate", "Map the zebra crossing"]).success();
    let find = |query: &str| {
        let found = env.run(["find", query, "--json"]);
        let all = found.json()["found"].as_array().unwrap().clone();
        let places = all.iter().map(|one| {
            format!(
                "{} {}",
                one["collection"].as_str().unwrap(),
                one["path"].as_str().unwrap()
            )
        });
        places.collect::<Vec<_>>()
    };
    let zebra = find("zebra crossing");
    assert!(zebra[0].starts_with("ledger cal_"), "{zebra:?}");
    env.write("notes.md", "# Okapi\nIt is shy.\n");
    assert_eq!(find("okapi"), ["tree notes.md"]);
    env.run(["delegate", "Map the okapi house"]).success();
    assert_eq!(find("okapi").len(), 2, "{:?}", find("okapi"));
    let folder = env.machine_home().join("search");
    let index = std::fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path()
        .join("find.db");
    std::fs::write(index, vec![b'x'; 9000]).unwrap();
    assert!(find("okapi").contains(&"tree notes.md".to_owned()));
}

/// LOA-JIT-2: decisions, what else the notes say, and beads are found beside the code; what changes is
/// seen, what goes is gone.
#[test]
fn what_a_session_keeps_is_found() {
    let env = two_languages();
    let find = |query: &str| -> Vec<String> {
        let found = env.run(["find", query, "--threshold", "0.9", "--json"]);
        let all = found.json()["found"].as_array().unwrap().clone();
        let word = |one: &serde_json::Value, key: &str| one[key].as_str().unwrap().to_owned();
        all.iter()
            .map(|one| format!("{}: {}", word(one, "collection"), word(one, "text")))
            .collect()
    };
    let created = env
        .run(["bead", "create", "Herd the alpacas", "--json"])
        .success()
        .json();
    let id = created["id"].as_str().unwrap();
    env.run([
        "session",
        "decide",
        "Pool the okapis",
        "--reason",
        "they are shy",
        "--source=assumption",
    ])
    .success();
    let shown = env.run(["find", "okapis shy", "--limit", "1"]).success();
    assert!(shown.stdout.starts_with("decision 20"), "{}", shown.stdout);
    let okapis = find("okapis shy");
    assert!(okapis[0].starts_with("decision: "), "{okapis:?}");
    assert!(okapis[0].contains("Pool the okapis"), "{okapis:?}");
    assert!(
        !okapis.iter().any(|one| one.starts_with("notes")),
        "{okapis:?}"
    );
    assert!(find("herd alpacas")[0].contains("Herd the alpacas"));
    let notes = env.read("loa-grimoire/NOTES.md");
    env.write(
        "loa-grimoire/NOTES.md",
        notes.replace("okapis", "zebras") + "\n## Weather\nFoggy in the valley.\n",
    );
    assert!(
        find("okapis shy")
            .iter()
            .all(|one| !one.starts_with("decision"))
    );
    assert!(find("zebras shy")[0].starts_with("decision: "));
    assert!(find("foggy valley")[0].starts_with("notes: "));
    let bead = format!(".beads/{id}.yaml");
    std::fs::remove_file(env.project().join(bead)).unwrap();
    let gone = env.run(["find", "herd alpacas", "--threshold", "0.9"]);
    gone.ended_with(1);
}

/// A tree in which `ck` knows what nobody says in words.
fn with_ck(does: &str) -> TestEnv {
    let env = two_languages();
    env.write("docs/wait.md", "# Sleep\nUntil the server answers.\n");
    env.write("docs/server.md", "# Server\nIt answers.\n");
    FakeCk::lay(&env, does);
    env
}

fn found(env: &TestEnv, arguments: &[&str]) -> Value {
    let output = env.run([&["find", "--json"], arguments].concat());
    assert_eq!(output.stderr, "", "{arguments:?}");
    output.success().json()
}

/// LOA-JIT-2: where `ck` is configured, what it finds is fused with what is found here; what it names
/// outside of the tree, or what is not there, is nothing.
#[test]
fn what_ck_finds_is_fused() {
    let env = with_ck("exit 3");
    FakeCk::lay(
        &env,
        &FakeCk::finds(&[
            ("docs/wait.md", 1, 2),
            ("./docs/wait.md", 2, 2),
            ("../outside.md", 1, 1),
            ("/etc/passwd", 1, 1),
            ("docs/gone.md", 1, 1),
            ("docs/server.md", 800, 900),
        ]),
    );
    let alone = found(&env, &["pause", "--by", "ck"]);
    assert_eq!(alone["found"][0]["path"], "docs/wait.md");
    assert_eq!(alone["found"].as_array().unwrap().len(), 1, "{alone}");
    assert_eq!(alone["ck"]["hits"], 4);
    assert!(alone["ck"]["failed"].is_null());
    let fused = found(&env, &["pause server"]);
    let places: Vec<&str> = fused["found"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(places, ["docs/server.md", "docs/wait.md"]);
    env.run(["find", "pause", "--by", "words"]).ended_with(1);
    env.run(["find", "pause", "--path", "src"]).ended_with(1);
    let doctor = env.run(["doctor", "-v"]);
    assert!(doctor.stdout.contains("ck 0.8.1"), "{doctor:?}");
}

/// LOA-JIT-2: `ck` is given the question as data, little of the environment, and a folder of ours for
/// its index; whatever a repository says, it is not started unless its user laid it there.
#[test]
fn ck_is_asked_with_care() {
    let env = with_ck(FakeCk::FINDS_NOTHING);
    let secret = env.callosum().env("SECRET_TOKEN", "sesame");
    let asked = secret.arguments(["find", "--json", "--", "--index server; $(id)"]);
    let asked = asked.run().success();
    assert_eq!(asked.json()["ck"]["hits"], 0);
    let heard = FakeCk::heard(&env);
    assert!(
        heard.contains("\n--\n--index server; $(id)\n.\n"),
        "{heard}"
    );
    assert!(!heard.contains("sesame"), "{heard}");
    let indexes = env.machine_home().join("search/ck");
    let indexes = format!("CK_INDEX_DIR={}", indexes.display());
    assert!(heard.contains(&indexes), "{heard}");

    let env = two_languages();
    let ran = env.folder().join("ran");
    let script = format!("#!/bin/sh\ntouch '{}'\n", ran.display());
    for place in ["ck", ".ck/ck", "bin/ck"] {
        env.write(place, &script);
    }
    env.write(env.programs().join("ck"), &script);
    env.write(".calrc", r#"{"ck": "./ck", "ck_path": "./ck"}"#);
    let own = env.run(["find", "main", "--json"]);
    assert!(own.json()["ck"].is_null(), "{own:?}");
    assert!(!ran.exists());
    let missing = env.run(["find", "main", "--by", "ck"]).ended_with(3);
    assert!(missing.stderr.contains("ln -s"), "{}", missing.stderr);
}

/// LOA-JIT-2: a `ck` that is gone, fails, says too much or what nobody understands is told of, and our
/// own answer is given.
#[test]
fn a_ck_that_does_not_answer_changes_nothing() {
    for (does, told) in [
        ("echo 'no model' >&2; exit 1", "it failed: no model"),
        ("exit 7", "it gave no reason"),
        ("kill -9 $$", "it failed"),
        ("echo '{\"path\": 3}'", "line 1 of its output"),
        ("echo 'Indexing…'; echo '[]'", "line 1 of its output"),
        ("exec yes '{}'", "more than 4 MiB"),
    ] {
        let env = with_ck(does);
        let output = env.run(["find", "server answers", "--json"]).success();
        let is_told =
            output.stderr.contains("searched without ck: ") && output.stderr.contains(told);
        assert!(is_told, "{does}: {}", output.stderr);
        let json = output.json();
        let failed = json["ck"]["failed"].as_str().unwrap();
        assert!(failed.contains(told), "{does}: {failed}");
        assert!(json["found"].as_array().unwrap().len() >= 2, "{json}");
        env.run(["find", "server", "--by", "ck"]).ended_with(3);
    }
    let env = two_languages();
    let place = FakeCk::place(&env);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/nowhere/ck", &place).unwrap();
    let output = env.run(["find", "main"]).success();
    assert!(output.stderr.contains("was not found"), "{}", output.stderr);
    let doctor = env.run(["doctor", "-v"]);
    assert!(doctor.stdout.contains("ck does not work"), "{doctor:?}");
}

/// LOA-JIT-2, LOA-GRD-3: where the machine's home is read-only, the tree is searched all the same, with an index that is there and
/// without; what changed is found.
#[cfg(target_os = "linux")]
#[test]
fn a_home_that_is_read_only_keeps_nobody_from_searching() {
    for is_indexed in [true, false] {
        let disk = SmallDisk::with_a_machine_home();
        disk.env().write("src/a.rs", "pub fn quokka() {}\n");
        if is_indexed {
            disk.run(&["find", "quokka"]).success();
        }
        disk.make_read_only();
        let found = disk.run(&["find", "quokka"]).success().stdout;
        assert!(found.contains("src/a.rs"), "{found}");
        disk.env().write("src/b.rs", "pub fn wombat() {}\n");
        let found = disk.run(&["find", "wombat"]).success().stdout;
        assert!(found.contains("src/b.rs"), "{found}");
        let ghost = [
            "session",
            "ghost",
            "numbat",
            "--query",
            "numbat burrow",
            "--query",
            "banded anteater",
        ];
        let ghost = disk.run(&[&ghost[..], &["--control", "quokka"]].concat());
        assert!(!ghost.stderr.contains("cannot search"), "{}", ghost.stderr);
    }
}
