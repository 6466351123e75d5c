//! Programs that were written for other implementations of RTFS, and run here as they are.
//!
//! Conversions, names of types, types in one word with a name, functions that are defined again, and what replaces a
//! macro. The other forms are in `language`.

use callosum_plan::{CompileOptions, FailureKind, Rule, YieldBound, compile};

use crate::running::{answered, check, fail, hint_of, run};

/// Returns the message and the hint of the failure that a source without calls ends with.
fn failure(source: &str) -> (String, String) {
    let failure = run(source, |waiting| panic!("{source} calls {waiting:?}")).unwrap_err();
    (failure.message, failure.hint.unwrap_or_default())
}

fn rules(source: &str) -> Vec<Rule> {
    let findings = compile(source, &CompileOptions::default()).err();
    let findings = findings.unwrap_or_default();
    findings.iter().map(|finding| finding.rule).collect()
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

/// CCOS-RTFS-1: `type-name` returns lowercase names, each the name of a type.
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
        check(
            &format!("(let [x:{name} {value}] (type-name x))"),
            &format!("{name:?}"),
        );
        let strangers = values.iter().filter(|(_, other)| *other != name);
        for (stranger, _) in strangers {
            let source = format!("(let [x:{name} {stranger}] x)");
            fail(&source, FailureKind::TypeValidationError);
        }
    }
}

/// CCOS-RTFS-1: a type may be in one word with the name that is bound.
#[test]
fn a_type_may_be_in_one_word_with_a_name() {
    for (source, value) in [
        ("(let [x:int 42] x)", "42"),
        (
            "(let [x:Int 42 y:string \"a\" z : Float 1.5] [x y z])",
            "[42 \"a\" 1.5]",
        ),
        ("(let [x:int? nil] x)", "nil"),
        ("(let [a:b:int 1] a:b)", "1"),
        ("(let [f:function (fn [x] x)] (f 1))", "1"),
        (
            "((fn [x:int y:string] : String (str x y)) 1 \"a\")",
            "\"1a\"",
        ),
        ("(defn half [n:number] : Float (/ n 2.0)) (half 3)", "1.5"),
        ("(def limit:int 3) (+ limit 1)", "4"),
        ("(let [] (def limit:int 3) (+ limit 1))", "4"),
        // A word that no simple type ends is one name, as before.
        ("(let [ns:v1 1 x:foo 2] [ns:v1 x:foo])", "[1 2]"),
        ("(let [x :int y 5] [x y])", "[:int 5]"),
    ] {
        check(source, value);
    }
    for source in [
        "(let [x:int \"42\"] x)",
        "(let [x:float 1] x)",
        "((fn [x:int] x) :a)",
        "(def x:string 1)",
        "(let [x:never nil] x)",
    ] {
        fail(source, FailureKind::TypeValidationError);
    }
    for source in [
        "(let [x:int : String 1] x)",
        "(fn [x:int :string] x)",
        "(fn [x:int x] x)",
        "(let [if:int 1] 1)",
        "(def x:int 1) (def x 2)",
        "(let [x:symbol :a] x)",
    ] {
        fail(source, FailureKind::ParseError);
    }
    assert!(hint_of("(let [x:symbol :a] x)").contains("use Keyword or String"));
    fail("(let [x:int 1] x:int)", FailureKind::UndefinedSymbol);
    assert!(hint_of("(let [x:int 1] x:int)").contains("write `x`"));
    let plan = compile(
        "(defplan p (files:vector depth:int) [files depth])",
        &CompileOptions::default(),
    );
    let plan = plan.unwrap();
    let parameters = plan.parameters().iter();
    let parameters: Vec<_> = parameters
        .map(|parameter| (parameter.name(), parameter.schema().unwrap().as_str()))
        .collect();
    assert_eq!(parameters, [("files", "vector"), ("depth", "int")]);
}

/// CCOS-RTFS-1: the type of a rest parameter is that of each value, not of the vector.
#[test]
fn the_type_of_a_rest_parameter_is_that_of_each_value() {
    for (source, value) in [
        ("((fn [& xs : Int] xs) 1 2 3)", "[1 2 3]"),
        ("((fn [& xs : Int] xs))", "[]"),
        ("((fn [a:string & xs:int] [a xs]) \"a\" 1)", "[\"a\" [1]]"),
        (
            "(defn total [& xs :Number] (reduce + 0 xs)) (total 1 2.5)",
            "3.5",
        ),
        (
            "((fn [& rows : [:vector Int]] rows) [1 2] [3])",
            "[[1 2] [3]]",
        ),
        ("((fn [& [a b] : Int] [b a]) 1 2)", "[2 1]"),
        ("(apply (fn [& xs:int?] xs) [1 nil])", "[1 nil]"),
    ] {
        check(source, value);
    }
    for source in [
        "((fn [& xs : Int] xs) 1 \"2\")",
        "((fn [& xs : [:vector Int]] xs) 1 2)",
        "((fn [& xs : Never] xs) 1)",
        "(apply (fn [a & xs:string] xs) [1 \"a\" :b])",
    ] {
        fail(source, FailureKind::TypeValidationError);
    }
    let (message, _) = failure("((fn [& xs : Int] xs) 1 \"2\")");
    assert!(message.contains("the value[1] is a string"), "{message}");
    assert!(message.contains("[:vector Int]"), "{message}");
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
        assert!(hint_of(source).contains("(reduce + 0 items)"), "{source}");
    }
    fail("(+ \"a\")", FailureKind::TypeError);
}

