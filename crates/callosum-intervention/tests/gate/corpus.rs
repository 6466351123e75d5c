//! The corpus of known messages: only its sentences are similar enough, and an operator without it falls back.

use callosum_intervention::{
    operator::{Context, InterventionType, Operator, Templates, Verb},
    voice::{Corpus, CorpusMessage, Gate, GateFacts},
};

use super::{EVENT, check_under};

/// CAKE-VOICE-1: of all verbs and words, only those of the corpus are similar enough, at their position.
#[test]
fn only_sentences_of_the_corpus_are_similar_enough() {
    let known: Vec<String> = Gate::built_in()
        .unwrap()
        .corpus()
        .messages()
        .iter()
        .map(|found| found.text.clone())
        .collect();
    let mut passed = 0;
    for verb in Verb::ALL {
        for word in callosum_intervention::operator::message::WORDS {
            if matches!(verb, Verb::Run | Verb::Try)
                && matches!(word, "coverage report" | "git status")
            {
                continue; // These are commands.
            }
            let sentence = format!("{} {word}.", verb.word());
            for (is_known, text) in [
                (
                    known
                        .iter()
                        .any(|text| text.contains(&format!("Stop. {sentence}"))),
                    format!("Operator (CAKE): Stop. {sentence} See src/cart.rs."),
                ),
                (
                    known
                        .iter()
                        .any(|text| text.ends_with(&format!(" {sentence}"))),
                    format!("Operator (CAKE): Stop. Check src/cart.rs. {sentence}"),
                ),
            ] {
                let found = check_under(Some(EVENT), &text);
                assert_eq!(found.passed, is_known, "{text}: {found:?}");
                passed += usize::from(found.passed);
            }
        }
    }
    assert!(passed > 40, "{passed}");
}

/// CAKE-OP-1, CAKE-OP-2: after at most three attempts comes the safe default, and then a system error.
#[test]
fn a_corpus_without_the_templates_leads_to_the_default_and_then_to_an_error() {
    let build = |texts: &[&str]| {
        let messages = texts
            .iter()
            .map(|text| CorpusMessage {
                text: (*text).to_owned(),
                context: "any".to_owned(),
                success_rate: None,
                embedding: Vec::new(),
            })
            .collect();
        let corpus = Corpus::from_messages("test", messages).unwrap();
        let operator = Operator::new(Templates::built_in().unwrap(), Gate::new(corpus));
        let mut context = Context::from_json(
            r#"{"error_type": "KeyError", "file_path": "src/cart.rs", "line_number": 42}"#,
        )
        .unwrap();
        context.suggested_fix = Some("cargo check".to_owned());
        let surroundings = GateFacts {
            allows: &|_| true,
            exists: &|_| true,
            declares: &|_| false,
            event: None,
        };
        operator.build_message(&context, &surroundings).unwrap()
    };
    let default = "Operator (CAKE): Stop. Run tests. See output.";
    let found = build(&[default]);
    assert_eq!(found.kind, InterventionType::SafeDefault);
    assert_eq!(found.message.as_deref(), Some(default));
    assert_eq!(found.attempts, 4);

    let found = build(&["Operator (CAKE): Stop. Try git stash. Check python version."]);
    assert_eq!(
        (found.kind, found.message.as_deref()),
        (InterventionType::SystemError, None)
    );
    assert!(!found.verdict.passed && found.verdict.reason.contains("imilarity"));
    let written = serde_json::to_value(&found).unwrap();
    assert_eq!(written["kind"], "SYSTEM_ERROR");

    let found = build(&[
        "Operator (CAKE): Stop. Run pytest. See stack trace.",
        "Operator (CAKE): Stop. Fix KeyError. See output.",
    ]);
    assert_eq!(found.kind, InterventionType::Message);
    assert!(found.attempts > 1, "{found:?}");
}
