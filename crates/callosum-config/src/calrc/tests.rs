//! `.calrc` files: the seed's, hostile ones, and edits of a person's.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;
use crate::{setting_path::Address, test_dir::TestDir, value::Value};

/// Seed CAL §14.2, word for word.
const SEED: &str = r#"{
  "concurrency_limit": 5,
  "ledger_path": ".cal_memory.json",
  "audit_path": "/cal_audit/",
  "rotation_threshold_mb": 250,
  "executor_timeout_ms": 5000,
  "retry_max": 3,
  "executors": {
    "ollama-code": {
      "enabled": true,
      "priority": 1
    },
    "gemini-cli": {
      "enabled": false,
      "priority": 2
    }
  }
}
"#;

fn read(text: impl AsRef<[u8]>) -> Result<Calrc, CalrcError> {
    Calrc::read(Path::new("/p/.calrc"), text.as_ref())
}

/// Returns the content, if another value of it may be set.
fn as_if_set(calrc: Calrc) -> Result<Calrc, CalrcError> {
    let other = Address::Enabled("nobody".to_owned());
    calrc.may_be_set(&other).map(|()| calrc)
}

#[track_caller]
fn refuse(text: impl AsRef<[u8]>, message: &str) {
    let error = read(text).and_then(as_if_set).unwrap_err().to_string();
    assert_eq!(error, format!("`/p/.calrc`: {message}"));
}

/// CAL-CFG-1
#[test]
fn the_seeds_own_example_is_read() {
    let calrc = read(SEED).unwrap();
    assert_eq!(calrc.unknown, []);
    assert_eq!(calrc.values["audit_path"], Value::Path("cal_audit".into()));
    assert_eq!(calrc.values["executor_timeout_ms"], Value::Count(5000));
    assert_eq!(calrc.executors["gemini-cli"].enabled, Some(false));
    assert_eq!(calrc.executors["ollama-code"].priority, Some(1));
}

/// CAL-CFG-1: file, key, value and range.
#[test]
fn a_value_out_of_range_is_refused_with_all_that_is_needed_to_mend_it() {
    refuse(
        r#"{"concurrency_limit": 13}"#,
        "`concurrency_limit` is `13` (allowed: a whole number from 3 to 12)",
    );
    refuse(
        r#"{"retry_max": -1}"#,
        "`retry_max` is `-1` (allowed: a whole number from 0 to 5)",
    );
    refuse(
        r#"{"retry_max": 3.0}"#,
        "`retry_max` is `3.0` (allowed: a whole number from 0 to 5)",
    );
    refuse(
        r#"{"strict_summary": "yes"}"#,
        "`strict_summary` is `yes` (allowed: true or false)",
    );
    refuse(
        r#"{"ledger_path": ".git/config"}"#,
        "`ledger_path` is `.git/config` (allowed: the path of a file, not in .git)",
    );
    refuse(
        r#"{"executors": {"a": {"priority": 99999999999999999999999}}}"#,
        "`executors.a.priority` is `1e+23` (allowed: a whole number from 0 to 1000)",
    );
    refuse(
        r#"{"executors": {"a": true}}"#,
        "`executors.a` is `true` (allowed: an object)",
    );
    refuse(
        r#"{"executors": [1]}"#,
        "`executors` is `[1]` (allowed: an object)",
    );
}

/// CAL-CFG-1: one look finds them all.
#[test]
fn each_value_that_is_refused_is_kept_and_the_others_are_read() {
    let calrc = read(
        r#"{"concurrency_limit": 2, "retry_max": 1, "io_threshold": "x",
            "executors": {"a": {"enabled": 1, "priority": 7}, "b": 3}}"#,
    )
    .unwrap();
    let refused: Vec<&str> = calrc.refused.iter().map(|r| r.key.as_str()).collect();
    assert_eq!(
        refused,
        [
            "concurrency_limit",
            "executors.a.enabled",
            "executors.b",
            "io_threshold"
        ]
    );
    assert_eq!(calrc.values["retry_max"], Value::Count(1));
    assert_eq!(calrc.executors["a"].priority, Some(7));
}

