//! Calls at which programs stop and go on: anywhere, in parallel, again, and not under `pure`.

use callosum_plan::{Failure, FailureKind};

use crate::running::{answered, check, fail, hint_of, run};

/// CCOS-RTFS-1: an effect may stand anywhere: in arguments, maps, closures, functions of the library.
#[test]
fn calls_stop_anywhere_and_go_on_with_the_answer() {
    let one = |_: &str| Ok("1");
    for (source, value, calls) in [
        ("(+ 1 (call :a) (call :b))", "3", vec!["0 :a", "1 :b"]),
        (
            "{:x (call :a {:y (call :b)})}",
            "{:x 1}",
            vec!["0 :b", "1 :a {:y 1}"],
        ),
        (
            "(map (fn [x] (+ x (call :a x))) [1 2])",
            "[2 3]",
            vec!["0 :a 1", "1 :a 2"],
        ),
        (
            "(reduce (fn [t x] (+ t (call :a x))) 0 [5 6])",
            "2",
            vec!["0 :a 5", "1 :a 6"],
        ),
        (
            "(filter (fn [x] (= 1 (call :a x))) [5 6])",
            "[5 6]",
            vec!["0 :a 5", "1 :a 6"],
        ),
        (
            "(sort-by (fn [x] (call :a x)) [2 1])",
            "[2 1]",
            vec!["0 :a 2", "1 :a 1"],
        ),
        ("(if (call :a) :yes :no)", ":yes", vec!["0 :a"]),
        ("(match (call :a) 1 :one)", ":one", vec!["0 :a"]),
        (
            "(for [x [1 2]] (call :a x))",
            "[1 1]",
            vec!["0 :a 1", "1 :a 2"],
        ),
        (
            "(let [f (fn [] (call \"storage.read\" \"x\"))] [(f) (f)])",
            "[1 1]",
            vec!["0 :storage.read \"x\"", "1 :storage.read \"x\""],
        ),
        ("(and false (call :a))", "false", vec![]),
        ("(or 5 (call :a))", "5", vec![]),
        (
            "(update {:k 1} :k (fn [v] (call :a v)))",
            "{:k 1}",
            vec!["0 :a 1"],
        ),
        (
            "(:capability.query :kind :agent :skills [\"x\"])",
            "1",
            vec!["0 :capability.query {:kind :agent :skills [\"x\"]}"],
        ),
        ("(:kind {:kind 3})", "3", vec![]),
    ] {
        let (outcome, seen) = answered(source, one);
        assert_eq!(outcome.unwrap(), value, "{source}");
        assert_eq!(seen, calls, "{source}");
    }
    fail("(let [c :a] (call c))", FailureKind::SecurityViolation);
    fail("(call (str \"a\" \"b\"))", FailureKind::SecurityViolation);
    fail("(call :a/*)", FailureKind::SecurityViolation);
    fail("(call :a (fn [x] x))", FailureKind::TypeError);
}

/// CCOS-RTFS-1: queries are written shorter, with pairs or with the map of them.
#[test]
fn a_query_is_a_call_however_its_map_is_written() {
    for source in [
        "(:ledger.query :limit 3)",
        "(:ledger.query {:limit 3})",
        "(:ledger/query :limit (+ 1 2))",
    ] {
        let (outcome, calls) = answered(source, |_| Ok("7"));
        assert_eq!(outcome.unwrap(), "7", "{source}");
        assert_eq!(calls, ["0 :ledger.query {:limit 3}"], "{source}");
    }
    check("(:ledger.query {:ledger.query 1})", "1");
    // What would look into a map by mistake is refused, and a capability's name is no function.
    for source in [
        "(let [m {:limit 3}] (:ledger.query m))",
        "(:chain.query :limit)",
        "(:ledger/query {:limit 1} 2)",
    ] {
        fail(source, FailureKind::ParseError);
    }
    for (source, kind) in [
        ("(:fs.read :path \"x\")", FailureKind::TypeError),
        (
            "(:task.add :prompt \"x\" :to 1)",
            FailureKind::ArityMismatch,
        ),
        ("(:task.add)", FailureKind::ArityMismatch),
    ] {
        let failure = run(source, |_| Vec::new()).unwrap_err();
        assert_eq!(failure.kind, kind, "{source}");
        assert!(
            failure.hint.unwrap_or_default().contains("(call :"),
            "{source}"
        );
    }
}

