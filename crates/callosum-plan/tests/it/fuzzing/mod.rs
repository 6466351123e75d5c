//! Properties of any text, any program and any JSON, as functions that both the tests and the
//! targets of `fuzz/` call.
//!
//! None of them measures time or memory: work and memory are counted by the bounds that each run
//! has.

pub(crate) mod mutation;

use std::{collections::BTreeMap, sync::Arc};

use callosum_plan::{
    Allowlist, Colours, CompileOptions, Form, Library, Limits, Machine, Outcome, Position, Program,
    ProposalRequest, Unbounded, Value, YieldBound, accept, compile, read,
};

use self::mutation::{Draw, changed_program};

/// Any text is refused with a place that lies in it, or what was read prints as text that reads the same.
pub(crate) fn reader(text: &str) {
    match read(text) {
        Err(error) => assert!(text.get(error.span.range()).is_some(), "{error:?}"),
        Ok(forms) => {
            let printed: Vec<String> = forms.iter().map(Form::to_string).collect();
            let printed = printed.join(" ");
            assert_eq!(read(&printed).as_ref(), Ok(&forms), "{text:?}");
        }
    }
}

/// Any text is refused with findings that lie in it and can be shown, or is a program.
pub(crate) fn compiler(text: &str) {
    if let Err(findings) = compile(text, &CompileOptions::default()) {
        assert!(!findings.is_empty(), "{text:?}");
        for finding in findings {
            assert!(text.get(finding.span.range()).is_some(), "{finding:?}");
            for colours in [Colours::Plain, Colours::Styled] {
                assert!(!finding.render(text, "x", colours).is_empty());
            }
        }
    }
}

/// Any program comes to an end within its bounds, to the same one again and in any order of
/// answers, and makes no more calls than were counted. Returns its end; `None` if it is no program.
pub(crate) fn machine(source: &str, answers: &[Value]) -> Option<String> {
    let program = Arc::new(compile(source, &CompileOptions::default()).ok()?);
    let first = run(&program, answers, Order::Given)?;
    let (end, calls, _) = &first;
    if let YieldBound::AtMost(most) = program.yields() {
        assert!(
            calls.len() as u64 <= most,
            "{source}: {calls:?}, {most} counted"
        );
    }
    if calls.is_empty() {
        return Some(first.0);
    }
    assert_eq!(
        run(&program, answers, Order::Given).as_ref(),
        Some(&first),
        "{source}"
    );
    // Where a bound is reached, what was done until then depends on the order.
    let bounded = |end: &str| end.starts_with("BudgetExhausted");
    let reversed = run(&program, answers, Order::Reversed)?;
    if !bounded(end) && !bounded(&reversed.0) {
        assert_eq!(reversed, first, "{source}");
    }
    Some(first.0)
}

/// Any JSON is rejected with reasons, or is a plan within what was allowed whose source is one by itself.
pub(crate) fn proposal(json: &str) {
    let allowed = Allowlist::parse(&[":nlp/*"]).expect("the entry is one");
    let request = ProposalRequest {
        allowed: allowed.clone(),
        max_yields: 4,
        unbounded: Unbounded::Refuse,
        parameters: vec!["input".to_owned()],
        library: Library::standard(),
    };
    match accept(json, &request) {
        Ok(accepted) => {
            let mut names = accepted.program.capabilities();
            assert!(names.all(|name| allowed.allows(name)), "{json}");
            assert!(accepted.program.yields() <= YieldBound::AtMost(4), "{json}");
            let again = compile(&accepted.source, &CompileOptions::default());
            assert!(again.is_ok(), "{json}");
        }
        Err(rejections) => assert!(!rejections.is_empty(), "{json}"),
    }
}

/// A model's JSON around a program and a snippet, at times with something else in a place.
pub(crate) fn changed_proposal(draw: Draw<'_>) -> String {
    let text = |draw: Draw<'_>| match draw(3) {
        0 => changed_program(draw),
        1 => [
            "",
            "1.0",
            "s1",
            ":nlp.sentiment",
            ":nlp/*",
            "*",
            ":a",
            "a b",
            "\u{202e}",
        ][draw(9)]
        .to_owned(),
        _ => ["s", ":nlp.x", "(pure 1)", "1", "(defplan p () 1)"][draw(5)].to_owned(),
    };
    let caps = [":nlp.sentiment", ":nlp/*", ":a", "*", ":nlp"][draw(5)];
    let mut json = serde_json::json!({
        "version": "1.0",
        "constraints": {"caps": [caps], "max_yields": draw(6)},
    });
    if draw(2) == 0 {
        json["plan_source"] = changed_program(draw).into();
    } else {
        let steps: Vec<serde_json::Value> = (0..draw(4))
            .map(|number| {
                let argument = serde_json::json!([text(draw), {"k": [1.5, null, text(draw)]}]);
                serde_json::json!({
                    "step_id": if draw(4) == 0 { text(draw) } else { format!("s{number}") },
                    "purpose": text(draw),
                    "rtfs_pure": text(draw),
                    "yields": [{"cap": text(draw), "args": [argument]}],
                })
            })
            .collect();
        json["steps"] = steps.into();
    }
    let mut written = json.to_string();
    if draw(8) == 0 {
        let ends: Vec<usize> = written.char_indices().map(|(at, _)| at).collect();
        written.truncate(ends[draw(ends.len())]);
    }
    written
}

/// Result of a run: its end, its calls in the order of their positions, the number of events of
/// steps.
type Run = (String, Vec<String>, usize);

/// The order in which calls that wait together are answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Given,
    Reversed,
}

/// Runs a program within small bounds, its calls answered by `answers`; none where it doesn't start.
fn run(program: &Arc<Program>, answers: &[Value], order: Order) -> Option<Run> {
    let parameters = program.parameters().iter();
    let input: BTreeMap<String, Value> = parameters
        .map(|parameter| (parameter.name().to_owned(), Value::Integer(3)))
        .collect();
    let limits = Limits {
        fuel: 100_000,
        memory: 4 << 20,
        yields: 50,
        turns: 20,
        value: 1 << 16,
    };
    let mut machine = Machine::start(Arc::clone(program), &input, limits).ok()?;
    let mut calls = BTreeMap::new();
    let end = loop {
        match machine.run() {
            Outcome::Complete(value) => {
                let text = value.to_string();
                // What was counted on while it was made is what it weighs.
                if let Ok(again) = Value::read(&text) {
                    assert_eq!(again.weight(), value.weight(), "{text}");
                }
                break text;
            }
            Outcome::Failed(failure) => break failure.to_string(),
            Outcome::Yield(mut waiting) => {
                if order == Order::Reversed {
                    waiting.reverse();
                    waiting.truncate(1);
                }
                for call in waiting {
                    // By position, so that the order of answering decides nothing.
                    let place = answer_for(&call.position, answers.len());
                    let taken = machine.answer(&call.position, Ok(answers[place].clone()));
                    taken.expect("the call waits");
                    calls.insert(call.position.clone(), call.key_text());
                }
            }
        }
    };
    Some((
        end,
        calls.into_values().collect(),
        machine.take_events().len(),
    ))
}

fn answer_for(position: &Position, count: usize) -> usize {
    position.to_string().bytes().map(usize::from).sum::<usize>() % count
}
