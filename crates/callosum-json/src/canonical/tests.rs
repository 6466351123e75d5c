//! Canonical form against fixed vectors and against Python itself.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use proptest::prelude::*;

use super::*;

fn canonical(text: &str) -> String {
    String::from_utf8(canonicalize(text.as_bytes(), DuplicateKeys::Refused).unwrap()).unwrap()
}

fn check(text: &str, expected: &str) {
    assert_eq!(canonical(text), expected, "{text}");
}

fn refuse(bytes: &[u8], message: &str) {
    let error = canonicalize(bytes, DuplicateKeys::Refused).unwrap_err();
    assert_eq!(
        error.to_string(),
        message,
        "{:?}",
        String::from_utf8_lossy(bytes)
    );
}

/// Returns the output of Python's `json` for a list of texts.
#[expect(
    clippy::disallowed_methods,
    reason = "the oracle is a program of the machine; nothing of the product runs here"
)]
fn python(texts: &[String]) -> Vec<String> {
    const PROGRAM: &str = "\
import json, sys
for text in json.load(sys.stdin):
    print(json.dumps(json.loads(text), sort_keys=True, separators=(',', ':')))
";
    let mut child = Command::new("python3")
        .args(["-c", PROGRAM])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is needed to test the canonical form");
    let input = serde_json::to_vec(texts).unwrap();
    child.stdin.take().unwrap().write_all(&input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.lines().map(str::to_owned).collect()
}

/// CAL-SUM-1: the traps that set Python's form apart from others.
#[test]
fn the_form_is_that_of_python_at_every_known_trap() {
    check(
        r#" { "b" : [ 1 , 2 ] , "a" : {} , "" : [ ] } "#,
        r#"{"":[],"a":{},"b":[1,2]}"#,
    );
    check("\"é\\u00e9\u{1f600}\"", r#""\u00e9\u00e9\ud83d\ude00""#);
    check("\"\u{7f}\\u007f\\/\"", r#""\u007f\u007f/""#);
    check(r#""\b\f\n\r\t\u0001\"\\""#, r#""\b\f\n\r\t\u0001\"\\""#);
    // U+FF61 sorts before U+1F600 by code point and after it in UTF-16.
    check(
        "{\"\u{1f600}\":1,\"\u{ff61}\":2}",
        r#"{"\uff61":2,"\ud83d\ude00":1}"#,
    );
    for (number, printed) in [
        ("1.0", "1.0"),
        ("-0.0", "-0.0"),
        ("-0", "0"),
        ("1e5", "100000.0"),
        ("1e-5", "1e-05"),
        ("0.0001", "0.0001"),
        ("1e15", "1000000000000000.0"),
        ("1e16", "1e+16"),
        ("123456789012345678.0", "1.2345678901234568e+17"),
        ("1E400", ""),
        ("5e-324", "5e-324"),
        ("-2141307867602615.25", "-2141307867602615.2"),
        ("0", "0"),
        ("1200.5", "1200.5"),
        ("0.00012", "0.00012"),
        ("1e-400", "0.0"),
        (
            "123456789012345678901234567890",
            "123456789012345678901234567890",
        ),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
    ] {
        if printed.is_empty() {
            refuse(
                number.as_bytes(),
                "the number is too large for a float at line 1, column 1",
            );
        } else {
            check(number, printed);
        }
    }
}

/// CAL-SUM-1: no one could check with Python what it does not read by default.
#[test]
fn integers_are_as_long_as_python_reads_them() {
    let longest = "7".repeat(4_300);
    check(&longest, &longest);
    check(&format!("-{longest}"), &format!("-{longest}"));
    refuse(
        format!("[{longest}7]").as_bytes(),
        "the integer has more than 4300 digits at line 1, column 2",
    );
}

/// CAL-SUM-1: what no portable JSON can hold is refused with its place.
#[test]
fn what_has_no_canonical_form_is_refused_with_its_place() {
    refuse(b"[1,\n NaN]", "`NaN` is not JSON at line 2, column 2");
    refuse(b"-Infinity", "`-Infinity` is not JSON at line 1, column 1");
    refuse(b"[Infinity]", "`Infinity` is not JSON at line 1, column 2");
    refuse(
        br#"["a\ud800b"]"#,
        "lone surrogate `\\ud800` at line 1, column 4",
    );
    refuse(
        br#""\udc00""#,
        "lone surrogate `\\udc00` at line 1, column 2",
    );
    refuse(
        br#""\ud800\ud800""#,
        "lone surrogate `\\ud800` at line 1, column 2",
    );
    refuse(br#"{"a":1,"a":2}"#, "duplicate key `a` at line 1, column 8");
    refuse(
        "\"é\u{1}\"".as_bytes(),
        "control character U+0001 in a string, which must be escaped at line 1, column 3",
    );
    refuse(b"\"\xff\"", "bytes that are not UTF-8 at line 1, column 2");
    refuse(
        "\u{feff}1".as_bytes(),
        "expected a value at line 1, column 1",
    );
    refuse(b"", "the text ends too early at line 1, column 1");
    refuse(b"[1", "the text ends too early at line 1, column 3");
    refuse(b"[1,]", "expected a value at line 1, column 4");
    refuse(
        b"{\"a\":1,}",
        "expected a key in quotes at line 1, column 8",
    );
    refuse(b"01", "expected the end of the text at line 1, column 2");
    refuse(b"1.", "the text ends too early at line 1, column 3");
    refuse(b"+1", "expected a value at line 1, column 1");
    refuse(br#""\x""#, "unknown escape in a string at line 1, column 2");
    refuse(b"1 2", "expected the end of the text at line 1, column 3");
}

/// CAL-SUM-1: an old file is read as Python would read it.
#[test]
fn the_last_of_duplicate_keys_counts_where_they_are_tolerated() {
    let form = canonicalize(br#"{"a":1,"b":2,"a":3}"#, DuplicateKeys::LastWins).unwrap();
    assert_eq!(form, br#"{"a":3,"b":2}"#);
}

#[test]
fn nesting_is_read_to_the_same_depth_as_by_serde_json() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    check(&nested(MAX_DEPTH), &nested(MAX_DEPTH));
    assert!(serde_json::from_str::<serde_json::Value>(&nested(MAX_DEPTH)).is_ok());
    assert!(serde_json::from_str::<serde_json::Value>(&nested(MAX_DEPTH + 1)).is_err());
    refuse(
        nested(1_000_000).as_bytes(),
        "more than 127 levels of nesting at line 1, column 128",
    );
}

/// CAL-SUM-1, seed §3.4: the value is that of the seed's own Python function.
#[test]
fn the_checksum_leaves_out_the_field_that_carries_it() {
    let with = br#"{"summary":"ok","checksum":"x","tokens_used":3}"#;
    let without = br#"{"tokens_used":3,"summary":"ok"}"#;
    assert_eq!(
        checksum_without(with, "checksum", DuplicateKeys::Refused).unwrap(),
        checksum(without, DuplicateKeys::Refused).unwrap()
    );
    assert_eq!(
        checksum(without, DuplicateKeys::Refused).unwrap(),
        Checksum::of(br#"{"summary":"ok","tokens_used":3}"#)
    );
}

#[test]
fn members_and_items_are_at_their_ranges() {
    let text = br#" {"a" : [1, {"b":2}] , "tasks":[ 3 ] } "#;
    let members = object_members(text).unwrap();
    let shown: Vec<_> = members
        .iter()
        .map(|(key, at)| (key.as_str(), &text[at.clone()]))
        .collect();
    assert_eq!(shown, [("a", &b"[1, {\"b\":2}]"[..]), ("tasks", b"[ 3 ]")]);
    let array = &text[members[0].1.clone()];
    let items: Vec<_> = array_items(array)
        .unwrap()
        .into_iter()
        .map(|at| &array[at])
        .collect();
    assert_eq!(items, [&b"1"[..], b"{\"b\":2}"]);
}

/// JSON texts of every kind, spelled in ways that a canonical form must see through.
fn json_text() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<f64>()
            .prop_filter("finite", |float| float.is_finite())
            .prop_map(|float| format!("{float:e}")),
        any::<f64>()
            .prop_filter("short", |float| float.abs() < 1e40 && float.abs() > 1e-40)
            .prop_map(|float| format!("{float:?}")),
        any::<i64>().prop_map(|integer| integer.to_string()),
        "-?[1-9][0-9]{0,40}",
        "-?(0|[1-9][0-9]{0,18})\\.[0-9]{1,20}([eE][+-]?[0-9]{1,2})?",
        // Near 2^51 a float steps by quarters and halves: where ties between digits are.
        "-?2[0-9]{15}\\.(25|5|75|125|375)",
    ];
    let string = prop_oneof![
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        "\"[a-z\\u{80}-\\u{10ffff}\\u{7f}]{0,8}\"",
        Just(r#""\ud83d\ude00\u0000\/\u00E9""#.to_owned()),
    ];
    let leaf = prop_oneof![
        number,
        string,
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just(" false\n".to_owned()),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6)
                .prop_map(|items| format!("[ {}\t]", items.join(" ,"))),
            prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(|fields| {
                let fields: Vec<_> = fields
                    .into_iter()
                    .rev()
                    .map(|(key, value)| {
                        format!("{} : {value}", serde_json::to_string(&key).unwrap())
                    })
                    .collect();
                format!("{{{}\r\n}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// CAL-SUM-1: the form is Python's own, byte for byte, over texts of every kind.
    #[test]
    fn any_text_gives_what_python_gives(texts in prop::collection::vec(json_text(), 300)) {
        for (text, theirs) in texts.iter().zip(python(&texts)) {
            prop_assert_eq!(canonical(text), theirs, "{}", text);
        }
    }
}

proptest! {
    #[test]
    fn the_form_of_the_form_is_the_form(text in json_text()) {
        let once = canonical(&text);
        prop_assert_eq!(canonical(&once), once);
    }

    #[test]
    fn bytes_of_any_kind_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        drop(canonicalize(&bytes, DuplicateKeys::LastWins));
    }
}