/// CCOS-RTFS-1: a second `defn` of a name replaces the first for what follows it, at the top and in a body.
#[test]
fn a_second_defn_replaces_the_first() {
    for (source, value) in [
        ("(do (defn f [] 1) (defn f [] 2) (f))", "2"),
        (
            "(do (defn f [x] (+ x 1)) (defn f [x y] (* x y)) (f 3 4))",
            "12",
        ),
        (
            "(do (defn f [] 1) (def a (f)) (defn f [] 2) [a (f)])",
            "[1 2]",
        ),
        // Functions next to one another are one group: a name means its last function in all of them.
        ("(do (defn f [] 1) (defn g [] (f)) (defn f [] 2) (g))", "2"),
        ("(do (defn g [] (f)) (def a 0) (defn f [] 2) (g))", "2"),
        // What is defined apart keeps the function that it was defined with.
        (
            "(do (defn f [] 1) (def a 0) (defn g [] (f)) (def b 0) (defn f [] 2) [(f) (g)])",
            "[2 1]",
        ),
        (
            "(do (defn f [n] 1) (defn f [n] (if (= n 0) 0 (f (dec n)))) (f 5))",
            "0",
        ),
    ] {
        check(source, value);
        let inner = source.strip_prefix("(do ").unwrap();
        check(inner.strip_suffix(')').unwrap(), value);
        // A body is compiled otherwise than the top, and comes to the same unless a function follows its use.
        if !source.contains("(defn g [] (f)) (def a 0) (defn f") {
            check(&format!("(let [] {inner}"), value);
            check(&format!("((fn [] {inner})"), value);
        }
    }
    for source in [
        "(do (def x 1) (def x 2))",
        "(do (def f 1) (defn f [] 2))",
        "(do (defn f [] 2) (def f 1))",
    ] {
        assert_eq!(rules(source), [Rule::NameTwice], "{source}");
    }
    // Each definition is still checked.
    assert_eq!(
        rules("(do (defn f [] (g)) (defn f [] 2) (f))"),
        [Rule::UndefinedSymbol]
    );
}

/// CCOS-RTFS-1: calls of a function that is replaced later count, and are refused under `pure`.
#[test]
fn a_function_that_is_replaced_hides_no_call() {
    let source = "(do (defn f [] (call :a) (call :b)) (f) (defn f [] 1) (f))";
    let program = compile(source, &CompileOptions::default()).unwrap();
    assert_eq!(program.yields(), YieldBound::AtMost(2));
    let (outcome, calls) = answered(source, |_| Ok("1"));
    assert_eq!(outcome.unwrap(), "1");
    assert_eq!(calls, ["0 :a", "1 :b"]);
    for source in [
        "(do (defn f [] (call :a)) (pure (f)) (defn f [] 1))",
        "(do (defn f [] 1) (f) (defn f [] (call :a)) (pure (f)))",
        "(do (defn f [] (call :a)) (defn g [] (f)) (pure (g)) (defn f [] 1))",
        "(do (defn f [] 1) (defn f [] (call :a)) (pure (f)))",
        "(do (defn g [] (f)) (pure (g)) (defn f [] (call :a)) (f) (defn f [] 1))",
        "(let [] (defn f [] (call :a)) (pure (f)) (defn f [] 1))",
    ] {
        assert_eq!(rules(source), [Rule::EffectInPure], "{source}");
    }
    let source = "(do (defn f [] (call :a)) (def a 1) (defn f [] 1) (pure (f)))";
    let program = compile(source, &CompileOptions::default()).unwrap();
    assert_eq!(program.yields(), YieldBound::AtMost(0));
    let capabilities: Vec<String> = program.capabilities().map(ToString::to_string).collect();
    assert_eq!(capabilities, ["a"]);
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
        assert!(
            hint_of(source).contains(hint),
            "{source}: {}",
            hint_of(source)
        );
    }
    // The hint works: a function in place of a macro evaluates only the part that is needed.
    check(
        "(defn unless [c body] (if c nil (body))) [(unless true (fn [] (/ 1 0))) (unless false (fn [] 2))]",
        "[nil 2]",
    );
}
