//! `cargo bench --manifest-path crates/callosum-plan/comparison/Cargo.toml`: one run, all three.

use callosum_plan_comparison::{
    ARITHMETIC, COLLECTIONS, Task, our_program, rhai_engine, run_ours, run_rhai, run_starlark,
    starlark_program,
};
use divan::Bencher;
use starlark::environment::Globals;

fn main() {
    for task in [&ARITHMETIC, &COLLECTIONS] {
        let ours = run_ours(&our_program(task.ours));
        let engine = rhai_engine();
        let rhai = engine.compile(task.rhai).expect("the source is right");
        assert_eq!(run_rhai(&engine, &rhai), ours);
        let starlark = starlark_program(task.starlark);
        assert_eq!(run_starlark(starlark, &Globals::standard()), ours);
    }
    divan::main();
}

fn ours(bencher: Bencher, task: &Task) {
    let program = our_program(task.ours);
    bencher.bench_local(|| run_ours(&program));
}

fn rhai(bencher: Bencher, task: &Task) {
    let engine = rhai_engine();
    let program = engine.compile(task.rhai).expect("the source is right");
    bencher.bench_local(|| run_rhai(&engine, &program));
}

fn starlark(bencher: Bencher, task: &Task) {
    let globals = Globals::standard();
    let program = bencher.with_inputs(|| starlark_program(task.starlark));
    program.bench_local_values(|program| run_starlark(program, &globals));
}

mod arithmetic {
    use super::*;

    #[divan::bench]
    fn callosum(bencher: Bencher) {
        ours(bencher, &ARITHMETIC);
    }

    #[divan::bench]
    fn rhai(bencher: Bencher) {
        super::rhai(bencher, &ARITHMETIC);
    }

    #[divan::bench]
    fn starlark(bencher: Bencher) {
        super::starlark(bencher, &ARITHMETIC);
    }
}

mod map_filter_reduce {
    use super::*;

    #[divan::bench]
    fn callosum(bencher: Bencher) {
        ours(bencher, &COLLECTIONS);
    }

    #[divan::bench]
    fn rhai(bencher: Bencher) {
        super::rhai(bencher, &COLLECTIONS);
    }

    #[divan::bench]
    fn starlark(bencher: Bencher) {
        super::starlark(bencher, &COLLECTIONS);
    }
}
