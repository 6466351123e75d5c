//! Programs that mean harm: to the stack, the memory, the clock, or their readers.

use callosum_plan::{CompileOptions, Failure, FailureKind, Limits, Rule, Value, compile};

use crate::running::{check, fail, run_within};

/// Bounds that a test with little time can reach.
fn small() -> Limits {
    Limits {
        fuel: 3_000_000,
        memory: 64 << 20,
        ..Limits::default()
    }
}

fn ends(source: &str) -> Result<Value, Failure> {
    run_within(source, small(), &mut |waiting| {
        panic!("{source} calls {waiting:?}")
    })
}

fn exhausts(source: &str) {
    match ends(source) {
        Ok(value) => panic!("{source} comes to {}", value.noun()),
        Err(failure) => assert_eq!(
            failure.kind,
            FailureKind::BudgetExhausted,
            "{source}: {failure}"
        ),
    }
}

/// CCOS-RTFS-1: no program runs without end, and none catches that it was stopped.
#[test]
fn no_program_runs_without_end() {
    for source in [
        "(defn f [] (f)) (f)",
        "(defn f [] (+ 1 (f))) (f)",
        "(defn f [n] (g (+ n 1))) (defn g [n] (f n)) (f 0)",
        "(defn f [] (try (f) (catch e (f)) (finally (f)))) (f)",
        "(defn f [] (step :s {:retries {:max 9}} (f))) (f)",
        "(defn f [] (step-parallel (f) (f))) (f)",
        "(step-loop true (step-loop true 1))",
        "(dotimes [i 9000000000] i)",
        "(for [a (range 1000) b (range 1000) c (range 1000)] [a b c])",
        "(range 9000000000000)",
        "(range -9223372036854775808 9223372036854775807)",
        "(reduce (fn [s x] (str s s)) \"ab\" (range 100))",
        "(reduce (fn [v x] (concat v v)) [1] (range 100))",
        "(let [y (fn [f] (f f))] (y y))",
        "(re-find \"(a{100}){100}{100}\" \"a\")",
        "(map (fn [i] (re-find (str \"a{\" i \"}\") \"a\")) (range 1000))",
        "(sort (reduce (fn [v x] (concat v v)) [3 1 2] (range 18)))",
    ] {
        match ends(source) {
            Ok(value) => panic!("{source} comes to {}", value.noun()),
            Err(failure) => assert!(
                matches!(
                    failure.kind,
                    FailureKind::BudgetExhausted | FailureKind::InvalidArgument
                ),
                "{source}: {failure}"
            ),
        }
    }
    exhausts("(try (try (inc nil) (catch e (step-loop true 1))) (catch e 1))");
}

/// CCOS-RTFS-1: recursion takes the machine's memory and never the host's stack; in tail position
/// it takes none.
#[test]
fn recursion_never_takes_the_hosts_stack() {
    check(
        "(defn f [n] (if (= n 0) 0 (+ 1 (f (- n 1))))) (f 50000)",
        "50000",
    );
    let source = "(defn f [n] (if (= n 0) :done (f (- n 1)))) (f 300000)";
    let limits = Limits {
        memory: 1 << 20,
        ..Limits::default()
    };
    let value = run_within(source, limits, &mut |_| Vec::new()).unwrap();
    assert_eq!(value.to_string(), ":done");
    // A chain of closures, each holding the one before, is dropped likewise.
    check(
        "(let [f (reduce (fn [f x] (fn [] (f))) (fn [] 1) (range 20000))] (f))",
        "1",
    );
    check("(count (reduce (fn [a x] [a]) [] (range 50000)))", "1");
    check(
        "(= (reduce (fn [a x] [a]) [] (range 20000)) (reduce (fn [a x] [a]) [] (range 20000)))",
        "true",
    );
}

/// CCOS-RTFS-1: what is small because its parts are shared is never written out without bound.
#[test]
fn sharing_without_end_is_not_written_out() {
    let shared = "(reduce (fn [a x] [a a]) [] (range 64))";
    for source in [
        shared.to_owned(),
        format!("(str {shared})"),
        format!("(= {shared} {shared})"),
        format!("(serialize-json {shared})"),
        format!("(distinct [{shared}])"),
        format!("(call :a {shared})"),
        format!("(let [x : [:vector [:vector [:vector Any]]] {shared}] x)"),
    ] {
        exhausts(&source);
    }
    check(&format!("(count {shared})"), "2");
    check(&format!("(let [a {shared}] (= a a))"), "true");
}

