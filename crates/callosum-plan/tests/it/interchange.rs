//! Programs that were written for other implementations of RTFS, and run here as they are.
//!
//! Conversions, names of types, and what replaces a macro. The other forms are in `language`.

use callosum_plan::FailureKind;

use crate::running::{check, fail, run, said};

/// Returns the message and the hint of the failure that a source without calls ends with.
fn failure(source: &str) -> (String, String) {
    let failure = run(source, |waiting| panic!("{source} calls {waiting:?}")).unwrap_err();
    (failure.message, failure.hint.unwrap_or_default())
}

/// CCOS-RTFS-1: `int` and `float` convert texts and booleans; `parse-int` and `parse-float` also take numbers.
#[test]
fn texts_and_booleans_convert_to_numbers() {
    for (source, value) in [
        (
            "[(int \"42\") (int \" -3.9 \") (int true) (int false)]",
            "[42 -3 1 0]",
        ),
        (
            "[(float \"1.5\") (float \"2\") (float true)]",
            "[1.5 2.0 1.0]",
        ),
        ("(int \"9007199254740993\")", "9007199254740993"),
        (
            "[(parse-int 42) (parse-int 3.7) (parse-int \"12\")]",
            "[42 3 12]",
        ),
        (
            "[(parse-float 3) (parse-float 1.5) (parse-float \"2.5\")]",
            "[3.0 1.5 2.5]",
        ),
        (
            "[(parse-int \"x\") (parse-float \"x\") (parse-float \"nan\")]",
            "[nil nil nil]",
        ),
        ("(reduce + 0 (map int [\"1\" 2 3.9 true]))", "7"),
        ("(try (int \"x\") (catch :TypeError e 0))", "0"),
    ] {
        check(source, value);
    }
    for source in [
        "(int \"abc\")",
        "(float \"abc\")",
        "(int \"\")",
        "(int nil)",
        "(float [1])",
        "(parse-int true)",
        "(parse-float nil)",
    ] {
        fail(source, FailureKind::TypeError);
    }
    fail(
        "(int \"9223372036854775808\")",
        FailureKind::IntegerOverflow,
    );
    let (message, hint) = failure("(int \"12 apples\")");
    assert!(message.contains("\"12 apples\""), "{message}");
    assert!(hint.contains("`parse-int` returns nil"), "{hint}");
}

/// CCOS-RTFS-1: `type-name` returns lowercase names, each of which is a type.
#[test]
fn names_of_types_are_types() {
    let values = [
        ("nil", "nil"),
        ("true", "boolean"),
        ("1", "integer"),
        ("1.0", "float"),
        ("\"a\"", "string"),
        (":a", "keyword"),
        ("[1]", "vector"),
        ("()", "vector"),
        ("{}", "map"),
        ("inc", "function"),
        ("(fn [x] x)", "function"),
    ];
    for (value, name) in values {
        check(&format!("(type-name {value})"), &format!("{name:?}"));
        check(
            &format!("(let [x : {name} {value}] (type-name x))"),
            &format!("{name:?}"),
        );
        let strangers = values.iter().filter(|(_, other)| *other != name);
        for (stranger, _) in strangers {
            let source = format!("(let [x : {name} {stranger}] x)");
            fail(&source, FailureKind::TypeValidationError);
        }
    }
}

/// CCOS-RTFS-1: arithmetic takes a number at least; a reduction of nothing needs a start.
#[test]
fn arithmetic_takes_a_number_at_least() {
    for source in [
        "(+)",
        "(*)",
        "(-)",
        "(/)",
        "(apply + [])",
        "(reduce + [])",
        "(reduce * nil)",
    ] {
        fail(source, FailureKind::ArityMismatch);
    }
    check("[(+ 3) (* 3) (- 3) (/ 2)]", "[3 3 -3 0.5]");
    check("[(reduce + 0 []) (reduce + [7]) (apply + 0 [])]", "[0 7 0]");
    check("(try (+) (catch :ArityMismatch e 0))", "0");
    for source in ["(reduce + [])", "(reduce (fn [a b] a) [])"] {
        assert!(said(source).contains("(reduce + 0 items)"), "{source}");
    }
    fail("(+ \"a\")", FailureKind::TypeError);
}

/// CCOS-RTFS-1: there are no macros, and each way to write one says what to write instead.
#[test]
fn macros_are_refused_with_what_to_write_instead() {
    for (source, hint) in [
        ("(defmacro unless [c b] (if c nil b))", "(fn [] …)"),
        (
            "(defmacro unless [c b] `(if ~c nil ~b))",
            "a function with `defn`",
        ),
        ("`(1 ~a 3)", "data as `[…]` or `{…}`"),
        ("(f ~@items)", "data as `[…]` or `{…}`"),
        ("(quasiquote (a (unquote b)))", "a function with `defn`"),
        ("(unquote-splicing b)", "data as `[…]` or `{…}`"),
        ("(macroexpand-1 (m))", "a function with `defn`"),
        ("(gensym)", "a function with `defn`"),
    ] {
        assert!(said(source).contains(hint), "{source}: {}", said(source));
    }
    // The hint works: a function in place of a macro evaluates only the part that is needed.
    check(
        "(defn unless [c body] (if c nil (body))) [(unless true (fn [] (/ 1 0))) (unless false (fn [] 2))]",
        "[nil 2]",
    );
}