/// CCOS-RTFS-1: parallel branches wait together, and answers come in any order.
#[test]
fn parallel_branches_wait_together_and_the_order_of_answers_is_nothing() {
    let source = "(let [x 2] (step-parallel (+ x (call :a)) (* (call :b) (call :c)) 7))";
    let value = run(source, |waiting| {
        // The last first.
        let last = waiting.last().unwrap();
        let value = match last.capability.as_str() {
            "a" => 1,
            "b" => 10,
            _ => 100,
        };
        vec![(last.position.clone(), Ok(value.into()))]
    });
    assert_eq!(value.unwrap().to_string(), "[3 1000 7]");
    let (outcome, calls) = answered(source, |_| Ok("3"));
    assert_eq!(outcome.unwrap(), "[5 9 7]");
    assert_eq!(calls, ["0.0.0 :a", "0.1.0 :b", "0.1.1 :c"]);
    check(
        "(step-parallel {:a 1} {:a 2 :b 3} :merge-policy :keep-existing)",
        "{:a 1 :b 3}",
    );
    check(
        "(step-parallel {:a 1} {:a 2 :b 3} :merge-policy :overwrite)",
        "{:a 2 :b 3}",
    );
    check(
        "(step-parallel {:a {:x 1}} {:a {:y 2}} :merge-policy :merge)",
        "{:a {:x 1 :y 2}}",
    );
    fail(
        "(step-parallel 1 (/ 1 0) (inc nil))",
        FailureKind::DivisionByZero,
    );
    check(
        "(try (step-parallel 1 (/ 1 0)) (catch e :caught))",
        ":caught",
    );
}

/// CCOS-RTFS-1: a step is tried again as its options say.
#[test]
fn a_step_is_tried_again_as_often_as_it_says() {
    let mut failures = 2;
    let (outcome, calls) = answered(
        "(step :s {:timeout-ms 50 :retries {:max 2 :backoff-ms 10}} (inc (call :a)))",
        |_| {
            if failures == 0 {
                return Ok("1");
            }
            failures -= 1;
            Err(Failure::new(FailureKind::Timeout, "slow"))
        },
    );
    assert_eq!(outcome.unwrap(), "2");
    assert_eq!(calls, ["0 :a", "1 :a", "2 :a"]);
    fail(
        "(step :s {:retries {:max 1}} (/ 1 0))",
        FailureKind::DivisionByZero,
    );
    fail("(step :s {:retries {:max 99}} 1)", FailureKind::ParseError);
    fail("(step :s {:timout-ms 1} 1)", FailureKind::ParseError);
    let delegating = "(step :s {:on-fail :delegate} (/ 1 0))";
    fail(delegating, FailureKind::ParseError);
    assert!(hint_of(delegating).contains("(catch e (call :agent.delegate"));
    check("(step \"s\" {:a 1})", "{:a 1}");
    check("(step :s 1 2)", "2");
    check("(step-loop false 1)", "nil");
    fail("(step-loop true 1)", FailureKind::BudgetExhausted);
    check("(checkpoint :here)", "nil");
}

/// CCOS-RTFS-1: an expression under `pure` makes no call, neither itself nor by way of a function.
#[test]
fn nothing_under_pure_makes_a_call() {
    check("(pure (+ 1 2))", "3");
    for source in [
        "(pure (call :a))",
        "(pure (map (fn [x] (call :a x)) [1]))",
        "(let [f (fn [] (call :a))] (pure (f)))",
        "(defn f [] (call :a)) (defn g [] (f)) (pure (g))",
        "(let [f (fn [] (call :a)) g (fn [h] (pure (h)))] (g f))",
        "(let [fs [(fn [] (call :a))]] (pure ((first fs))))",
        "(pure (step-parallel (call :a)))",
        "(let [f (fn [] (call :a))] (pure (step-parallel (f))))",
    ] {
        fail(source, FailureKind::SecurityViolation);
    }
    let (outcome, _) = answered("(let [x (call :a)] (pure (inc x)))", |_| Ok("1"));
    assert_eq!(outcome.unwrap(), "2");
}