/// CCOS-RTFS-1: sources that are too deep or too large are refused with a reason.
#[test]
fn sources_beyond_bounds_are_refused() {
    let deep = |open: &str, close: &str, depth: usize| {
        format!("{}1{}", open.repeat(depth), close.repeat(depth))
    };
    for (open, close) in [
        ("(do ", ")"),
        ("[", "]"),
        ("{:a ", "}"),
        ("(fn [x] ", ")"),
        ("(let [a ", "] a)"),
        ("(try ", ")"),
    ] {
        let fine = deep(open, close, 60);
        assert!(compile(&fine, &CompileOptions::default()).is_ok(), "{open}");
        fail(&deep(open, close, 10_000), FailureKind::ParseError);
    }
    fail(
        &format!("[{}]", "1 ".repeat(300_000)),
        FailureKind::BudgetExhausted,
    );
    fail(&"9".repeat(100_000), FailureKind::ParseError);
    fail(
        &format!("\"{}\"", "a".repeat(2 << 20)),
        FailureKind::ParseError,
    );
    let wide = format!("(let [{}] 1)", "x 1 ".repeat(20_000));
    assert!(compile(&wide, &CompileOptions::default()).is_ok());
}

/// CCOS-RTFS-1: a source never shows a person other than what it is.
#[test]
fn characters_that_hide_source_are_refused() {
    for source in [
        "\"a\u{202e}b\"",
        "1 ; \u{2066}x",
        "\"\u{200b}\"",
        "\"\u{0}\"",
        "1 ; a comment\r2",
        "\"\u{2028}\"",
        "\"\u{61c}\"",
        "1 ; \u{e0041}",
    ] {
        let findings = compile(source, &CompileOptions::default()).err().unwrap();
        assert_eq!(findings[0].rule, Rule::HiddenCharacters, "{source:?}");
    }
    check("1 ; a comment\r\n2", "2");
    // A letter of another script in a name reads as one of ours.
    fail("(call :stor\u{430}ge.read)", FailureKind::ParseError);
}

/// CCOS-RTFS-1: what would take long in the compiler or in one function takes little, or is counted.
#[test]
fn nothing_takes_long_that_is_not_counted() {
    let numbered = |before: &str, after: &str| {
        let names: Vec<String> = (0..20_000)
            .map(|number| format!("{before}{number}{after}"))
            .collect();
        names.concat()
    };
    let names = numbered("x", " 1 ");
    let uses = "x0 ".repeat(20_000);
    let source = format!("(let [{names}] (count [{uses}]))");
    assert_eq!(ends(&source).unwrap().to_string(), "20000");
    let inner = format!("(let [{names}] (count ((fn [] [{uses}]))))");
    assert_eq!(ends(&inner).unwrap().to_string(), "20000");
    let strangers = numbered("(y", ") ");
    let source = format!("(let [{names}] {strangers})");
    let findings = compile(&source, &CompileOptions::default()).err().unwrap();
    assert_eq!(findings.len(), 100);
    let text = "(reduce (fn [s x] (str s s)) \"ab\" (range 20))";
    for source in [
        format!("(let [a {text} b {text}] (dotimes [i 100000] (= a b)))"),
        format!("(let [a {text}] (dotimes [i 100000] (string-contains a \"ac\")))"),
        format!("(let [a {text}] (re-seq \".*?[^ab]|[ab]\" a))"),
        format!("(let [a {text} m (hash-map a 1)] (dotimes [i 100000] (get m a)))"),
    ] {
        exhausts(&source);
    }
    assert_eq!(
        ends("(let [v (range 50000)] (dotimes [i 20000] (first v)))").unwrap(),
        Value::Nil
    );
}

/// Programs, machines and values move between threads.
#[test]
fn programs_machines_and_values_may_cross_threads() {
    fn crosses<T: Send>() {}
    fn is_shared<T: Send + Sync>() {}
    crosses::<callosum_plan::Machine>();
    is_shared::<callosum_plan::Program>();
    is_shared::<Value>();
}

/// CCOS-RTFS-1: a call names its capability in place; no value becomes the name of a capability.
#[test]
fn a_capability_built_at_run_time_is_refused() {
    for (source, kind) in [
        (
            "(call (keyword \"shell.run\"))",
            FailureKind::SecurityViolation,
        ),
        (
            "(call (str \"shell\" \".run\"))",
            FailureKind::SecurityViolation,
        ),
        (
            "(let [c :shell.run] (call c))",
            FailureKind::SecurityViolation,
        ),
        (
            "(call (if true :shell.run :a))",
            FailureKind::SecurityViolation,
        ),
        ("(call [:shell.run])", FailureKind::SecurityViolation),
        (
            "(for [c [:shell.run]] (call c))",
            FailureKind::SecurityViolation,
        ),
        ("(apply call [:shell.run])", FailureKind::ParseError),
        ("(map call [:shell.run])", FailureKind::ParseError),
        ("(let [go call] (go :shell.run))", FailureKind::ParseError),
        (
            "(let [call (fn [x] x)] (call :shell.run))",
            FailureKind::ParseError,
        ),
        ("(defn call [x] x)", FailureKind::ParseError),
        ("(\"shell.run\" 1)", FailureKind::TypeError),
        (
            "((keyword \"chain.query\") :a 1 :b 2)",
            FailureKind::ArityMismatch,
        ),
        ("(eval \"(call :shell.run)\")", FailureKind::UnsupportedForm),
    ] {
        fail(source, kind);
    }
    // A keyword that was computed looks into a map, also where a query has its name.
    check("((keyword \"chain.query\") {:a 1})", "nil");
    check("(let [query :chain.query] (query {:chain.query 2} 1))", "2");
}

