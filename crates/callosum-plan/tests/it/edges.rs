//! Programs at the edges of what can be counted, indexed and held: each ended the program, took memory
//! that nothing counted, or took time that nothing counted.

use callosum_plan::{
    CompileOptions, Failure, FailureKind, Form, FormKind, Limits, Rule, Value, YieldBound, compile,
    compile_forms,
};

use crate::running::{check, fail, run_within};

fn within(source: &str, fuel: u64, memory: u64) -> Result<Value, Failure> {
    let limits = Limits {
        fuel,
        memory,
        ..Limits::default()
    };
    run_within(source, limits, &mut |waiting| {
        panic!("{source} calls {waiting:?}")
    })
}

/// Asserts that a bound ends a source that turns often with little work of its own in each turn.
fn is_counted(source: &str) {
    let turns = format!("(dotimes [turn 100000] {source})");
    match within(&turns, 300_000, 1 << 30) {
        Ok(value) => panic!("{source} comes to {value}"),
        Err(failure) => assert_eq!(failure.kind, FailureKind::BudgetExhausted, "{failure}"),
    }
}

fn rules(source: &str) -> Vec<Rule> {
    let findings = compile(source, &CompileOptions::default()).err();
    let findings = findings.unwrap_or_default();
    findings.iter().map(|finding| finding.rule).collect()
}

/// CCOS-RTFS-1: if a form or a type expects something that is missing, the error names it.
#[test]
fn what_is_missing_is_named() {
    for source in [
        "(let [x : [:and Int []] 1] x)",
        "(let [x : [] 1] x)",
        "(let [x : [:map []] {}] x)",
        "(let [x : [:and] 1] x)",
        "(let [x : [:enum] 1] x)",
        "(fn [& : Int] 1)",
        "(fn [& :Int xs] 1)",
        "(let [[a & r & s] [1 2]] a)",
        "(let [[a :as b :as c] [1 2]] a)",
        "(let [{:as a :as b} {}] a)",
        "(match {} {& a & b} 1)",
    ] {
        fail(source, FailureKind::ParseError);
    }
}

/// CCOS-RTFS-1: integers at the ends of what 64 bits hold.
#[test]
fn integers_at_their_ends_are_exact_or_fail() {
    let (least, most) = ("-9223372036854775808", "9223372036854775807");
    check(
        "(range -9000000000000000000 9000000000000000000 4000000000000000000)",
        "[-9000000000000000000 -5000000000000000000 -1000000000000000000 3000000000000000000 7000000000000000000]",
    );
    check(
        &format!("(range {least} {most} {most})"),
        &format!("[{least} -1 9223372036854775806]"),
    );
    check(
        &format!("(range {most} {least} {least})"),
        &format!("[{most} -1]"),
    );
    check(&format!("(mod {least} -1)"), "0");
    check(&format!("(rem {least} -1)"), "0");
    check(&format!("(get [1] {least})"), "nil");
    check(&format!("(nth [1] {least} :none)"), ":none");
    check(&format!("(take {most} [1])"), "[1]");
    check(&format!("(drop {most} [1])"), "[]");
    check(&format!("(partition {most} [1])"), "[]");
    check(&format!("(pow 1 {most})"), "1");
    check("(pow -2 63)", least);
    for source in [
        "(abs L)",
        "(- L)",
        "(/ L -1)",
        "(quot L -1)",
        "(dec L)",
        "(* L -1)",
    ] {
        fail(&source.replace('L', least), FailureKind::IntegerOverflow);
    }
    for source in [
        "(inc M)",
        "(pow 2 63)",
        "(pow M 2)",
        "(int 9.3e18)",
        "(factorial M)",
    ] {
        fail(&source.replace('M', most), FailureKind::IntegerOverflow);
    }
    for source in [
        "(subvec [1 2] 2 1)",
        "(subvec [1] 0 M)",
        "(substring \"a\" 1 0)",
        "(substring \"a\" M)",
        "(take L [1])",
    ] {
        let source = source.replace('M', most).replace('L', least);
        fail(&source, FailureKind::InvalidArgument);
    }
    let bound = |value: &str| format!("(let [x : [:and Int [:> 9007199254740992]] {value}] x)");
    check(&bound("9007199254740993"), "9007199254740993");
    fail(&bound("9007199254740992"), FailureKind::TypeValidationError);
}

