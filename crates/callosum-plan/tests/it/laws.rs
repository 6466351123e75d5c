//! Laws of the language that hold for any program, over generated and mutated ones.
//!
//! `PROPTEST_CASES=100000 cargo test -p callosum-plan --test it -- laws` goes on for longer.

use std::{collections::BTreeMap, sync::Arc};

use callosum_plan::{
    Allowlist, CompileOptions, Form, FormKind, Library, Limits, Machine, Outcome, Position,
    ProposalRequest, Unbounded, Value, accept, compile, read, read_one,
};
use proptest::{
    prelude::{Just, Strategy, any, prop, prop_oneof},
    prop_assert, prop_assert_eq, proptest, sample,
};

fn atom() -> impl Strategy<Value = FormKind> {
    prop_oneof![
        Just(FormKind::Nil),
        any::<bool>().prop_map(FormKind::Boolean),
        any::<i64>().prop_map(FormKind::Integer),
        any::<f64>().prop_map(FormKind::Float),
        any::<String>().prop_map(|text| FormKind::Text(text.into())),
        "[a-z0-9][a-z0-9./*-]{0,8}".prop_map(|name| FormKind::Keyword(name.into())),
        "s[a-zA-Z0-9_$+*/=<>!?%.@-]{0,8}".prop_map(|name| FormKind::Symbol(name.into())),
        Just(FormKind::Symbol("&".into())),
        Just(FormKind::Symbol(":".into())),
    ]
}

fn form() -> impl Strategy<Value = Form> {
    let leaf = atom().prop_map(Form::built);
    leaf.prop_recursive(5, 40, 6, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..6);
        prop_oneof![
            items.clone().prop_map(FormKind::Vector),
            items.prop_map(FormKind::List),
            prop::collection::vec((inner.clone(), inner), 0..4).prop_map(FormKind::Map),
        ]
        .prop_map(Form::built)
    })
}

/// Programs that use every form, from which others are made by changes of their text.
const SAMPLES: [&str; 14] = [
    "(defplan analyze (reviews) (let [sents (call :nlp.sentiment reviews)] (pure (summarize sents))))",
    "(let [[a & r] [1 2 3] {:keys [b] :as m} {:b 2}] (+ a b (count r) (count m)))",
    "(defn f [n : Int] : Int (if (< n 2) 1 (* n (f (dec n))))) (f 5)",
    "(match [1 {:k :v}] [1 {:k x}] x (:as all [a b]) when (> a 1) all _ nil)",
    "(try (/ 1 (call :a)) (catch :DivisionByZero e (:message e)) (catch e 2) (finally (call :b)))",
    "(for [x [1 2 3] y (range x)] (call :a {:x x \"y\" [y]}))",
    "(step :s {:timeout-ms 5 :retries {:max 2 :backoff-ms 1} :on-fail :retry} (map (fn [x] (call :a x)) [1 2]))",
    "(step-parallel (call :a) (do (call :b) (call :c)) (step-parallel (call :d) 1) :merge-policy :merge)",
    "(reduce (fn [m [k v]] (update m k (fn [o] (+ (or o 0) v)))) {} [[:a 1] [:b 2] [:a 3]])",
    "(step-loop (and true (not (call :done))) (dotimes [i 2] (checkpoint :c)))",
    "(:capability.query :kind :agent :skills [\"x\"] :trust-tier 3)",
    "(let [even (fn [n] (or (= n 0) (odd (- n 1)))) odd (fn [n] (and (not= n 0) (even (- n 1))))] (even 9))",
    "(do (def x : [:vector [:union Int nil]] [1 nil]) (defn g [& xs] (apply + xs)) (g 1 2)) ; end\n#| more |#",
    "[(str \"a\\n\" 1.5 ##Inf) (sort-by :n [{:n 2} {:n 1}]) (re-seq \"[a-c]+\" \"abcab\") (parse-json \"[1]\")]",
];

/// One change of a text: cut, double, put something in, take from another sample.
#[derive(Clone, Debug)]
struct Change {
    kind: u8,
    at: sample::Index,
    length: usize,
    other: usize,
    piece: &'static str,
}

fn change() -> impl Strategy<Value = Change> {
    let pieces = sample::select(vec![
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "\\",
        "&",
        ":",
        " : ",
        "call",
        "pure",
        "fn",
        "let",
        "nil",
        "9223372036854775807",
        "##NaN",
        ":as",
        "_",
        "(call :x)",
        "(f f)",
        "#|",
        ";",
        "\u{e9}",
        "defn f []",
        "step",
        "(catch e e)",
        "(range 99)",
        "when",
        ":keys",
        "1.5e300",
        "x",
        "recur",
        "% ",
    ]);
    (
        0..4_u8,
        any::<sample::Index>(),
        1..30_usize,
        0..SAMPLES.len(),
        pieces,
    )
        .prop_map(|(kind, at, length, other, piece)| Change {
            kind,
            at,
            length,
            other,
            piece,
        })
}

