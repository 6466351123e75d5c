//! Named by their budgets: a plan of 2 KB compiled in under 1 ms, a call and its answer in under 5 µs,
//! a thousand recorded answers taken again in under 50 ms.

use std::{collections::BTreeMap, sync::Arc};

use callosum_plan::{CompileOptions, Limits, Machine, Outcome, Program, Value, compile};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// A plan of about 2 KB that has every kind of form.
fn plan_of_2_kb() -> String {
    let step = |number: usize| {
        format!(
            "(step :s{number} {{:timeout-ms 1000 :retries {{:max 1}}}} \
             (let [found (call :search.find {{:query \"q{number}\" :top {number}}}) \
             {{:keys [name size] :as one}} (first (filter (fn [x] (> (:size x) 10)) found))] \
             (match one {{:name n & r}} (pure (assoc r :name (str n \"-\" size))) _ nil)))"
        )
    };
    let steps: Vec<String> = (0..8).map(step).collect();
    format!("(defplan survey (root)\n{})", steps.join("\n"))
}

fn program(source: &str) -> Arc<Program> {
    Arc::new(compile(source, &CompileOptions::default()).expect("the benchmark's source is right"))
}

fn unbounded() -> Limits {
    Limits {
        fuel: u64::MAX,
        memory: u64::MAX,
        yields: u64::MAX,
        ..Limits::default()
    }
}

fn started(program: &Arc<Program>) -> Machine {
    Machine::start(Arc::clone(program), &BTreeMap::new(), unbounded()).expect("it takes nothing")
}

/// Runs to the end, each call answered with what it was called with.
fn run(mut machine: Machine) -> Value {
    loop {
        match machine.run() {
            Outcome::Complete(value) => return value,
            Outcome::Failed(failure) => panic!("{failure}"),
            Outcome::Yield(waiting) => {
                for call in waiting {
                    let answer = call.arguments.into_iter().next().unwrap_or_default();
                    machine
                        .answer(&call.position, Ok(answer))
                        .expect("the call waits");
                }
            }
        }
    }
}

// CCOS-RTFS-1
#[divan::bench]
fn compile_of_2_kb_under_1_ms(bencher: Bencher) {
    let source = plan_of_2_kb();
    assert!((1900..2300).contains(&source.len()), "{}", source.len());
    let options = CompileOptions::default();
    bencher.bench(|| compile(black_box(&source), &options));
}

// CCOS-RTFS-2
#[divan::bench]
fn thousand_calls_and_answers_under_5_ms(bencher: Bencher) {
    let program = program("(reduce (fn [total x] (+ total (call :add x))) 0 (range 1000))");
    bencher.bench(|| run(started(&program)));
}

#[divan::bench]
fn same_without_calls(bencher: Bencher) {
    let program = program("(reduce (fn [total x] (+ total x)) 0 (range 1000))");
    bencher.bench(|| run(started(&program)));
}

#[divan::bench]
fn hundred_branches_that_wait_together(bencher: Bencher) {
    let branches = "(call :a 1) ".repeat(100);
    let program = program(&format!("(step-parallel {branches})"));
    bencher.bench(|| run(started(&program)));
}

#[divan::bench]
fn fibonacci_of_20(bencher: Bencher) {
    let program = program("(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 20)");
    bencher.bench(|| run(started(&program)));
}

#[divan::bench]
fn map_filter_reduce_over_10_000(bencher: Bencher) {
    let program = program(
        "(reduce + 0 (filter (fn [x] (= 0 (mod x 3))) (map (fn [x] (* x x)) (range 10000))))",
    );
    bencher.bench(|| run(started(&program)));
}