#[test]
fn an_unknown_key_is_noted_with_the_nearest_name() {
    let calrc =
        read(r#"{"retry_mx": 1, "colour": 2, "executors": {"a": {"enable": true}}}"#).unwrap();
    let noted: Vec<_> = calrc
        .unknown
        .iter()
        .map(|unknown| (unknown.key.as_str(), unknown.nearest))
        .collect();
    assert_eq!(
        noted,
        [
            ("colour", None),
            ("executors.a.enable", Some("enabled")),
            ("retry_mx", Some("retry_max")),
        ],
    );
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert_eq!(read("\u{feff}{\"retry_max\": 1}").unwrap().values.len(), 1);
}

#[test]
fn hostile_content_is_refused_with_its_place() {
    let deep = format!("{{\"x\": {}{}}}", "[".repeat(500_000), "]".repeat(500_000));
    for (text, message) in [
        ("".as_bytes(), "line 1"),
        (b"[]", "expected an object, found `[]`"),
        (b"null", "expected an object, found `null`"),
        (b"{\"a\": 1,\n \"a\": 2}", "duplicate key `a`"),
        (b"{\"a\": NaN}", "NaN"),
        (b"{\"a\": 1e999}", "too large"),
        (b"{\"a\": \"\xff\"}", "not UTF-8"),
        (b"{\"a\": \"\\ud800\"}", "surrogate"),
        (b"{} {}", "line 1"),
        (deep.as_bytes(), "nesting"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(error.len() < 300, "{error}");
    }
}

#[test]
fn an_error_carries_no_escape_codes_of_the_file() {
    let error = read(r#"{"retry_max": "\u001b[2J\u0007"}"#)
        .and_then(as_if_set)
        .unwrap_err();
    assert!(!error.to_string().contains(['\u{1b}', '\u{7}']), "{error}");
}

#[test]
fn what_is_no_file_or_far_too_large_is_refused_without_reading_it() {
    let ground = TestDir::new();
    let disk = &ground.disk;
    let path = ground.folder(".calrc");
    assert!(matches!(
        Calrc::load(disk, &path),
        Err(CalrcError::NoFile { .. })
    ));
    disk.remove_dir(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(matches!(
        Calrc::load(disk, &path),
        Err(CalrcError::NoFile { .. })
    ));
    ground.write(".calrc", " ".repeat((1 << 20) + 1));
    assert!(matches!(
        Calrc::load(disk, &path),
        Err(CalrcError::NoFile { .. })
    ));
}

/// A folder in which a `.calrc` is edited.
struct Desk {
    ground: TestDir,
}

impl Desk {
    fn with(text: Option<&str>) -> Self {
        let ground = TestDir::new();
        if let Some(text) = text {
            ground.write(".calrc", text);
        }
        Self { ground }
    }

    fn path(&self) -> PathBuf {
        self.ground.path(".calrc")
    }

    fn edit(&self, address: &str, typed: &str) -> Result<Change, EditError> {
        let address = Address::parse(address).unwrap();
        let value = address.read_text(typed.as_ref()).unwrap();
        let lock = self.ground.path("lock");
        edit(&self.ground.disk, &self.path(), &lock, &address, &value)
    }

    fn text(&self) -> String {
        self.ground.text(&self.path())
    }
}

#[track_caller]
fn check_edit(before: &str, address: &str, typed: &str, after: &str) {
    let desk = Desk::with(Some(before));
    desk.edit(address, typed).unwrap();
    assert_eq!(desk.text(), after);
}

#[test]
fn an_edit_leaves_every_other_byte_as_it_was() {
    check_edit(
        "{ \"my_own\" : 0.10,\n\t\"retry_max\":3 ,\"z\":[1, 2] }\n\n",
        "retry_max",
        "4",
        "{ \"my_own\" : 0.10,\n\t\"retry_max\":4 ,\"z\":[1, 2] }\n\n",
    );
    check_edit(
        SEED,
        "executors.gemini-cli.enabled",
        "true",
        &SEED.replace("false", "true"),
    );
}

#[test]
fn a_value_that_is_not_there_is_added_in_the_files_own_manner() {
    check_edit("{}", "retry_max", "4", "{\n  \"retry_max\": 4\n}");
    check_edit(
        "{\"a\": 1}\n",
        "strict_summary",
        "true",
        "{\"a\": 1, \"strict_summary\": true}\n",
    );
    check_edit(
        "{\n  \"a\": 1\n}\n",
        "audit_path",
        "log \"x\"",
        "{\n  \"a\": 1,\n  \"audit_path\": \"log \\\"x\\\"\"\n}\n",
    );
    check_edit(
        "{\n  \"executors\": {\n    \"a\": {}\n  }\n}\n",
        "executors.b.priority",
        "7",
        "{\n  \"executors\": {\n    \"a\": {},\n    \"b\": { \"priority\": 7 }\n  }\n}\n",
    );
    check_edit(
        "{\n  \"a\": 1\n}\n",
        "executors.x.y.enabled",
        "false",
        "{\n  \"a\": 1,\n  \"executors\": { \"x.y\": { \"enabled\": false } }\n}\n",
    );
}

#[test]
fn an_edit_of_no_file_makes_one() {
    let desk = Desk::with(None);
    let change = desk.edit("retry_max", "4").unwrap();
    assert_eq!(change.before, None);
    assert_eq!(desk.text(), "{\n  \"retry_max\": 4\n}\n");
    let now = Calrc::load(&desk.ground.disk, &desk.path()).unwrap();
    assert_eq!(now.fingerprint, Some(change.after));
}

/// CAL-CFG-1: a value that is not allowed is not written; a present one is replaced by one that is
/// allowed.
#[test]
fn a_value_that_is_refused_is_replaced_and_never_written() {
    let text = r#"{"retry_max": 77, "executors": {"a": {"priority": 5000}}}"#;
    let desk = Desk::with(Some(r#"{"a": 1}"#));
    let address = Address::Priority("a".to_owned());
    let written = edit(
        &desk.ground.disk,
        &desk.path(),
        &desk.ground.path("lock"),
        &address,
        &Value::Count(5000),
    );
    assert!(matches!(written, Err(EditError::NotAllowed(_))));
    assert_eq!(desk.text(), r#"{"a": 1}"#);
    let desk = Desk::with(Some(r#"{"retry_max": 77, "a": 1}"#));
    desk.edit("retry_max", "4").unwrap();
    assert_eq!(desk.text(), r#"{"retry_max": 4, "a": 1}"#);
    // Several, one after another; no other at that time.
    let desk = Desk::with(Some(text));
    assert!(matches!(
        desk.edit("io_threshold", "5"),
        Err(EditError::Calrc(_))
    ));
    desk.edit("executors.a.priority", "5").unwrap();
    desk.edit("retry_max", "4").unwrap();
    let mended = text.replace("77", "4").replace("5000", "5");
    assert_eq!(desk.text(), mended);
}

#[test]
fn a_broken_file_is_not_edited() {
    for text in ["{", "[]", r#"{"retry_max": 77}"#] {
        let desk = Desk::with(Some(text));
        assert!(matches!(
            desk.edit("io_threshold", "5"),
            Err(EditError::Calrc(_))
        ));
        assert_eq!(desk.text(), text);
    }
}

/// Any JSON that a `.calrc` of unknown keys may hold.
fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "[ -~é\n\"\\\\{}]{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map("[x-z\"{}\\\\]{1,4}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Reading back what was set gives the value, and everything else as it was.
    #[test]
    fn an_edit_is_read_back_and_changes_nothing_else(
        rest in prop::collection::btree_map("[x-z\"{}\\\\]{1,4}", json(), 0..4),
        pretty in any::<bool>(),
        address in prop::sample::select(vec!["retry_max", "executors.e.priority"]),
    ) {
        let before = Json::Object(rest.into_iter().collect());
        let text = if pretty { format!("{before:#}") } else { before.to_string() };
        let desk = Desk::with(Some(&text));
        desk.edit(address, "4").unwrap();
        let mut after: Json = serde_json::from_str(&desk.text()).unwrap();
        let pointer = format!("/{}", address.replace('.', "/"));
        prop_assert_eq!(after.pointer(&pointer), Some(&Json::from(4)));
        let object = after.as_object_mut().unwrap();
        object.remove("retry_max");
        object.remove("executors");
        prop_assert_eq!(after, before);
    }

    /// Bytes of any kind are refused or read, never a panic.
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _answer = read(&bytes);
    }
}
