//! Plans that models propose: those that are accepted, and every reason for a rejection.

use std::{collections::BTreeMap, sync::Arc};

use callosum_plan::{
    AcceptedPlan, Allowlist, Library, Limits, Machine, Outcome, ProposalRequest, Rejection,
    Unbounded, Value, accept,
};
use serde_json::{Value as Json, json};

fn request() -> ProposalRequest {
    ProposalRequest {
        allowed: Allowlist::parse(&[":nlp/*", ":storage.read"]).unwrap(),
        max_yields: 5,
        unbounded: Unbounded::BoundWhenRun,
        parameters: vec!["reviews".to_owned()],
        library: Library::standard(),
    }
}

fn taken(proposal: &Json) -> AcceptedPlan {
    match accept(&proposal.to_string(), &request()) {
        Ok(accepted) => accepted,
        Err(rejections) => panic!("{rejections:?}"),
    }
}

fn refused(proposal: &Json) -> Vec<Rejection> {
    match accept(&proposal.to_string(), &request()) {
        Ok(accepted) => panic!("taken: {}", accepted.source),
        Err(rejections) => rejections,
    }
}

fn only(proposal: &Json) -> (String, &'static str) {
    let rejections = refused(proposal);
    assert_eq!(rejections.len(), 1, "{rejections:?}");
    (rejections[0].path.clone(), rejections[0].rule)
}

fn with_steps(steps: Json) -> Json {
    json!({"version": "1.0", "steps": steps, "constraints": {"caps": [":nlp/*"], "max_yields": 3}})
}

fn with_source(source: &str) -> Json {
    json!({"version": "1.0", "plan_source": source, "constraints": {"caps": [":nlp/*"], "max_yields": 3}})
}

/// CCOS-LLM-2: the seed's own example of an answer, as it is written there.
#[test]
fn the_seeds_own_answer_is_taken_as_it_is_written() {
    let json = r#"{
  "version": "1.0",
  "plan_source": "(defplan analyze (reviews) (let [sents (call :nlp.sentiment reviews)] (pure (summarize sents))))",
  "constraints": {"caps": [":nlp/*"], "max_yields": 3},
  "rationale": "Use single batch sentiment, then summarize"
}"#;
    let accepted = accept(json, &request()).ok().unwrap();
    assert_eq!(accepted.program.plan(), Some("analyze"));
    let input = BTreeMap::from([("reviews".to_owned(), Value::read("[\"a\"]").unwrap())]);
    let program = Arc::new(accepted.program);
    let mut machine = Machine::start(program, &input, Limits::default()).unwrap();
    let Outcome::Yield(waiting) = machine.run() else {
        panic!("it calls nothing");
    };
    assert_eq!(waiting[0].key_text(), "0 :nlp.sentiment [\"a\"]");
    let answer = Value::read("[0.5 1.5]").unwrap();
    machine.answer(&waiting[0].position, Ok(answer)).unwrap();
    let Outcome::Complete(value) = machine.run() else {
        panic!("it fails");
    };
    assert_eq!(value.to_string(), "{:count 2 :max 1.5 :mean 1.0 :min 0.5}");
}

/// CCOS-LLM-2: steps become one plan, built as a tree; its text reads as that tree.
#[test]
fn steps_become_one_plan() {
    let accepted = taken(&with_steps(json!([
        {"step_id": "s1", "purpose": "count", "rtfs_pure": "(count reviews)"},
        {"step_id": "s2", "purpose": "ask", "yields": [{"cap": ":nlp/sentiment", "args": [
            {"top": 3, "in": [{"max-tokens": 1, "page_id": 2}], "a b": null, "_x": 0, "7": 0}, "x", 1.5]}]},
    ])));
    assert_eq!(
        accepted.source,
        "(defplan <auto> (reviews) (step :s1 {:metadata {:purpose \"count\"}} (pure (count reviews))) \
         (step :s2 {:metadata {:purpose \"ask\"}} (call :nlp.sentiment {:in [{:max-tokens 1 :page_id 2}] :top 3 \"7\" 0 \"_x\" 0 \"a b\" nil} \
         \"x\" 1.5)))"
    );
    let steps: Vec<&str> = accepted
        .program
        .steps()
        .iter()
        .map(|step| &*step.id)
        .collect();
    assert_eq!(steps, ["s1", "s2"]);
}

