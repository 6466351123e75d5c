//! The form of a message: its sentences, verbs, punctuation and forbidden words.

use super::{EVENT, check_under};

/// CAKE-VOICE-1: texts in another form are refused.
#[test]
fn malformed_messages_fail() {
    for text in [
        "",
        " ",
        ".",
        "Operator (CAKE):",
        "Operator (CAKE): Stop.",
        "Operator (CAKE): Stop. ",
        "Operator (CAKE): Stop. Run tests.",
        "Operator (CAKE): Stop. . .",
        "Operator (CAKE): Stop. Run . See .",
        "Operator (CAKE): Stop. Run. See.",
        "Operator (CAKE): Stop. Run  tests. See output.",
        "Operator (CAKE):  Stop. Run tests. See output.",
        "Operator (CAKE):Stop. Run tests. See output.",
        "Operator (CAKE) Stop. Run tests. See output.",
        "Operator: Stop. Run tests. See output.",
        "operator (cake): stop. run tests. see output.",
        "operator (CAKE): Stop. Run tests. See output.",
        "OPERATOR (CAKE): Stop. Run tests. See output.",
        " Operator (CAKE): Stop. Run tests. See output.",
        "Operator (CAKE): Stop. Run tests. See output. ",
        "Operator (CAKE): Stop. Run tests. See output.\n",
        "Operator (CAKE): Stop.\nRun tests. See output.",
        "Operator (CAKE): Stop.\tRun tests. See output.",
        "Operator (CAKE): Stop. Run\u{a0}tests. See output.",
        "Operator (CAKE): Stop. Run tests\u{200b}. See output.",
        "\u{feff}Operator (CAKE): Stop. Run tests. See output.",
        "Operat\u{43e}r (CAKE): Stop. Run tests. See output.",
        "Operator (\u{421}AKE): Stop. Run tests. See output.",
        "Operator (CAKE)\u{ff1a} Stop. Run tests. See output.",
        "Operator (CAKE): St\u{43e}p. Run tests. See output.",
        "Operator (CAKE): Stop. R\u{443}n tests. See output.",
        "Operator (CAKE): Stop. Run tests. See \u{43e}utput.",
        "Operator (CAKE): Stop. Run tests\u{3002} See output.",
        "Operator (CAKE): Stop. Run tests. See output",
        "Operator (CAKE): Stop. Run tests. See output!",
        "Operator (CAKE): Stop! Run tests. See output.",
        "Operator (CAKE): Stop, run tests. See output.",
        "Operator (CAKE): Stop. Run tests, see output.",
        "Operator (CAKE): Stop. Run tests; see output.",
        "Operator (CAKE): Stop. Run tests. See output?",
        "Operator (CAKE): Stop. Run tests. See output...",
        "Operator (CAKE): Stop. Run tests.See output.",
        "Operator (CAKE): Stop. Run tests. See output. Fix imports.",
        "Operator (CAKE): Stop. Run tests. See output. Stop.",
        "Operator (CAKE): Stop. Stop. Run tests. See output.",
        "Operator (CAKE): Run tests. See output.",
        "Operator (CAKE): STOP. Run tests. See output.",
        "Operator (CAKE): stop. Run tests. See output.",
        "Operator (CAKE): Halt. Run tests. See output.",
        "Operator (CAKE): Stop. run tests. See output.",
        "Operator (CAKE): Stop. RUN tests. See output.",
        "Operator (CAKE): Stop. Run tests. see output.",
        "Operator (CAKE): Stop. Running tests. See output.",
        "Operator (CAKE): Stop. Execute tests. See output.",
        "Operator (CAKE): Stop. Run tests. Review output.",
        "Operator (CAKE): Stop. Delete tests. See output.",
        "Operator (CAKE): Stop. See output. Run tests.",
        "Operator (CAKE): Stop. Run tests. Run tests.",
        "Operator (CAKE): Stop. See output. See output.",
        "Operator (CAKE): Stop. Run tests. See output. Operator (CAKE): Stop. Run tests. See output.",
        "\"Operator (CAKE): Stop. Run tests. See output.\"",
        "`Operator (CAKE): Stop. Run tests. See output.`",
        "**Operator (CAKE):** Stop. Run tests. See output.",
        "Note: Operator (CAKE): Stop. Run tests. See output.",
        "Operator (CAKE): Stop. Run tests. See output.\u{1b}[0m",
        "Operator (CAKE): Stop. Run tests. See output. \u{1f642}",
        "Operator (CAKE): Stop. Run the tests again. See output.",
        "Operator (CAKE): Stop. Run tests now. See output.",
        "Operator (CAKE): Stop. Run tests. See the output carefully.",
        "Operator (CAKE): Stop. {action}. {reference}.",
        "Operator (CAKE): Stop. Run {command}. See {file}.",
        "Operator (CAKE): Stop. Run COMMAND. See FILE.",
        "Operator (CAKE): Stop. Run None. See None.",
        "Operator (CAKE): Stop. Run nothing. See nothing.",
    ] {
        for event in [None, Some(EVENT)] {
            let found = check_under(event, text);
            assert!(!found.passed, "{text:?}: {found:?}");
            assert!(!found.reason.is_empty() && found.reason != "Valid");
        }
    }
}

