//! The file as people, other programs and accidents leave it.

use callosum_host::Disk;
use serde_json::{Value, json};

use super::*;

const SEED_EXAMPLE: &str = r#"{
  "note": "ours",
  "executors": [
    {
      "status": "active",
      "id": "ollama-code",
      "type": "cli",
      "version": "4.6",
      "x-colour": [1, {"b": 2, "a": 1}],
      "capabilities": {
        "checksum_support": false,
        "prompt_input": true,
        "json_output": true,
        "telepathy": true,
        "filesystem_access": true
      },
      "command_template": "ollama-code -p \"{prompt}\"",
      "last_validated": "2025-10-25T14:30:00Z"
    }
  ],
  "z": null
}
"#;

struct Fixture {
    folder: tempfile::TempDir,
    disk: Disk,
}

impl Fixture {
    fn with(content: impl AsRef<[u8]>) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
            disk: Disk::real(),
        };
        place
            .disk
            .replace(&place.file(), content.as_ref(), 0o644)
            .unwrap();
        place
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("registry.json")
    }

    fn load(&self) -> Registry {
        Registry::load(&self.disk, &self.file()).unwrap().unwrap()
    }

    fn text(&self) -> String {
        String::from_utf8(self.disk.read(&self.file()).unwrap()).unwrap()
    }
}

/// CAL-EXE-2: the seed's own file is read, and written back without losing anything.
#[test]
fn unknown_keys_and_the_order_of_keys_survive_a_change() {
    let place = Fixture::with(SEED_EXAMPLE);
    let mut registry = place.load();
    let mut executor = registry.get("ollama-code").unwrap().clone();
    assert_eq!(executor.kind, Kind::Cli);
    assert!(executor.capabilities.json_output && !executor.capabilities.checksum_support);
    assert!(executor.extra.contains_key("x-colour"));

    executor.status = Status::Inactive;
    executor.quiet_ms = Some(60_000);
    registry.put(&executor);
    registry.save(&place.disk, &place.file()).unwrap();

    let expected = SEED_EXAMPLE
        .replace("\"active\"", "\"inactive\"")
        .replace(
            "[1, {\"b\": 2, \"a\": 1}]",
            "[\n        1,\n        {\n          \"b\": 2,\n          \"a\": 1\n        }\n      ]",
        )
        .replace("14:30:00Z\"", "14:30:00Z\",\n      \"quiet_ms\": 60000");
    assert_eq!(place.text(), expected);
    assert_eq!(place.load().get("ollama-code"), Some(&executor));
}