/// CCOS-RTFS-1: weights of what shares without end don't overflow.
#[test]
fn what_weighs_without_end_is_counted_and_not_added_up() {
    let shared = "(reduce (fn [a x] [a a]) [] (range 64))";
    for function in [
        "sort",
        "distinct",
        "str",
        "frequencies",
        "summarize",
        "count",
    ] {
        let source = format!("({function} (cons {shared} (range 140000)))");
        let result = within(&source, 3_000_000, 64 << 20);
        if let Err(failure) = result {
            assert!(
                matches!(
                    failure.kind,
                    FailureKind::BudgetExhausted | FailureKind::TypeError
                ),
                "{source}: {failure}"
            );
        }
    }
}

/// CCOS-RTFS-1: what a function makes is paid for before it is made.
#[test]
fn memory_is_asked_for_before_it_is_taken() {
    let deep = "(reduce (fn [a x] [a]) [] (range 50000))";
    for source in [
        format!("(serialize-json-pretty {deep})"),
        "(split (reduce (fn [s x] (str s s)) \"ab\" (range 20)) \"\")".to_owned(),
    ] {
        let failure = within(&source, 50_000_000, 32 << 20).unwrap_err();
        assert_eq!(
            failure.kind,
            FailureKind::BudgetExhausted,
            "{source}: {failure}"
        );
    }
    check(
        "(serialize-json-pretty [[1]])",
        "\"[\\n  [\\n    1\\n  ]\\n]\"",
    );
    check(
        "(let [s (reduce (fn [s x] (str s s)) \" a\" (range 16))] \
         (< (count (try (keyword s) (catch e (:message e)))) 100))",
        "true",
    );
    check("(split \"aéb\" \"\")", "[\"a\" \"é\" \"b\"]");
    check("(split \"\" \"\")", "[]");
    check("(split \"a,,b\" \",\")", "[\"a\" \"\" \"b\"]");
}

/// CCOS-RTFS-1: a turn of a loop that makes the evaluator look at much is paid for.
#[test]
fn work_that_one_expression_hides_is_counted() {
    let many = |count: usize, piece: &str| -> String {
        (0..count)
            .map(|number| piece.replace('#', &number.to_string()))
            .collect()
    };
    let names = many(5_000, "x# 1 ");
    let text = "k".repeat(50_000);
    for source in [
        format!("((fn [] (if false (let [{names}] 1) 0)))"),
        format!("(step-parallel (if false (let [{names}] 1) 0))"),
        format!("(let [{}] 1)", many(5_000, "f# (fn [] 1) ")),
        format!(
            "(try (inc nil) {} (catch e 1))",
            "(catch :Timeout e 1)".repeat(5_000)
        ),
        format!("(let [x : [:map {}] {{}}] 1)", many(5_000, "[:k# Int ?]")),
        format!(
            "(try (let [x : [:enum {}] 1] x) (catch e 1))",
            many(5_000, ":k# ")
        ),
        format!("(let [{{\"{text}\" x}} {{\"{text}\" 1}}] x)"),
        format!("(let [x : [:map [\"{text}\" Int]] {{\"{text}\" 1}}] x)"),
        format!("(get-in {{\"{text}\" 1}} [\"{text}\"])"),
        format!("(frequencies [\"{text}\" \"{text}\"])"),
        format!("(summarize [\"{text}\" \"{text}\"])"),
        format!("(merge {{\"{text}\" 1}} {{\"{text}\" turn}})"),
        format!("(group-by (fn [x] x) [\"{text}\" \"{text}\"])"),
        format!(
            "(re-find \"[ab]*a[ab]{{400}}c\" \"{}\")",
            "ab".repeat(10_000)
        ),
        format!("(let [x : [:and String [:matches-regex \"[ab]*a[ab]{{400}}c|k\"]] \"{text}\"] x)"),
    ] {
        is_counted(&source);
    }
}

