//! Any text as a program: refused with places that lie in it, or evaluated to an end within its bounds.

#![no_main]

use std::{collections::BTreeMap, sync::Arc};

use callosum_plan::{CompileOptions, Limits, Machine, Outcome, Value, compile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    let program = match compile(source, &CompileOptions::default()) {
        Ok(program) => Arc::new(program),
        Err(findings) => {
            for finding in findings {
                assert!(source.get(finding.span.range()).is_some(), "{finding:?}");
            }
            return;
        }
    };
    let limits = Limits {
        fuel: 100_000,
        memory: 4 << 20,
        yields: 50,
        turns: 20,
        value: 1 << 16,
    };
    let Ok(mut machine) = Machine::start(program, &BTreeMap::new(), limits) else {
        return;
    };
    while let Outcome::Yield(waiting) = machine.run() {
        for call in waiting {
            machine
                .answer(&call.position, Ok(Value::Integer(1)))
                .expect("the call waits");
        }
    }
});
