//! Real memory use of programs that ask for much: not twice their bound, and compiling a source
//! takes a bounded amount.
//!
//! A binary of its own with one test, because what it counts is counted for the whole process.

#![expect(clippy::unwrap_used, reason = "it is a test as a whole")]

use std::{collections::BTreeMap, sync::Arc};

use callosum_plan::{
    CompileOptions, Library, Limits, MAX_SOURCE, Machine, Outcome, ProposalRequest, Unbounded,
    accept, compile, read,
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Memory that the programs may ask for.
const MEMORY: u64 = 8 << 20;

/// Memory that they may really take: something that grows is there twice while it is moved.
const TAKEN: usize = 2 * MEMORY as usize;

/// Most memory that compiling takes of any source: forms, expressions and patterns of text.
const COMPILED: usize = 128 << 20;

/// Returns the most bytes that this holds beyond what was held before.
fn most_held(run: impl FnOnce()) -> usize {
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    run();
    ALLOCATED.peak_usage().saturating_sub(before)
}

/// Runs to the end, each call answered with what it was called with.
fn run(source: &str) {
    let program = compile(source, &CompileOptions::default());
    let program = Arc::new(program.unwrap_or_else(|findings| panic!("{source}: {findings:?}")));
    let limits = Limits {
        memory: MEMORY,
        fuel: 50_000_000,
        ..Limits::default()
    };
    let mut machine = Machine::start(program, &BTreeMap::new(), limits).unwrap();
    while let Outcome::Yield(waiting) = machine.run() {
        for call in waiting {
            let answer = call.arguments.first().cloned().unwrap_or_default();
            machine.answer(&call.position, Ok(answer)).unwrap();
        }
    }
}

/// CCOS-RTFS-1: no program takes more than a few times the memory that it is allowed.
#[test]
fn memory_is_bounded_by_what_is_allowed() {
    let text = "(reduce (fn [s x] (str s s)) \" a\" (range 19))";
    let deep = "(reduce (fn [a x] [a]) [] (range 50000))";
    for source in [
        "(reduce (fn [s x] (str s s)) \"ab\" (range 100))".to_owned(),
        "(reduce (fn [v x] (concat v v)) [1] (range 100))".to_owned(),
        "(reduce conj [] (range 100000))".to_owned(),
        "(reduce (fn [m x] (assoc m x [x])) {} (range 100000))".to_owned(),
        "(map (fn [x] (map (fn [y] [x y]) (range 1000))) (range 1000))".to_owned(),
        "(for [x (range 1000) y (range 1000)] {:x x :y y})".to_owned(),
        "(defn f [] (+ 1 (f))) (f)".to_owned(),
        "(defn f [x] (map (fn [y] (f y)) [x])) (f 1)".to_owned(),
        "(defn f [x] (for [y [x]] (f y))) (f 1)".to_owned(),
        "(defn f [] (try (f) (catch e 1) (finally 2))) (f)".to_owned(),
        "(defn f [] (step :s (f))) (f)".to_owned(),
        "(defn f [m] (update m :k (fn [v] (f m)))) (f {:k 1})".to_owned(),
        "(defn f [v] (map (fn [x] (f v)) v)) (f (range 10000))".to_owned(),
        "(dotimes [i 1000000] (checkpoint :c))".to_owned(),
        "(dotimes [i 1000000] (step-parallel 1 (call :a i)))".to_owned(),
        "(reduce (fn [f x] (fn [] [f x])) nil (range 100000))".to_owned(),
        "(map (fn [i] (fn [] i)) (range 100000))".to_owned(),
        "(map (fn [i] (try (inc (str i)) (catch e e))) (range 100000))".to_owned(),
        "(map (fn [i] (call :a (range 10000))) (range 900))".to_owned(),
        format!("(split {text} \"\")"),
        format!("(split {text} \"a\")"),
        format!("(string-upper {text})"),
        format!("(reverse {text})"),
        format!("(map keyword [{text}])"),
        format!("(parse-json {text})"),
        format!("(re-seq \"a\" {text})"),
        format!("(serialize-json {text})"),
        format!("(map (fn [i] (try (keyword {text}) (catch e (:message e)))) (range 100))"),
        format!("(serialize-json-pretty {deep})"),
        format!("(distinct [{deep} {deep}])"),
        format!("(= {deep} {deep})"),
        "(parse-json (str \"[\" (join \",\" (map (fn [x] \"0\") (range 100000))) \"]\"))"
            .to_owned(),
        "(let [v (range 100000)] [(sort v) (distinct v) (frequencies v) (reverse v)])".to_owned(),
        "(reduce (fn [a i] (assoc a i {:a i})) {} (range 100000))".to_owned(),
        "(map (fn [i] {:a i :b i}) (range 100000))".to_owned(),
        "(defn f [n] (try (f (inc n)) (finally 1))) (f 1)".to_owned(),
        "(partition 1 (range 100000))".to_owned(),
        "(map (fn [i] (str i)) (range 100000))".to_owned(),
        "(map (fn [i] [i]) (range 100000))".to_owned(),
        "(group-by (fn [i] i) (range 100000))".to_owned(),
        "(map (fn [i] (re-find (str \"\\\\w{\" i \"}\") \"a\")) (range 40))".to_owned(),
    ] {
        let held = most_held(|| run(&source));
        let ratio = held as f64 / MEMORY as f64;
        assert!(held < TAKEN, "{source} held {ratio:.2} times what it may");
    }
    // Sources of the greatest size, each with much of something.
    let filled = |before: &str, piece: &str, after: &str| {
        let room = MAX_SOURCE - before.len() - after.len();
        format!("{before}{}{after}", piece.repeat(room / piece.len()))
    };
    let wide = "1 ".repeat(90_000);
    let nested =
        |open: &str, close: &str| format!("{}[{wide}]{}", open.repeat(120), close.repeat(120));
    for source in [
        filled("[", "()", "]"),
        filled("[", "a ", "]"),
        filled("[", "[] ", "]"),
        filled("[", "{} ", "]"),
        filled("(let [", "x 1 ", "] 1)"),
        filled("(let [", "f (fn [] f) ", "] 1)"),
        filled(
            "(let [",
            "x : [:and String [:matches-regex \"\\\\w{20}\"]] \"\" ",
            "] 1)",
        ),
        filled(
            "(let [x : [:and String ",
            "[:matches-regex \"\\\\w{20}\"]",
            "] \"\"] 1)",
        ),
        filled("(let [x : [:matches-regex \"", "\\\\w", "\"] 1] 1)"),
        filled("(let [x : ", "[:vector ", ""),
        filled("(for [", "x [] ", "] 1)"),
        filled("(step-parallel ", "(do 1) ", ")"),
        filled("\"", "a", "\""),
        filled("", "(", ""),
        nested("(step-parallel ", ")"),
        nested("(:chain.query :a ", ")"),
        nested("(fn [] ", ")"),
    ] {
        let beginning = &source[..60];
        let held = most_held(|| drop(compile(&source, &CompileOptions::default())));
        assert!(held < COMPILED, "{beginning} held {held} bytes");
        let held = most_held(|| drop(read(&source)));
        assert!(
            held < COMPILED / 2,
            "{beginning} held {held} bytes when read"
        );
        let json = serde_json::json!({
            "version": "1.0",
            "plan_source": source,
            "constraints": {"caps": [], "max_yields": 1},
        });
        let request = ProposalRequest {
            allowed: callosum_plan::Allowlist::default(),
            max_yields: 1,
            unbounded: Unbounded::Refuse,
            parameters: Vec::new(),
            library: Library::standard(),
        };
        let json = json.to_string();
        let held = most_held(|| drop(accept(&json, &request)));
        assert!(
            held < COMPILED,
            "{beginning} held {held} bytes as a proposal"
        );
    }
}