/// CAKE-VOICE-1: forbidden words are refused, and the verdict names their kind.
#[test]
fn forbidden_words_fail_and_are_named() {
    for (text, reason) in [
        (
            "Operator (CAKE): Stop. Please run tests. See output.",
            "politeness",
        ),
        (
            "Operator (CAKE): Stop. Run tests please. See output.",
            "politeness",
        ),
        ("Operator (CAKE): Sorry. Run tests. See output.", "apology"),
        (
            "Operator (CAKE): Stop. Sorry, run tests. See output.",
            "apology",
        ),
        (
            "Operator (CAKE): Stop. Run tests. See output, sorry.",
            "apology",
        ),
        (
            "Operator (CAKE): Stop. Maybe run tests. See output.",
            "uncertainty",
        ),
        (
            "Operator (CAKE): Stop. You should run tests. See output.",
            "uncertainty",
        ),
        (
            "Operator (CAKE): Stop. Run tests because they fail. See output.",
            "explanation",
        ),
        (
            "Operator (CAKE): Stop. Run tests so they pass. See output.",
            "explanation",
        ),
        ("Operator (CAKE): Stop. I run tests. See output.", "chatter"),
        ("Unfortunately, the tests failed.", "apology"),
    ] {
        let found = check_under(None, text);
        assert!(
            !found.passed && found.reason.to_lowercase().contains(reason),
            "{text}: {found:?}"
        );
    }
}

/// CAKE-VOICE-1: no change of one letter of a valid message passes.
#[test]
fn a_changed_letter_is_refused() {
    let valid = "Operator (CAKE): Stop. Fix syntax error line 42. See src/cart.rs.";
    let letters: Vec<char> = valid.chars().collect();
    let others = ". :/-_;|&$`'\"(){}[]<>*~!?,\n\t\u{0}\u{a0}\u{200b}\u{202e}\u{43e}aSs0142";
    for place in 0..=letters.len() {
        let mut changed = vec![];
        if place < letters.len() {
            let mut without = letters.clone();
            without.remove(place);
            changed.push(without);
        }
        for other in others.chars() {
            let mut with = letters.clone();
            with.insert(place, other);
            changed.push(with);
            if place < letters.len() {
                let mut instead = letters.clone();
                instead[place] = other;
                changed.push(instead);
            }
        }
        for text in changed.into_iter().map(String::from_iter) {
            let found = check_under(Some(EVENT), &text);
            assert_eq!(found.passed, text == valid, "{text:?}");
        }
    }
}