/// CCOS-RTFS-1: what the compiler nests, copies or compares without being asked has bounds of its own.
#[test]
fn the_compiler_has_bounds_of_its_own() {
    let none: [Rule; 0] = [];
    let pairs = |count: usize| format!("(for [{}] 1)", "x [1] ".repeat(count));
    assert_eq!(rules(&pairs(16)), none);
    assert_eq!(rules(&pairs(20_000)), [Rule::MalformedForm]);
    assert_eq!(
        rules(&format!("(let [{} 1] 1)", "x".repeat(300))),
        [Rule::Syntax]
    );
    assert_eq!(rules(&format!(":{}", "x".repeat(256))), [Rule::Syntax]);
    let patterns = |count: usize| {
        let one = "x : [:and String [:matches-regex \"\\\\w{9}\"]] \"\" ";
        format!("(let [{}] 1)", one.repeat(count))
    };
    assert_eq!(rules(&patterns(20)), none);
    let found = rules(&patterns(10_000));
    assert!(
        !found.is_empty() && found.iter().all(|&rule| rule == Rule::TooLarge),
        "{found:?}"
    );
    let inner = "[:matches-regex \"a\"]".repeat(51);
    assert_eq!(
        rules(&format!("(let [x : [:and String {inner}] \"\"] 1)")),
        [Rule::TooLarge]
    );
    let malformed = "x : Foo 1 ".repeat(10_000);
    assert_eq!(rules(&format!("(let [{malformed}] 1)")).len(), 100);
    // Each level once had a copy of all that is below it.
    let wide = "1 ".repeat(100_000);
    for (open, close) in [("(step-parallel ", ")"), ("(:chain.query :a ", ")")] {
        let source = format!("{}[{wide}]{}", open.repeat(120), close.repeat(120));
        assert_eq!(rules(&source), none);
    }
    let built = (0..5_000).fold(Form::built(FormKind::Nil), |inner, _| {
        Form::list(vec![inner])
    });
    let findings = compile_forms(&[built], &CompileOptions::default())
        .err()
        .unwrap();
    assert_eq!(findings[0].rule, Rule::TooLarge);
}

/// CCOS-RTFS-1: every form may stand in itself as deep as brackets nest.
#[test]
fn every_form_nests_as_deep_as_the_reader_lets_it() {
    for (open, close) in [
        ("(let [a 1] ", ")"),
        ("(let [a ", "] a)"),
        ("(if 1 ", ")"),
        ("(do 1 ", ")"),
        ("(do (defn f [] 1) ", ")"),
        ("((fn [] ", "))"),
        ("(let [f (fn [] ", ")] (f))"),
        ("(and 1 ", ")"),
        ("(match 1 1 ", ")"),
        ("(try ", " (catch e 1))"),
        ("(try 1 (finally ", "))"),
        ("(try 1 (catch e ", "))"),
        ("(for [x [1]] ", ")"),
        ("(dotimes [i 1] ", ")"),
        ("(call :a ", ")"),
        ("(pure ", ")"),
        ("(step :s ", ")"),
        ("(step-loop false ", ")"),
        ("(step-parallel ", ")"),
        ("(:chain.query :a ", ")"),
        ("{:a ", "}"),
        ("(map inc ", ")"),
    ] {
        let per_level =
            open.matches(['(', '[', '{']).count() - open.matches([')', ']', '}']).count();
        for depth in [(callosum_plan::MAX_DEPTH - 1) / per_level, 200] {
            let source = format!("{}[]{}", open.repeat(depth), close.repeat(depth));
            let found = rules(&source);
            assert!(
                found.iter().all(|&rule| rule == Rule::Syntax) || open.starts_with("(pure"),
                "{open}: {found:?}"
            );
        }
    }
}

/// CCOS-RTFS-1: another name of a function that makes calls is counted, and is not pure.
#[test]
fn another_name_of_a_function_hides_no_call() {
    let source = "(defn f [] (call :a)) (def g f) [(g) (g)]";
    let program = compile(source, &CompileOptions::default()).unwrap();
    assert_eq!(program.yields(), YieldBound::Unbounded);
    for hidden in [
        "(defn f [] (call :a)) (def g f) (pure (g))",
        "(defn f [] (call :a)) (let [g f] (pure (g)))",
        "(defn f [] (call :a)) (let [m {:g f}] (pure ((:g m))))",
        "(let [f (fn [] (call :a))] (pure (map (fn [_] (f)) [1])))",
        "(defn use [h] (pure (h))) (use (fn [] (call :a)))",
    ] {
        fail(hidden, FailureKind::SecurityViolation);
    }
}

#[test]
fn values_that_differ_are_distinct() {
    check("(count (distinct [inc dec inc]))", "2");
    check("(count (distinct [##NaN ##NaN]))", "2");
    check(
        "(distinct [1 1.0 [1] [1] \"1\" :a \"a\" 1])",
        "[1 1.0 [1] \"1\" :a \"a\"]",
    );
    fail("(serialize-json [1 {:a [##Inf]}])", FailureKind::TypeError);
}