/// CCOS-LLM-2: what is shown of a plan that was built of steps is what it is: no source hides anything, and data is
/// written with what it holds.
#[test]
fn hidden_characters_are_refused_in_source_and_shown_in_data() {
    for hidden in ['\u{202e}', '\u{0}', '\u{2028}'] {
        let snippet = format!("\"{hidden}\"");
        let step = json!({"step_id": "s", "purpose": "", "rtfs_pure": snippet});
        let (path, rule) = only(&with_steps(json!([step])));
        assert_eq!(
            (path.as_str(), rule),
            ("/steps/0/rtfs_pure", "hidden-characters")
        );
        let text = hidden.to_string();
        for step in [
            json!({"step_id": "s", "purpose": text, "rtfs_pure": "1"}),
            json!({"step_id": "s", "purpose": "", "yields": [{"cap": ":nlp.a", "args": [text]}]}),
        ] {
            let source = taken(&with_steps(json!([step]))).source;
            let shown = hidden.escape_unicode().to_string();
            assert!(
                source.contains(&shown) && !source.contains(hidden),
                "{source}"
            );
        }
    }
}

/// CCOS-LLM-2: no quoting in names, purposes or arguments becomes code.
#[test]
fn quoting_never_becomes_code() {
    let trick = "x\") (call :shell.run \"rm\") (step :y \"";
    let accepted = taken(&with_steps(json!([
        {"step_id": "s1", "purpose": trick, "yields": [{"cap": ":nlp.a", "args": [trick, "(call :shell.run)", ":kw"]}]},
    ])));
    let caps: Vec<String> = accepted
        .program
        .capabilities()
        .map(ToString::to_string)
        .collect();
    assert_eq!(caps, ["nlp.a"]);
    for id in [
        "s1) (call :shell.run)",
        "",
        ":a",
        "a b",
        "a\"b",
        "a/b",
        "-a",
        &"a".repeat(65),
        "é",
    ] {
        let proposal = with_steps(json!([{"step_id": id, "purpose": "", "rtfs_pure": "1"}]));
        assert_eq!(
            only(&proposal),
            ("/steps/0/step_id".to_owned(), "step-id"),
            "{id}"
        );
    }
    for snippet in [
        "1) (call :nlp.a",
        "1 2",
        "",
        "(call :nlp.a)",
        "(:chain.query :a 1)",
        "(def x 1)",
    ] {
        let proposal = with_steps(json!([{"step_id": "s", "purpose": "", "rtfs_pure": snippet}]));
        let path = &refused(&proposal)[0].path;
        assert_eq!(path, "/steps/0/rtfs_pure", "{snippet}");
    }
}

/// CCOS-LLM-2: a plan may ask for less than it was allowed, and never for more.
#[test]
fn constraints_may_narrow_and_never_widen() {
    let asks = |caps: Json, yields: u64| {
        json!({"version": "1.0", "plan_source": "(defplan p () 1)",
               "constraints": {"caps": caps, "max_yields": yields}})
    };
    taken(&asks(json!([":nlp.sentiment"]), 0));
    taken(&asks(json!([]), 5));
    let at = |path: &str| (path.to_owned(), "wider-than-allowed");
    assert_eq!(
        only(&asks(json!([":nlp/*", "*"]), 1)),
        at("/constraints/caps/1")
    );
    assert_eq!(
        only(&asks(json!([":storage/*"]), 1)),
        at("/constraints/caps/0")
    );
    assert_eq!(only(&asks(json!([]), 6)), at("/constraints/max_yields"));
    let bad = only(&asks(json!(["nlp sentiment"]), 1));
    assert_eq!(bad.1, "malformed-capability");
    // What it asked for is what it is held to, though more was allowed.
    let more = only(&with_source("(defplan p () (call :storage.read))"));
    assert_eq!(more.1, "capability-not-allowed");
    let often = only(&with_source(
        "(defplan p () [(call :nlp.a) (call :nlp.a) (call :nlp.a) (call :nlp.a)])",
    ));
    assert_eq!(often.1, "too-many-yields");
}

