//! The samples of the seed as it writes them, and what the compiler counts.

use std::{collections::BTreeMap, sync::Arc};

use callosum_plan::{
    CompileOptions, Failure, FailureKind, Finding, Limits, Machine, Outcome, PlanRule, Program,
    Rule, Unbounded, Value, YieldBound, compile,
};

use crate::running::{answered, fail};

fn program(source: &str) -> Program {
    compile(source, &CompileOptions::default())
        .unwrap_or_else(|findings| panic!("{source}: {findings:?}"))
}

/// CCOS-RTFS-1: the calls of the seed's samples, as they stand there.
#[test]
fn the_seeds_samples_run_as_written() {
    let any = |_: &str| Ok("[]");
    for (source, calls) in [
        (
            "(call :chain.query {:intent :123})",
            vec!["0 :chain.query {:intent :123}"],
        ),
        (
            "(call :llm.generate-plan
      {:intent :intent-123
       :context (call :horizon.build {:intent :intent-123 :max-tokens 2048})
       :constraints {:caps [:storage/* :nlp/*] :max-yields 5}
       :output-schema :rtfs.plan-source})",
            vec![
                "0 :horizon.build {:intent :intent-123 :max-tokens 2048}",
                "1 :llm.generate-plan {:constraints {:caps [:storage/* :nlp/*] :max-yields 5} :context [] :intent :intent-123 :output-schema :rtfs.plan-source}",
            ],
        ),
        (
            "(:capability.query
  :kind :agent
  :skills [\"image-processing\" \"analysis\"]
  :trust-tier 3)",
            vec![
                "0 :capability.query {:kind :agent :skills [\"image-processing\" \"analysis\"] :trust-tier 3}",
            ],
        ),
        (
            "(:capability.query
  :kind :agent
  :skills [\"sentiment-analysis\", \"multilingual\"]
  :trust-tier 3)",
            vec![
                "0 :capability.query {:kind :agent :skills [\"sentiment-analysis\" \"multilingual\"] :trust-tier 3}",
            ],
        ),
        (
            "(defplan <auto> () (step :s1 (pure (+ 1 2))) (step :s2 (call :nlp.sentiment [1])))",
            vec!["0 :nlp.sentiment [1]"],
        ),
        ("(call :external-advice)", vec!["0 :external-advice"]),
    ] {
        let (outcome, seen) = answered(source, any);
        assert_eq!(outcome.unwrap(), "[]", "{source}");
        assert_eq!(seen, calls, "{source}");
    }
}

/// CCOS-RTFS-1: what the language's papers write as samples, apart from where `docs/rtfs.md` says that
/// we differ.
#[test]
fn the_papers_samples_come_to_what_they_say() {
    for (source, value) in [
        ("()", "[]"),
        ("(do)", "nil"),
        ("[(and) (or)]", "[true false]"),
        ("[(and 1 2) (or nil 2) (and nil 2)]", "[2 2 nil]"),
        ("(and false (call :x))", "false"),
        ("[(/ 6.0 2) (/ 10 2 2) (/ 7 2)]", "[3 2.5 3.5]"),
        ("[(= 1 1.0) (= {:a 1 :b 2} {:b 2 :a 1})]", "[false true]"),
        ("(- 9007199254740993 1)", "9007199254740992"),
        ("(if nil 1)", "nil"),
        ("(step-if 0 :yes :no)", ":yes"),
        ("((fn (x) (+ x 1)) 2)", "3"),
        ("((λ [x & r] r) 1 2 3)", "[2 3]"),
        ("(let [[a b :as v] [1 2]] [v a b])", "[[1 2] 1 2]"),
        (
            "(let [{a :a :keys [b] :as m} {:a 1}] [a b m])",
            "[1 nil {:a 1}]",
        ),
        ("(let [n 1] (defn f [x] (+ x n)) (f 2))", "3"),
        (
            "(match {:a 1 :b 2} {:a x} :exact {:a x & r} [x r])",
            "[1 {:b 2}]",
        ),
        ("(match 5 n when (> n 3) :more _ :less)", ":more"),
        ("(match [1 2] (:as all [a b]) all)", "[1 2]"),
        ("(try (/ 1 0) (catch :TypeError e 1) (catch e 2))", "2"),
        ("[(:k {:k 1}) (:k {} 2) (:k nil) (:k nil 3)]", "[1 2 nil 3]"),
        (
            "[(get [1] 5) (get [1] 5 :none) (conj [1] 2 3)]",
            "[nil :none [1 2 3]]",
        ),
        ("(step \"named by a string\" 1)", "1"),
        (
            "{:intent :123, :caps [:storage/* :nlp/*]}",
            "{:caps [:storage/* :nlp/*] :intent :123}",
        ),
        ("(for [x [1 2] y [10]] (* x y))", "[10 20]"),
        (
            "(let [f (fn [x : Int] : [:union Int Nil] (if (> x 1) x))] [(f 1) (f 2)])",
            "[nil 2]",
        ),
    ] {
        let (outcome, calls) = answered(source, |call| panic!("{source} calls {call}"));
        assert_eq!(outcome.unwrap(), value, "{source}");
        assert!(calls.is_empty());
    }
    for (source, kind) in [
        ("(let [x 1])", FailureKind::ParseError),
        ("(iffy 1 2)", FailureKind::UndefinedSymbol),
        ("(default 1)", FailureKind::UndefinedSymbol),
        ("(get \"text\" 0)", FailureKind::TypeError),
        ("(map inc {:a 1})", FailureKind::TypeError),
        ("(/ 1 0)", FailureKind::DivisionByZero),
        ("(match 1 2 3)", FailureKind::MatchError),
        ("(let [x :Int \"1\"] x)", FailureKind::TypeValidationError),
        ("(let [[a] [1 2]] a)", FailureKind::MatchError),
    ] {
        fail(source, kind);
    }
}

/// CCOS-RTFS-1: how many calls a program may make is known before it runs, where that can be known.
#[test]
fn calls_are_counted_before_a_program_runs() {
    let most = |source: &str| program(source).yields();
    for (source, count) in [
        ("(+ 1 2)", 0),
        ("[(call :a) (call :b)]", 2),
        ("(if x (call :a) [(call :b) (call :c)])", 2),
        ("(and (call :a) (call :b))", 2),
        ("(match 1 1 (call :a) _ [(call :b) (call :c)])", 2),
        ("(try (call :a) (catch e (call :b)) (finally (call :c)))", 3),
        ("(for [x [1 2 3]] (call :a x))", 3),
        ("(for [x [1 2] y [1 2]] (call :a x))", 4),
        ("(map (fn [x] (call :a x)) [1 2 3])", 3),
        ("(let [f (fn [x] (call :a x))] (map f [1 2]))", 2),
        ("(dotimes [i 4] (call :a i))", 4),
        ("(let [f (fn [] [(call :a) (call :b)])] [(f) (f)])", 4),
        ("(defn f [] (call :a)) (defn g [] [(f) (f)]) (g)", 2),
        ("(step :s {:retries {:max 2}} (call :a))", 3),
        ("(step-parallel (call :a) [(call :b) (call :c)])", 3),
        ("((fn [] (call :a)))", 1),
        (
            "(defn pure-loop [n] (if (= n 0) 0 (pure-loop (- n 1)))) [(pure-loop 3) (call :a)]",
            1,
        ),
        (
            "(defplan p (x) (let [f (fn [n] (+ n 1))] (map f x) (call :a)))",
            1,
        ),
    ] {
        let source = source.replace("(if x", "(if true");
        assert_eq!(most(&source), YieldBound::AtMost(count), "{source}");
    }
    for source in [
        "(map (fn [x] (call :a x)) (range 3))",
        "(defn f [n] (if (= n 0) 0 (do (call :a) (f (- n 1))))) (f 3)",
        "(let [f (fn [] (g)) g (fn [] (do (call :a) (f)))] (g))",
        "(let [f (fn [] (call :a)) use (fn [h] [(h) (h)])] (use f))",
        "(step-loop true (call :a))",
        "(apply (fn [x] (call :a x)) [1])",
        "(let [fs [(fn [] (call :a))]] ((first fs)))",
    ] {
        assert_eq!(most(source), YieldBound::Unbounded, "{source}");
    }
}

fn findings(source: &str, options: &CompileOptions) -> Vec<Finding> {
    compile(source, options).err().unwrap_or_default()
}

/// CCOS-RTFS-1: all faults are reported at once, in the order of the source.
#[test]
fn everything_wrong_is_reported_at_once() {
    let found = findings(
        "(let [c :a] (call c)) (frist [1]) (cond 1 2) (pure (call :b)) (if) {:a 1 :a 2}",
        &CompileOptions::default(),
    );
    let rules: Vec<Rule> = found.iter().map(|finding| finding.rule).collect();
    assert_eq!(
        rules,
        [
            Rule::ComputedCapability,
            Rule::UndefinedSymbol,
            Rule::UnsupportedForm,
            Rule::EffectInPure,
            Rule::MalformedForm,
            Rule::NameTwice
        ]
    );
    assert!(found.iter().all(|finding| finding.hint.is_some()));
}

/// CCOS-RTFS-1: strictness: one plan, allowed capabilities in any spelling, a bound on calls.
#[test]
fn strict_options_refuse_what_is_not_allowed() {
    let strict = |caps: &[&str], most: u64| CompileOptions {
        allowed: Some(callosum_plan::Allowlist::parse(caps).unwrap()),
        max_yields: Some(most),
        unbounded: Unbounded::Refuse,
        plan: PlanRule::Required,
        ..CompileOptions::default()
    };
    let plan = |body: &str| format!("(def limit 3) (defplan p (x) {body})");
    let none: [Rule; 0] = [];
    for (body, rules) in [
        ("(call :nlp.sentiment x)", none.as_slice()),
        ("(call \"nlp/sentiment\" x)", &[]),
        ("(call :nlp:sentiment x)", &[]),
        ("(call :nlp x)", &[Rule::CapabilityNotAllowed]),
        ("(call :shell.run x)", &[Rule::CapabilityNotAllowed]),
        ("(call :nlp//x)", &[Rule::MalformedCapability]),
        ("(call \"nlp x\")", &[Rule::MalformedCapability]),
        ("(call \":shell.run\" x)", &[Rule::CapabilityNotAllowed]),
        ("(:chain.query :a 1)", &[Rule::CapabilityNotAllowed]),
        (
            "[(call :nlp.a) (call :nlp.a) (call :nlp.a)]",
            &[Rule::TooManyYields],
        ),
        ("(map (fn [y] (call :nlp.a y)) x)", &[Rule::TooManyYields]),
        ("(defplan q () 1)", &[Rule::NotOnePlan]),
    ] {
        let found = findings(&plan(body), &strict(&[":nlp/*"], 2));
        let found: Vec<Rule> = found.iter().map(|finding| finding.rule).collect();
        assert_eq!(found, rules, "{body}");
    }
    for source in [
        "(+ 1 2)",
        "",
        "(defplan p () 1) 2",
        "(call :nlp.a) (defplan p () 1)",
    ] {
        let found = findings(source, &strict(&[":nlp/*"], 2));
        assert!(
            found.iter().any(|one| one.rule == Rule::NotOnePlan),
            "{source}"
        );
    }
}

#[test]
fn a_failed_call_gets_its_failure_in_place() {
    let (outcome, _) = answered("(let [x 1]\n  (call :a x))", |_| {
        Err(Failure::new(FailureKind::CapabilityError, "away"))
    });
    let span = outcome.unwrap_err().span.unwrap();
    assert_eq!(span.line_and_column("(let [x 1]\n  (call :a x))"), (2, 3));
}

/// CCOS-RTFS-1: events of steps are reported in order, and each call names the steps around it.
#[test]
fn steps_tell_what_happens_to_them() {
    let source = "(step :outer {:timeout-ms 90}
        (step \"inner\" {:timeout-ms 20 :retries {:max 1 :backoff-ms 7} :on-fail :retry} (call :a))
        (checkpoint :half))";
    let program = Arc::new(program(source));
    let mut machine = Machine::start(program, &BTreeMap::new(), Limits::default()).unwrap();
    let mut tries = Vec::new();
    while let Outcome::Yield(waiting) = machine.run() {
        let [call] = waiting.as_slice() else {
            panic!("one call at a time: {waiting:?}");
        };
        let inner = &call.steps[1];
        assert_eq!((&*call.steps[0].id, &*inner.id), ("outer", "inner"));
        tries.push((inner.attempt, call.delay_ms, call.timeout_ms()));
        let answer = match inner.attempt {
            1 => Err(Failure::new(FailureKind::Timeout, "slow")),
            _ => Ok(Value::Nil),
        };
        machine.answer(&call.position, answer).unwrap();
    }
    assert_eq!(tries, [(1, 0, Some(20)), (2, 7, Some(20))]);
    let events: Vec<String> = machine
        .take_events()
        .iter()
        .map(|event| format!("{} {:?}", event.path.join("/"), event.change))
        .collect();
    assert_eq!(
        events,
        [
            "outer Started",
            "outer/inner Started",
            "outer/inner Retrying(2)",
            "outer/inner Completed",
            "outer Checkpoint(\"half\")",
            "outer Completed",
        ]
    );
    assert!(machine.take_events().is_empty());
}

/// CCOS-RTFS-1: a plan starts with a value for each of its parameters, of its type, and no other.
#[test]
fn a_plan_starts_with_exactly_what_it_takes() {
    let program = Arc::new(program("(defplan p (size : Int) (inc size))"));
    let start = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter();
        let input = pairs.map(|(name, text)| ((*name).to_owned(), Value::read(text).unwrap()));
        Machine::start(Arc::clone(&program), &input.collect(), Limits::default())
    };
    let mut machine = start(&[("size", "2")]).ok().unwrap();
    assert_eq!(machine.run(), Outcome::Complete(Value::Integer(3)));
    assert_eq!(machine.run(), Outcome::Complete(Value::Integer(3)));
    let refusal = |pairs: &[(&str, &str)]| start(pairs).err().unwrap().to_string();
    assert_eq!(refusal(&[]), "the plan's parameter `size` has no value");
    assert_eq!(
        refusal(&[("size", "2"), ("more", "3")]),
        "the plan has no parameter `more`; it has size"
    );
    assert_eq!(
        refusal(&[("size", "\"2\"")]),
        "the plan's parameter `size`: the value is not of type Int"
    );
    let two = Arc::new(self::program("(defplan p (size more) size)"));
    let error = Machine::start(two, &BTreeMap::new(), Limits::default()).err();
    assert_eq!(
        error.unwrap().to_string(),
        "the plan's parameters `size`, `more` have no value"
    );
    let unknown = machine.answer(&"0".parse().unwrap(), Ok(Value::Nil));
    assert_eq!(unknown.unwrap_err().to_string(), "no call is waiting at 0");
}