/// CAL-EXE-3: a new registry has scout, active.
#[test]
fn a_new_registry_has_the_embedded_executor() {
    let registry = Registry::initial();
    insta::assert_snapshot!(String::from_utf8(registry.to_bytes()).unwrap(), @r#"
    {
      "executors": [
        {
          "id": "scout",
          "type": "cli",
          "version": "0.1.0",
          "status": "active",
          "capabilities": {
            "prompt_input": true,
            "json_output": true,
            "filesystem_access": true,
            "checksum_support": true
          },
          "command_template": "{self} executor run scout"
        }
      ]
    }
    "#);
}

#[test]
fn executors_are_added_replaced_and_removed_in_their_place() {
    let mut registry = Registry::initial();
    registry.put(&Executor::cli("a", "a {prompt}"));
    registry.put(&Executor::cli("b", "b"));
    registry.put(&Executor::cli("a", "a2"));
    let ids = |registry: &Registry| -> Vec<String> {
        let executors = registry.executors().iter();
        executors.map(|executor| executor.id.clone()).collect()
    };
    assert_eq!(ids(&registry), ["scout", "a", "b"]);
    assert_eq!(registry.get("a").unwrap().command_template, "a2");
    assert!(registry.remove("a"));
    assert!(!registry.remove("a"));
    assert_eq!(ids(&registry), ["scout", "b"]);

    let place = Fixture::with(registry.to_bytes());
    assert_eq!(place.load(), registry);
}

/// A corrupt file is reported with the place of the fault, and stays as it is.
#[test]
fn a_corrupt_registry_is_placed_and_never_overwritten() {
    let too_large_a_number = format!("{{\"executors\": [],\n \"a\": {}}}", "9".repeat(400));
    for (content, says) in [
        ("{\n  \"executors\": [,]\n}", "line 2, column 17"),
        ("{\"executors\": [], \"executors\": []}", "line 1"),
        ("", "line 1"),
        ("[]", "an object with an array `executors`"),
        ("{\"executors\": {}}", "an object with an array `executors`"),
        (&too_large_a_number, "too large for a float at line 2"),
    ] {
        let place = Fixture::with(content);
        let error = Registry::load(&place.disk, &place.file()).unwrap_err();
        assert!(error.to_string().contains(says), "{content}: {error}");
        assert_eq!(place.text(), content);
    }
    let place = Fixture::with(b"{\"executors\": [\"\xff\"]}");
    assert!(Registry::load(&place.disk, &place.file()).is_err());
}

/// A file without end, or a very long one, does not fill the memory.
#[test]
fn a_registry_that_is_too_large_is_refused() {
    let blanks = " ".repeat(LARGEST_REGISTRY - 16);
    let fits = Fixture::with(format!("{{\"executors\":[]{blanks}}}"));
    assert_eq!(fits.load().executors(), []);
    let place = Fixture::with(format!("{{\"executors\":[] {blanks}}}"));
    let error = Registry::load(&place.disk, &place.file()).unwrap_err();
    assert!(matches!(error, LoadError::TooLarge { .. }), "{error}");
}

#[test]
fn no_file_is_no_registry() {
    let folder = tempfile::tempdir().unwrap();
    let loaded = Registry::load(&Disk::real(), &folder.path().join("registry.json"));
    assert_eq!(loaded.unwrap(), None);
}

/// REQ-EXE-003: an entry that makes no sense is reported, kept, and never run.
#[test]
fn entries_that_make_no_sense_are_problems_and_stay() {
    let good = json!({"id": "a", "type": "cli", "status": "inactive", "command_template": "a"});
    let with = |key: &str, value: Value| {
        let mut entry = good.clone();
        entry[key] = value;
        entry
    };
    let document = json!({"executors": [
        good,
        7,
        with("id", json!("../../etc/passwd")),
        with("id", json!("a\u{1b}[2J")),
        with("type", json!("carrier-pigeon")),
        with("status", json!(true)),
        with("quiet_ms", json!(-5)),
        with("pass_environment", json!(["A=B"])),
        with("capabilities", json!({"json_output": 1})),
        json!({"id": "b"}),
        good,
    ]});
    let place = Fixture::with(document.to_string());
    let mut registry = place.load();
    assert_eq!(registry.executors().len(), 1);
    let problems: Vec<String> = registry
        .problems()
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(problems.join("\n"), @r"
    entry 2 of the registry: not an object
    entry 3 of the registry: `../../etc/passwd` is not an executor id: use 1 to 64 letters, digits, `.`, `_` or `-`, starting with a letter or digit
    entry 4 of the registry: `a\u{1b}[2J` is not an executor id: use 1 to 64 letters, digits, `.`, `_` or `-`, starting with a letter or digit
    entry 5 of the registry (`a`): `type` must be `cli`, `http` or `mcp`
    entry 6 of the registry (`a`): `status` must be a string
    entry 7 of the registry (`a`): `quiet_ms` must be a whole number of milliseconds above 0
    entry 8 of the registry (`a`): `pass_environment` must be a list of names of environment variables
    entry 9 of the registry (`a`): `capabilities` must be an object of booleans
    entry 10 of the registry (`b`): `type` is missing
    entry 11 of the registry (`a`): an earlier entry has the same id
    ");
    registry.put(&Executor::cli("c", "c"));
    registry.save(&place.disk, &place.file()).unwrap();
    let kept: Value = serde_json::from_str(&place.text()).unwrap();
    assert_eq!(
        kept["executors"].as_array().unwrap()[..11],
        document["executors"].as_array().unwrap()[..]
    );
}

/// A removed executor does not come back from an entry that was hidden behind it.
#[test]
fn removing_an_executor_removes_every_entry_of_its_name() {
    let entry = json!({"id": "a", "type": "cli", "status": "active", "command_template": "a"});
    let place = Fixture::with(json!({"executors": [entry, entry, {"id": "a"}]}).to_string());
    let mut registry = place.load();
    assert!(registry.remove("a"));
    assert_eq!(registry.problems(), []);
    assert_eq!(registry.to_bytes(), b"{\n  \"executors\": []\n}\n");
}

/// The name of a broken entry can be registered again, and then nothing is wrong any more.
#[test]
fn registering_a_name_settles_the_problems_with_it() {
    let place = Fixture::with(
        json!({"executors": [
            {"id": "a", "type": "cli", "status": true, "command_template": "old", "note": 1},
            {"id": "b"},
            {"id": "a", "type": "pigeon"},
        ]})
        .to_string(),
    );
    let mut registry = place.load();
    registry.put(&Executor::cli("a", "new"));
    assert_eq!(registry.get("a").unwrap().command_template, "new");
    let left: Vec<_> = registry.problems().iter().map(|p| p.id.clone()).collect();
    assert_eq!(left, [Some("b".to_owned())]);
    let file: Value = serde_json::from_slice(&registry.to_bytes()).unwrap();
    assert_eq!(file["executors"].as_array().unwrap().len(), 2);
    assert_eq!(file["executors"][0]["id"], "a");
}

/// A handshake's outcome goes to the entry that was asked, and to no other of its name.
#[test]
fn a_new_standing_leaves_other_entries_of_the_name_alone() {
    let broken = json!({"id": "a", "type": "pigeon"});
    let used = json!({"id": "a", "type": "cli", "status": "inactive", "command_template": "a"});
    let twin = json!({"id": "a", "type": "cli", "status": "inactive", "command_template": "b"});
    let place = Fixture::with(json!({"executors": [broken, used, twin]}).to_string());
    let mut registry = place.load();
    let mut executor = registry.get("a").unwrap().clone();
    executor.status = Status::Active;
    registry.put(&executor);
    assert_eq!(registry.executors(), [executor]);
    let file: Value = serde_json::from_slice(&registry.to_bytes()).unwrap();
    assert_eq!(file["executors"][0], broken);
    assert_eq!(file["executors"][1]["status"], "active");
    assert_eq!(file["executors"][2], twin);
}

#[test]
fn ids_are_fit_for_file_names() {
    for id in ["a", "ollama-code", "gpt_4.1", &"x".repeat(64)] {
        assert!(Executor::check_id(id).is_ok(), "{id}");
    }
    for id in [
        "",
        ".",
        "..",
        "-a",
        "_a",
        "a/b",
        "a b",
        "é",
        &"x".repeat(65),
    ] {
        assert!(Executor::check_id(id).is_err(), "{id}");
    }
}