/// CCOS-LLM-2: every rejection says where and why.
#[test]
fn every_rejection_says_where_and_why() {
    for (proposal, path, rule) in [
        (
            json!({"version": "2.0", "plan_source": "(defplan p () 1)", "constraints": {"caps": [], "max_yields": 0}}),
            "/version",
            "version",
        ),
        (
            json!({"version": "1.0", "constraints": {"caps": [], "max_yields": 0}}),
            "",
            "not-one-body",
        ),
        (
            json!({"version": "1.0", "plan_source": "1", "steps": [], "constraints": {"caps": [], "max_yields": 0}}),
            "",
            "not-one-body",
        ),
        (
            json!({"version": "1.0", "plan_source": "1"}),
            "",
            "json-shape",
        ),
        (
            json!({"version": "1.0", "plan_source": "1", "constraints": {"caps": [], "max_yields": -1}}),
            "",
            "json-shape",
        ),
        (
            json!({"version": "1.0", "plan_source": "1", "extra": 1, "constraints": {"caps": [], "max_yields": 0}}),
            "",
            "json-shape",
        ),
        (with_steps(json!([])), "/steps", "not-one-body"),
        (
            with_steps(json!([{"step_id": "a", "purpose": ""}])),
            "/steps/0",
            "not-one-body",
        ),
        (
            with_steps(
                json!([{"step_id": "a", "purpose": "", "yields": [{"cap": ":fs.read", "args": []}]}]),
            ),
            "/steps/0/yields/0/cap",
            "capability-not-allowed",
        ),
        (
            with_steps(
                json!([{"step_id": "a", "purpose": "", "yields": [{"cap": ":nlp//a", "args": []}]}]),
            ),
            "/steps/0/yields/0/cap",
            "malformed-capability",
        ),
        (
            with_steps(
                json!([{"step_id": "a", "purpose": "", "yields": [{"cap": ":nlp.a", "args": [u64::MAX]}]}]),
            ),
            "/steps/0/yields/0/args/0",
            "json-shape",
        ),
        (
            with_source("(defplan p () (let [c :nlp.a] (call c)))"),
            "/plan_source",
            "computed-capability",
        ),
        (
            with_source("(defplan p () (launch))"),
            "/plan_source",
            "undefined-symbol",
        ),
        (with_source("(+ 1 2)"), "/plan_source", "not-one-plan"),
        (with_source("(defplan p () 1"), "/plan_source", "syntax"),
    ] {
        let rejections = refused(&proposal);
        assert_eq!(
            (&*rejections[0].path, rejections[0].rule),
            (path, rule),
            "{proposal}"
        );
    }
    // No form is reported twice, nor with a hint to move it into what is not there.
    for source in ["(+ 1 2)", "(def x 1) (+ x 1)", "(defplan p () 1) 5"] {
        let rejections = refused(&with_source(source));
        assert_eq!(rejections.len(), 1, "{source}: {rejections:?}");
    }
    for (json, words) in [
        ("[]", "expected an object, a plan"),
        (
            r#"{"version": "1.0", "steps": [{"step_id": "a", "purpose": "", "yields": [{"cap": ":nlp.a", "args":
                [{"a": 1, "a": 2}]}]}]}"#,
            "duplicate key `a`",
        ),
        (
            r#"{"version": "1.0", "constraints": {"caps": [], "max_yields": "3"}}"#,
            "expected a whole number, 0 or more",
        ),
    ] {
        let rejections = accept(json, &request()).err().unwrap();
        assert!(rejections[0].message.contains(words), "{}", rejections[0]);
    }
    let broken = accept("{\"version\": ", &request()).err().unwrap();
    assert_eq!(broken[0].rule, "json-shape");
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let deep = format!("{{\"version\": \"1.0\", \"x\": {deep}}}");
    assert_eq!(
        accept(&deep, &request()).err().unwrap()[0].rule,
        "json-shape"
    );
    let nested: Json =
        serde_json::from_str(&format!("{}{}", "[".repeat(120), "]".repeat(120))).unwrap();
    let proposal = with_steps(
        json!([{"step_id": "a", "purpose": "", "yields": [{"cap": ":nlp.a", "args": [nested]}]}]),
    );
    taken(&proposal);
}