/// CCOS-RTFS-1: a capability without a provider is refused with the name that was probably meant,
/// unless a `try` handles its absence.
#[test]
fn a_call_without_a_provider_is_refused_unless_it_is_caught() {
    let names = ["ledger.query", "agent.claude", "fs.read"];
    let provided = names.map(|name| callosum_plan::CapabilityName::parse(name).unwrap());
    let options = CompileOptions {
        provided: Some(provided.into()),
        ..CompileOptions::default()
    };
    let found = |source: &str| -> Vec<(Rule, Option<String>)> {
        let findings = compile(source, &options).err().unwrap_or_default();
        let found = findings.into_iter();
        found.map(|finding| (finding.rule, finding.hint)).collect()
    };
    let unknown = |hint: Option<&str>| vec![(Rule::UnknownCapability, hint.map(str::to_owned))];
    for (source, expected) in [
        ("(call :ledger/query {})", Vec::new()),
        (
            "(call :ledger.qurey {})",
            unknown(Some("did you mean `:ledger.query`?")),
        ),
        (
            "(call \"fs:raed\" 1)",
            unknown(Some("did you mean `:fs.read`?")),
        ),
        ("(call :agent.codex {})", unknown(None)),
        ("(:graph.query :a 1)", unknown(None)),
        (
            "(try (call :agent.codex 1) (catch e (call :fs.read 1)))",
            Vec::new(),
        ),
        (
            "(try (call :fs.read 1) (catch e (call :agent.codex 1)))",
            unknown(None),
        ),
        ("(try (call :agent.codex 1) (finally 2))", unknown(None)),
        (
            "(try (call :agent.codex 1) (catch :Timeout e 2) (catch TypeError 3))",
            unknown(None),
        ),
        (
            "(try (call :agent.codex 1) (catch :Timeout e 2) (catch :UnknownCapability e 3))",
            Vec::new(),
        ),
        (
            "(try (call :agent.codex 1) (catch {:kind k} k))",
            Vec::new(),
        ),
        (
            "(do (try 1 (catch e 2)) (call :agent.codex 1))",
            unknown(None),
        ),
    ] {
        assert_eq!(found(source), expected, "{source}");
    }
}

/// CCOS-RTFS-1: no spelling of a capability evades a list of what is allowed.
#[test]
fn no_spelling_of_a_capability_evades_the_list() {
    let options = CompileOptions {
        allowed: Some(callosum_plan::Allowlist::parse(&[":nlp/*"]).unwrap()),
        ..CompileOptions::default()
    };
    let rules = |name: &str| -> Vec<Rule> {
        let findings = compile(&format!("(call {name} 1)"), &options).err();
        let findings = findings.unwrap_or_default();
        findings.iter().map(|finding| finding.rule).collect()
    };
    let none: [Rule; 0] = [];
    for allowed in [":nlp.a", ":nlp/a", ":nlp:a", "\"nlp.a\"", "\":nlp/a.b\""] {
        assert_eq!(rules(allowed), none, "{allowed}");
    }
    for other in [
        ":shell.run",
        ":shell/run",
        "\"shell:run\"",
        ":nlp",
        ":NLP.a",
        ":nlpx.a",
        ":x.nlp.a",
        "\"a.nlp\"",
    ] {
        assert_eq!(rules(other), [Rule::CapabilityNotAllowed], "{other}");
    }
    for none_at_all in [
        "\"\"",
        "\":\"",
        "\"nlp\"\"",
        "\"nlp..a\"",
        ":nlp//a",
        ":nlp/*",
        "\"*\"",
        "\"nlp\\\\a\"",
        "\"nlp\\na\"",
        "\"nlp a\"",
        "\"../nlp.a\"",
        "\"nlp\u{2024}a\"",
        "\"nlp\u{2215}a\"",
        "\"nlp\u{ff0e}a\"",
        "\"nl\u{440}.a\"",
    ] {
        let found = rules(none_at_all);
        let refused = [Rule::MalformedCapability, Rule::Syntax];
        assert!(
            found.iter().any(|rule| refused.contains(rule)),
            "{none_at_all}: {found:?}"
        );
    }
}

/// CCOS-RTFS-1: a literal is as large as a source may be, and no larger.
#[test]
fn huge_literals_are_read_or_refused_as_a_whole() {
    let text = "a".repeat(1_000_000);
    check(&format!("(string-length \"{text}\")"), "1000000");
    check(&format!("(count [{}])", "1 ".repeat(100_000)), "100000");
    let entries: Vec<String> = (0..50_000).map(|number| format!("{number} 1")).collect();
    check(&format!("(count {{{}}})", entries.join(" ")), "50000");
    fail(&format!("1.{}", "0".repeat(1_000)), FailureKind::ParseError);
    fail(&format!(":{}", "k".repeat(1_000)), FailureKind::ParseError);
}