fn mutated() -> impl Strategy<Value = String> {
    (0..SAMPLES.len(), prop::collection::vec(change(), 0..6)).prop_map(|(sample, changes)| {
        let mut text: Vec<char> = SAMPLES[sample].chars().collect();
        for change in changes {
            let at = change.at.index(text.len() + 1);
            let end = (at + change.length).min(text.len());
            match change.kind {
                0 => drop(text.drain(at..end)),
                1 => {
                    let part: Vec<char> = text[at..end].to_vec();
                    drop(text.splice(at..at, part));
                }
                2 => drop(text.splice(at..at, change.piece.chars())),
                _ => {
                    let other: Vec<char> = SAMPLES[change.other].chars().collect();
                    let from = change.at.index(other.len());
                    let to = (from + change.length).min(other.len());
                    drop(text.splice(at..at, other[from..to].to_vec()));
                }
            }
        }
        text.into_iter().collect()
    })
}

/// What came of a run: its end, its calls, what was said of steps.
type Run = (String, Vec<String>, usize);

/// Runs a program whose calls are answered by `answers` in turn; the last first where `reversed`.
fn end_of(source: &str, answers: &[Value], reversed: bool) -> Option<Run> {
    let program = Arc::new(compile(source, &CompileOptions::default()).ok()?);
    let input: BTreeMap<String, Value> = program
        .parameters()
        .iter()
        .map(|parameter| (parameter.name().to_owned(), Value::Integer(3)))
        .collect();
    let limits = Limits {
        fuel: 100_000,
        memory: 4 << 20,
        yields: 50,
        turns: 20,
        value: 1 << 16,
    };
    let mut machine = Machine::start(program, &input, limits).ok()?;
    let mut calls = BTreeMap::new();
    let end = loop {
        match machine.run() {
            Outcome::Complete(value) => break value.to_string(),
            Outcome::Failed(failure) => break failure.to_string(),
            Outcome::Yield(mut waiting) => {
                if reversed {
                    waiting.reverse();
                    waiting.truncate(1);
                }
                for call in waiting {
                    // By position, so that the order of answering decides nothing.
                    let place = answer_for(&call.position, answers.len());
                    machine
                        .answer(&call.position, Ok(answers[place].clone()))
                        .unwrap();
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

fn data() -> impl Strategy<Value = Value> {
    sample::select(vec![
        "1", "nil", "true", "[1 2]", "{:a 1}", "\"x\"", "0", "-2.5", ":k",
    ])
    .prop_map(|text| Value::read(text).unwrap())
}

/// What stands for a form in [`with_one_form_changed`]; beside it, each is left out once.
const STAND_INS: [&str; 15] = [
    "()",
    "[]",
    "{}",
    "nil",
    "1",
    "\"\"",
    ":k",
    ":",
    "&",
    "x",
    "(())",
    "(catch)",
    "(finally)",
    "{1 ()}",
    "(call)",
];

/// Every program that a sample is one form away from: each form in it left out, or another in its place.
fn with_one_form_changed(forms: &[Form], into: &mut Vec<Vec<Form>>) {
    for (index, form) in forms.iter().enumerate() {
        let mut put = |kinds: &[Form]| {
            let mut changed = forms.to_vec();
            changed.splice(index..=index, kinds.to_vec());
            into.push(changed);
        };
        put(&[]);
        for stand_in in STAND_INS {
            put(&[read_one(stand_in).unwrap()]);
        }
        let inner = match &form.kind {
            FormKind::List(items) | FormKind::Vector(items) => items.clone(),
            FormKind::Map(entries) => entries
                .iter()
                .flat_map(|(key, value)| [key.clone(), value.clone()])
                .collect(),
            _ => continue,
        };
        let mut changes = Vec::new();
        with_one_form_changed(&inner, &mut changes);
        for items in changes {
            let kind = match &form.kind {
                FormKind::List(_) => FormKind::List(items),
                FormKind::Vector(_) => FormKind::Vector(items),
                // A form left out of a map leaves a key without a value, which is no form.
                _ if items.len() % 2 == 1 => continue,
                _ => FormKind::Map(
                    items
                        .chunks(2)
                        .map(|entry| (entry[0].clone(), entry[1].clone()))
                        .collect(),
                ),
            };
            put(&[Form::built(kind)]);
        }
    }
}

/// CCOS-RTFS-1: a program with any one of its forms gone, or another in its place, is refused or ends.
#[test]
fn a_program_with_any_one_form_changed_is_refused_or_ends() {
    let answers = [Value::Integer(1), Value::Nil];
    let mut programs = Vec::new();
    for sample in SAMPLES {
        with_one_form_changed(&read(sample).unwrap(), &mut programs);
    }
    let (mut refused, mut ended) = (0, 0);
    for forms in &programs {
        let source: Vec<String> = forms.iter().map(ToString::to_string).collect();
        match end_of(&source.join(" "), &answers, false) {
            Some(_) => ended += 1,
            None => refused += 1,
        }
    }
    assert!(refused > 1000 && ended > 1000, "{refused}, {ended}");
}

proptest! {
    /// CCOS-RTFS-1: what is printed reads as what was printed, and prints as itself.
    #[test]
    fn printed_forms_read_as_themselves(form in form()) {
        let printed = form.to_string();
        let read = read_one(&printed).unwrap();
        prop_assert_eq!(&read, &form);
        prop_assert_eq!(read.to_string(), printed);
    }

    #[test]
    fn no_text_makes_the_reader_fail_otherwise_than_by_an_error(text in any::<String>()) {
        if let Err(error) = read(&text) {
            let range = error.span.range();
            prop_assert!(text.get(range.clone()).is_some(), "{:?}", range);
        }
    }

    /// CCOS-RTFS-1: whatever the source, it is refused with findings that lie in it, or it runs to an
    /// end within its bounds.
    #[test]
    fn any_source_is_refused_or_ends(source in mutated(), answers in prop::collection::vec(data(), 1..5)) {
        match compile(&source, &CompileOptions::default()) {
            Err(findings) => {
                prop_assert!(!findings.is_empty());
                for finding in findings {
                    prop_assert!(source.get(finding.span.range()).is_some(), "{:?}", finding);
                    let shown = finding.render(&source, "x", callosum_plan::Colours::Plain);
                    prop_assert!(!shown.is_empty());
                }
            }
            Ok(_) => {
                end_of(&source, &answers, false);
            }
        }
    }

    /// CCOS-RTFS-2: a run is decided by program, input and answers: again the same, and the same in
    /// whatever order branches are answered.
    #[test]
    fn a_run_repeated_is_the_same_run(source in mutated(), answers in prop::collection::vec(data(), 1..5)) {
        let first = end_of(&source, &answers, false);
        prop_assert_eq!(&end_of(&source, &answers, false), &first);
        let reversed = end_of(&source, &answers, true);
        // Where a bound is reached, what was done until then depends on the order.
        let bounded = |run: &Option<Run>| run.as_ref().is_some_and(|(end, ..)| end.starts_with("BudgetExhausted"));
        if !bounded(&first) && !bounded(&reversed) {
            prop_assert_eq!(&reversed, &first);
        }
    }

    /// CCOS-RTFS-1: no run makes more calls than were counted before it.
    #[test]
    fn no_run_makes_more_calls_than_were_counted(source in mutated(), answers in prop::collection::vec(data(), 1..5)) {
        if let Ok(program) = compile(&source, &CompileOptions::default())
            && let callosum_plan::YieldBound::AtMost(most) = program.yields()
            && let Some((_, calls, _)) = end_of(&source, &answers, false)
        {
            prop_assert!(calls.len() as u64 <= most, "{} calls, {} counted", calls.len(), most);
        }
    }

    /// CCOS-LLM-2: whatever a model hands in, what is taken is within what was allowed.
    #[test]
    fn what_is_taken_of_a_model_is_within_what_was_allowed(
        source in mutated(),
        snippet in mutated(),
        id in "[a-z\" ()]{0,4}",
        cap in sample::select(vec![":nlp.sentiment", "nlp/x", ":a", "a b", ":nlp", "*", ":nlp/*"]),
        whole in any::<bool>(),
        cut in any::<sample::Index>(),
    ) {
        let constraints = serde_json::json!({"caps": [cap], "max_yields": 3});
        let proposal = if whole {
            serde_json::json!({"version": "1.0", "plan_source": source, "constraints": constraints})
        } else {
            let call = serde_json::json!({"cap": cap, "args": [source, {"k": [1.5, null]}]});
            let step = serde_json::json!({"step_id": id, "purpose": source, "rtfs_pure": snippet, "yields": [call]});
            let bare = serde_json::json!({"step_id": "b", "purpose": source, "yields": [call]});
            serde_json::json!({"version": "1.0", "steps": [step, bare], "constraints": constraints})
        };
        let allowed = Allowlist::parse(&[":nlp/*"]).unwrap();
        let request = ProposalRequest {
            allowed: allowed.clone(),
            max_yields: 4,
            unbounded: Unbounded::Refuse,
            parameters: vec!["input".to_owned()],
            library: Library::standard(),
        };
        let text = proposal.to_string();
        let part: String = text.chars().take(cut.index(text.chars().count() + 1)).collect();
        prop_assert!(part == text || accept(&part, &request).is_err());
        match accept(&text, &request) {
            Ok(accepted) => {
                prop_assert!(accepted.program.capabilities().all(|name| allowed.allows(name)));
                prop_assert!(compile(&accepted.source, &CompileOptions::default()).is_ok());
            }
            Err(rejections) => prop_assert!(!rejections.is_empty()),
        }
    }
}
