//! The same programs evaluated by us, by rhai and by starlark, in turns.
//!
//! `cargo run --release --manifest-path crates/callosum-plan/beside/Cargo.toml` prints, for each
//! program and each language, the median time of an evaluation of what was compiled before, and that
//! of compiling it. All three are asked for the same value, which is looked at. Deliberately not here:
//! a verdict; the figures stand in `docs/performance.md`.

use std::{
    collections::BTreeMap,
    error::Error,
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use callosum_plan::{CompileOptions, Limits, Machine, Outcome, Program, compile};
use rhai::Engine;
use starlark::{
    environment::{Globals, Module},
    eval::Evaluator,
    syntax::{AstModule, Dialect},
};

/// How often each program is evaluated by each language.
const RUNS: usize = 101;

/// A program in three languages, and what it comes to.
struct Case {
    name: &'static str,
    plan: &'static str,
    rhai: &'static str,
    starlark: &'static str,
    value: i64,
}

const CASES: [Case; 3] = [
    Case {
        name: "fibonacci of 18",
        plan: "(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 18)",
        rhai: "fn fib(n) { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } } fib(18)",
        starlark: "def fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)\nfib(18)",
        value: 2584,
    },
    Case {
        name: "map, filter, reduce over 10,000",
        plan: "(reduce + 0 (filter (fn [x] (= 0 (mod x 3))) (map (fn [x] (* x x)) (range 10000))))",
        rhai: "let v = []; for x in 0..10000 { v.push(x); } \
               v.map(|x| x * x).filter(|x| x % 3 == 0).reduce(|sum, x| sum + x, 0)",
        starlark: "def total(items):\n    sum = 0\n    for x in items:\n        sum += x\n    return sum\n\
                   total([y for y in [(lambda x: x * x)(x) for x in range(10000)] if (lambda x: x % 3 == 0)(y)])",
        value: 111_127_776_111,
    },
    Case {
        name: "sum of products, 10,000 turns",
        plan: "(let [turn (fn [i sum] (if (= i 10000) sum (turn (+ i 1) (+ sum (* i 3) (- i 1)))))] (turn 0 0))",
        rhai: "let sum = 0; for i in 0..10000 { sum += i * 3 + i - 1; } sum",
        starlark: "def total():\n    sum = 0\n    for i in range(10000):\n        sum += i * 3 + i - 1\n    return sum\ntotal()",
        value: 199_970_000,
    },
];

/// How long compiling and evaluating took.
type Taken = (Duration, Duration);

fn main() -> Result<(), Box<dyn Error>> {
    let engine = unbounded_engine();
    for case in &CASES {
        let mut taken: [Vec<Taken>; 3] = Default::default();
        for _ in 0..RUNS {
            taken[0].push(by_us(case)?);
            taken[1].push(by_rhai(&engine, case)?);
            taken[2].push(by_starlark(case)?);
        }
        for (name, taken) in ["callosum-plan", "rhai", "starlark"].into_iter().zip(taken) {
            let (compiled, evaluated): (Vec<_>, Vec<_>) = taken.into_iter().unzip();
            println!(
                "{:<34} {name:<14} compiled {:>9.1?}, evaluated {:>9.1?}",
                case.name,
                median(compiled),
                median(evaluated)
            );
        }
    }
    round_trip()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn limits() -> Limits {
    Limits {
        fuel: u64::MAX,
        memory: u64::MAX,
        yields: u64::MAX,
        ..Limits::default()
    }
}

fn compiled(source: &str) -> Result<Arc<Program>, String> {
    let program = compile(source, &CompileOptions::default());
    program.map(Arc::new).map_err(|findings| format!("{findings:?}"))
}

fn by_us(case: &Case) -> Result<Taken, Box<dyn Error>> {
    let began = Instant::now();
    let program = compiled(black_box(case.plan))?;
    let compiled = began.elapsed();
    let began = Instant::now();
    let mut machine = Machine::start(program, &BTreeMap::new(), limits())?;
    let outcome = machine.run();
    let evaluated = began.elapsed();
    assert_eq!(outcome, Outcome::Complete(case.value.into()));
    Ok((compiled, evaluated))
}

/// An engine without bounds of its own on what a program does.
fn unbounded_engine() -> Engine {
    let mut engine = Engine::new();
    engine.set_max_expr_depths(0, 0);
    engine
}

fn by_rhai(engine: &Engine, case: &Case) -> Result<Taken, Box<dyn Error>> {
    let began = Instant::now();
    let program = engine.compile(black_box(case.rhai))?;
    let compiled = began.elapsed();
    let began = Instant::now();
    let value: i64 = engine.eval_ast(&program)?;
    let evaluated = began.elapsed();
    assert_eq!(value, case.value);
    Ok((compiled, evaluated))
}

/// Its modules are compiled as they are evaluated; only parsing is apart.
fn by_starlark(case: &Case) -> Result<Taken, Box<dyn Error>> {
    let globals = Globals::standard();
    let began = Instant::now();
    let source = black_box(case.starlark).to_owned();
    let module = AstModule::parse("case.star", source, &Dialect::Extended);
    let module = module.map_err(|error| error.to_string())?;
    let compiled = began.elapsed();
    let evaluated = Module::with_temp_heap(|environment| {
        let began = Instant::now();
        let mut evaluator = Evaluator::new(&environment);
        let value = evaluator.eval_module(module, &globals)?;
        let evaluated = began.elapsed();
        assert_eq!(value.to_string(), case.value.to_string());
        starlark::Result::Ok(evaluated)
    });
    Ok((compiled, evaluated.map_err(|error| error.to_string())?))
}

/// What a call and its answer cost, without anything outside, over a thousand of them.
fn round_trip() -> Result<(), Box<dyn Error>> {
    let with = compiled("(reduce (fn [sum x] (+ sum (call :add x))) 0 (range 1000))")?;
    let without = compiled("(reduce (fn [sum x] (+ sum x)) 0 (range 1000))")?;
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..RUNS {
        for (program, times) in [&with, &without].into_iter().zip(&mut times) {
            let began = Instant::now();
            let mut machine = Machine::start(Arc::clone(program), &BTreeMap::new(), limits())?;
            while let Outcome::Yield(waiting) = machine.run() {
                for call in waiting {
                    let answer = call.arguments.into_iter().next().unwrap_or_default();
                    machine.answer(&call.position, Ok(answer))?;
                }
            }
            times.push(began.elapsed());
        }
    }
    let [with, without] = times.map(median);
    println!(
        "{:<34} {:<14} all {with:>9.1?}, without calls {without:>9.1?}, one call and answer {:.2?}",
        "1,000 calls and their answers",
        "callosum-plan",
        with.saturating_sub(without) / 1000
    );
    Ok(())
}