/// CCOS-RTFS-1: a collection that only the running function holds is gone on with, not copied: what it
/// grows by is all that is asked for.
#[test]
fn collections_that_are_not_shared_grow_without_copies() {
    for (source, value) in [
        (
            "(count (reduce (fn [all x] (conj all x)) [] (range 30000)))",
            "30000",
        ),
        (
            "(count (reduce (fn [all x] (assoc all x x)) {} (range 30000)))",
            "30000",
        ),
        ("(count (reduce conj [] (range 30000)))", "30000"),
        (
            "(count (reduce (fn [all x] (if (even? x) (conj all x) all)) [] (range 30000)))",
            "15000",
        ),
        (
            "(count (reduce (fn [all x] (merge all (hash-map x x))) {} (range 30000)))",
            "30000",
        ),
        (
            "(count (reduce (fn [all x] (concat all [x x])) [] (range 15000)))",
            "30000",
        ),
        (
            "(map count (vals (reduce (fn [all x] (update all (mod x 2) (fn [old] (conj (or old []) x)))) {} (range 30000))))",
            "[15000 15000]",
        ),
        (
            "(count (reduce (fn [all x] (dissoc all x)) (reduce (fn [m x] (assoc m x 1)) {} (range 9000)) (range 8999)))",
            "1",
        ),
    ] {
        let found = within(source, 3_000_000, 24 << 20);
        assert_eq!(
            found.map(|found| found.to_string()),
            Ok(value.to_owned()),
            "{source}"
        );
    }
    // Shared values stay as they were.
    check(
        "(let [a [1 2] b (conj a 3) c (assoc a 0 9)] [a b c])",
        "[[1 2] [1 2 3] [9 2]]",
    );
    check(
        "(let [a {:k 1} f (fn [m] (update m :k inc))] [(f a) a (f a)])",
        "[{:k 2} {:k 1} {:k 2}]",
    );
    check(
        "(let [a {:k [1]} f (fn [m] (update m :k conj 2))] [(f a) a])",
        "[{:k [1 2]} {:k [1]}]",
    );
    check(
        "(let [a {:k 1}] [(try (update a :k (fn [x] (inc :no))) (catch e a)) a])",
        "[{:k 1} {:k 1}]",
    );
}

/// CCOS-RTFS-2: who else holds an argument or an answer decides nothing about what a run may do.
#[test]
fn what_the_host_holds_decides_nothing() {
    let source = "(reduce (fn [all x] (conj all x)) (call :a (range 2000)) (range 2000))";
    let left = |keep: bool| {
        let mut kept = Vec::new();
        let limits = Limits {
            memory: 300_000,
            ..Limits::default()
        };
        let result = run_within(source, limits, &mut |waiting| {
            let answer = waiting[0].arguments[0].clone();
            if keep {
                kept.extend(waiting.iter().cloned());
                kept.extend(waiting.iter().cloned());
            }
            vec![(waiting[0].position.clone(), Ok(answer))]
        });
        result
            .map(|value| value.weight())
            .map_err(|failure| failure.kind)
    };
    assert_eq!(left(true), left(false));
    assert!(left(true).is_ok());
}

/// CCOS-RTFS-1: a copy that an operation makes before it fails is paid for.
#[test]
fn copies_for_what_fails_are_counted() {
    let map = "(let [m (reduce (fn [m x] (assoc m x x)) {} (range 3000)) v (range 30000)]";
    for operation in [
        "(try (assoc m [1] 2) (catch e 1))",
        "(try (conj m 1) (catch e 1))",
        "(try (assoc v 99999 2) (catch e 1))",
        "(try (update m 1 (fn [x] (inc :no))) (catch e 1))",
        "(try (concat v 1) (catch e 1))",
        "(try (merge m 1) (catch e 1))",
    ] {
        let source = format!("{map} (dotimes [i 100000] {operation}))");
        let failure = within(&source, 1_500_000, 1 << 33).unwrap_err();
        assert_eq!(
            failure.kind,
            FailureKind::BudgetExhausted,
            "{operation}: {failure}"
        );
    }
    // Nor does each of many loops over one vector have a copy of it.
    let nested =
        "(defn f [n v] (if (= n 0) 0 (map (fn [x] (f (- n 1) v)) v))) (first (f 3 (range 10)))";
    assert!(within(nested, 1_000_000, 1 << 20).is_ok());
}
