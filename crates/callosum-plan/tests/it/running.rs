//! Sources run to their end, with answers that a test gives.

use std::{collections::BTreeMap, sync::Arc};

use callosum_plan::{
    CompileOptions, Failure, FailureKind, Finding, Limits, Machine, Outcome, Position, Value,
    Yield, compile,
};

/// Answers to some of the calls that wait.
pub(crate) type Answered = Vec<(Position, Result<Value, Failure>)>;

/// Compiles and runs a source; `answer` answers some of the calls that wait.
pub(crate) fn run(
    source: &str,
    mut answer: impl FnMut(&[Yield]) -> Answered,
) -> Result<Value, Failure> {
    run_within(source, Limits::default(), &mut answer)
}

pub(crate) fn run_within(
    source: &str,
    limits: Limits,
    answer: &mut dyn FnMut(&[Yield]) -> Answered,
) -> Result<Value, Failure> {
    let program =
        compile(source, &CompileOptions::default()).map_err(|findings| of_finding(&findings[0]))?;
    let mut machine = Machine::start(Arc::new(program), &BTreeMap::new(), limits).unwrap();
    loop {
        match machine.run() {
            Outcome::Complete(value) => return Ok(value),
            Outcome::Failed(failure) => return Err(failure),
            Outcome::Yield(waiting) => {
                for (position, answer) in answer(&waiting) {
                    machine.answer(&position, answer).unwrap();
                }
            }
        }
    }
}

fn of_finding(finding: &Finding) -> Failure {
    let mut failure = Failure::new(finding.rule.failure_kind(), &finding.message);
    failure.hint.clone_from(&finding.hint);
    failure
}

/// Runs a source whose calls are answered by name, one at a time; also returns the calls' keys.
pub(crate) fn answered<'a>(
    source: &str,
    mut answer: impl FnMut(&str) -> Result<&'a str, Failure>,
) -> (Result<String, Failure>, Vec<String>) {
    let mut calls = Vec::new();
    let result = run(source, |waiting| {
        let call = &waiting[0];
        calls.push(call.key_text());
        let value = answer(&format!(":{}", call.capability));
        vec![(
            call.position.clone(),
            value.map(|text| Value::read(text).unwrap()),
        )]
    });
    (result.map(|value| value.to_string()), calls)
}

fn alone(source: &str) -> Result<Value, Failure> {
    run(source, |waiting| panic!("{source} calls {waiting:?}"))
}

/// Asserts what a source without calls comes to, in the language's notation.
pub(crate) fn check(source: &str, value: &str) {
    match alone(source) {
        Ok(found) => assert_eq!(found.to_string(), value, "{source}"),
        Err(failure) => panic!("{source}: {failure}"),
    }
}

/// Asserts that a source fails, with this kind of failure.
pub(crate) fn fail(source: &str, kind: FailureKind) {
    let result = run(source, |waiting| {
        let answer = |call: &Yield| (call.position.clone(), Ok(Value::Integer(1)));
        waiting.iter().map(answer).collect()
    });
    match result {
        Ok(value) => panic!("{source} comes to {value}"),
        Err(failure) => assert_eq!(failure.kind, kind, "{source}: {failure}"),
    }
}

/// Returns the hint with which a source is refused.
pub(crate) fn hint_of(source: &str) -> String {
    alone(source).unwrap_err().hint.unwrap_or_default()
}
