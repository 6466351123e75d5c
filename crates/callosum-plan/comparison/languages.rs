//! One program in three languages, each compiled before and evaluated to an integer.
//!
//! Ours counts work and memory, stops at effects and says where it failed; the others here do not.

use std::{collections::BTreeMap, sync::Arc};

use callosum_plan::{CompileOptions, Limits, Machine, Outcome, Program, Value, compile};
use rhai::{AST, Engine};
use starlark::{
    environment::{Globals, Module},
    eval::Evaluator,
    syntax::{AstModule, Dialect},
};

/// A task, as each language says it. Starlark has neither recursion nor `reduce`.
pub struct Task {
    pub ours: &'static str,
    pub rhai: &'static str,
    pub starlark: &'static str,
}

/// Ten thousand turns of arithmetic on integers.
pub const ARITHMETIC: Task = Task {
    ours: "(reduce (fn [total i] (+ total (- (* i 3) (mod i 7)))) 0 (range 10000))",
    rhai: "let total = 0; for i in 0..10000 { total += i * 3 - i % 7; } total",
    starlark: "\
def main():
    total = 0
    for i in range(10000):
        total += i * 3 - i % 7
    return total
main()
",
};

/// `map`, `filter` and `reduce` over ten thousand integers.
pub const COLLECTIONS: Task = Task {
    ours: "(reduce + 0 (filter (fn [x] (= 0 (mod x 3))) (map (fn [x] (* x x)) (range 10000))))",
    rhai: "let items = []; for i in 0..10000 { items.push(i); } \
           items.map(|x| x * x).filter(|x| x % 3 == 0).reduce(|total, x| total + x, 0)",
    starlark: "\
def add(items):
    total = 0
    for x in items:
        total += x
    return total
add([y for y in [x * x for x in range(10000)] if y % 3 == 0])
",
};

pub fn our_program(source: &str) -> Arc<Program> {
    Arc::new(compile(source, &CompileOptions::default()).expect("the source is right"))
}

pub fn run_ours(program: &Arc<Program>) -> i64 {
    let started = Machine::start(Arc::clone(program), &BTreeMap::new(), Limits::default());
    match started.expect("it takes nothing").run() {
        Outcome::Complete(Value::Integer(value)) => value,
        other => panic!("{other:?}"),
    }
}

pub fn rhai_engine() -> Engine {
    let mut engine = Engine::new();
    engine.set_max_expr_depths(0, 0);
    engine
}

pub fn run_rhai(engine: &Engine, program: &AST) -> i64 {
    engine.eval_ast(program).expect("it comes to an integer")
}

pub fn starlark_program(source: &str) -> AstModule {
    AstModule::parse("task", source.to_owned(), &Dialect::Extended).expect("the source is right")
}

/// Takes the parsed program, since it is used up.
pub fn run_starlark(program: AstModule, globals: &Globals) -> i64 {
    Module::with_temp_heap(|module| {
        let mut evaluator = Evaluator::new(&module);
        let value = evaluator.eval_module(program, globals).expect("it runs");
        value.to_str().parse().expect("it comes to an integer")
    })
}
