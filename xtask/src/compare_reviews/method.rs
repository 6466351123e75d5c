//! [`Method`]: who is asked about a bug, how often, and when to stop: one model, self-consistency, a federation.
//!
//! The functions decide and never perform: a closure asks the model. A question is asked only if its expected tokens
//! fit the budget, and an answer that used more than was left is dropped, so no method profits from tokens that
//! another does not have.

use std::collections::BTreeMap;

use callosum_citation::tokens;

use super::{
    question::{Answer, ROLES, question},
    vote::{decide, is_split},
};

/// Questions of self-consistency at most: as many as a federation asks with a debate.
pub(super) const SAMPLES: usize = 6;

/// Tokens that a question is expected to use beyond its prompt, until its model was asked once.
const OVERHEAD: u64 = 500;

/// A way to ask about a bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// One model, one answer.
    Single(String),
    /// One model, asked again and again; most answers decide.
    SelfConsistency(String),
    /// One reviewer for each role, over all models in turn, with one round of debate if they differ.
    Federation(Vec<String>),
}

/// What a model gave for one question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reply {
    /// The text, or why there is none.
    pub(super) text: Result<String, String>,
    /// Tokens of prompt and reply.
    pub(super) tokens: u64,
    /// US dollars.
    pub(super) cost_usd: f64,
    /// Milliseconds.
    pub(super) milliseconds: u64,
}

/// What a method came to on one bug, and what that used.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Attempt {
    /// The line that it named.
    pub(super) line: Option<usize>,
    /// Questions that were asked.
    pub(super) questions: usize,
    /// Of those, replies that could not be read as an answer.
    pub(super) unreadable: usize,
    /// Of those, answers that were dropped since they used more than was left.
    pub(super) dropped: usize,
    /// Whether a question was not asked since it would not have fit.
    pub(super) is_out_of_budget: bool,
    /// Tokens, US dollars and milliseconds of all questions.
    pub(super) tokens: u64,
    pub(super) cost_usd: f64,
    pub(super) milliseconds: u64,
    /// Why questions failed.
    pub(super) failures: Vec<String>,
}

/// How many tokens each model has used at most beyond an estimate of the prompt: its own instructions, its reasoning,
/// its reply.
pub(super) type Overheads = BTreeMap<String, u64>;

/// Asks about one bug within a budget.
struct Inquiry<'a, A> {
    file: &'a str,
    text: &'a str,
    budget: u64,
    overheads: &'a mut Overheads,
    ask: &'a mut A,
    attempt: Attempt,
}

impl Method {
    /// Returns its word.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Single(_) => "single",
            Self::SelfConsistency(_) => "self-consistency",
            Self::Federation(_) => "federation",
        }
    }

    /// Returns the models that it asks.
    pub(super) fn models(&self) -> &[String] {
        match self {
            Self::Single(model) | Self::SelfConsistency(model) => std::slice::from_ref(model),
            Self::Federation(models) => models,
        }
    }

    /// Asks about a file with a bug. `ask` gets a model, a prompt and the tokens that are left.
    pub(super) fn attempt<A: FnMut(&str, &str, u64) -> Reply>(
        &self,
        (file, text): (&str, &str),
        budget: u64,
        overheads: &mut Overheads,
        ask: &mut A,
    ) -> Attempt {
        let mut inquiry = Inquiry {
            file,
            text,
            budget,
            overheads,
            ask,
            attempt: Attempt::default(),
        };
        let line = match self {
            Self::Single(model) => inquiry.sample(model, 1),
            Self::SelfConsistency(model) => inquiry.sample(model, SAMPLES),
            Self::Federation(models) => inquiry.federate(models),
        };
        Attempt {
            line,
            ..inquiry.attempt
        }
    }
}

impl<A: FnMut(&str, &str, u64) -> Reply> Inquiry<'_, A> {
    fn sample(&mut self, model: &str, samples: usize) -> Option<usize> {
        let mut lines = Vec::new();
        for _ in 0..samples {
            lines.extend(self.ask(model, None, &[]).map(|answer| answer.line));
            if self.attempt.is_out_of_budget {
                break;
            }
        }
        decide(&lines)
    }

    /// Asks each role once without the answers of the others, and once more with them if the answers differ. Who gives
    /// no second answer keeps the first.
    fn federate(&mut self, models: &[String]) -> Option<usize> {
        let seats: Vec<_> = ROLES.into_iter().zip(models.iter().cycle()).collect();
        let mut answers: Vec<Option<Answer>> = Vec::new();
        for (role, model) in &seats {
            answers.push(self.ask(model, Some(*role), &[]));
        }
        let lines = |answers: &[Option<Answer>]| -> Vec<Option<usize>> {
            answers.iter().flatten().map(|answer| answer.line).collect()
        };
        if is_split(&lines(&answers)) {
            let first = answers.clone();
            for (index, (role, model)) in seats.iter().enumerate() {
                let others: Vec<(&str, &Answer)> = seats
                    .iter()
                    .zip(&first)
                    .enumerate()
                    .filter(|(other, _)| *other != index)
                    .filter_map(|(_, ((role, _), answer))| Some((role.0, answer.as_ref()?)))
                    .collect();
                if let Some(answer) = self.ask(model, Some(*role), &others) {
                    answers[index] = Some(answer);
                }
            }
        }
        decide(&lines(&answers))
    }

    /// Asks one question if it fits. `None` if there is no answer that counts.
    fn ask(
        &mut self,
        model: &str,
        role: Option<(&str, &str)>,
        others: &[(&str, &Answer)],
    ) -> Option<Answer> {
        let prompt = question(self.file, self.text, role, others);
        let estimate = tokens::estimate(&prompt);
        let overhead = self.overheads.entry(model.to_owned()).or_insert(OVERHEAD);
        let left = self.budget.saturating_sub(self.attempt.tokens);
        if estimate + *overhead > left {
            self.attempt.is_out_of_budget = true;
            return None;
        }
        let reply = (self.ask)(model, &prompt, left);
        *overhead = (*overhead).max(reply.tokens.saturating_sub(estimate));
        self.attempt.questions += 1;
        self.attempt.tokens += reply.tokens;
        self.attempt.cost_usd += reply.cost_usd;
        self.attempt.milliseconds += reply.milliseconds;
        let text = match reply.text {
            Ok(text) => text,
            Err(why) => {
                self.attempt.failures.push(why);
                return None;
            }
        };
        if reply.tokens > left {
            self.attempt.dropped += 1;
            return None;
        }
        let answer = Answer::read(&text);
        self.attempt.unreadable += usize::from(answer.is_none());
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(line: usize, tokens: u64) -> Reply {
        Reply {
            text: Ok(format!("{{\"line\": {line}, \"reason\": \"r\"}}")),
            tokens,
            cost_usd: 0.5,
            milliseconds: 10,
        }
    }

    fn attempt(
        method: &Method,
        budget: u64,
        mut ask: impl FnMut(&str, &str, u64) -> Reply,
    ) -> Attempt {
        method.attempt(
            ("a.rs", "fn a() {}\n"),
            budget,
            &mut Overheads::new(),
            &mut ask,
        )
    }

    fn models() -> Vec<String> {
        ["one", "two"].map(str::to_owned).into()
    }

    #[test]
    fn one_model_is_asked_once() {
        let done = attempt(&Method::Single("one".to_owned()), 10_000, |_, _, left| {
            assert_eq!(left, 10_000);
            reply(3, 200)
        });
        let expected = Attempt {
            line: Some(3),
            questions: 1,
            tokens: 200,
            cost_usd: 0.5,
            milliseconds: 10,
            ..Attempt::default()
        };
        assert_eq!(done, expected);
    }

    #[test]
    fn samples_end_where_the_next_would_not_fit() {
        let method = Method::SelfConsistency("one".to_owned());
        let all = attempt(&method, 100_000, |_, _, _| reply(3, 1000));
        assert_eq!((all.questions, all.is_out_of_budget), (SAMPLES, false));
        // What a question used is what the next one is expected to use.
        let some = attempt(&method, 3500, |_, _, _| reply(3, 1000));
        assert_eq!((some.questions, some.tokens), (3, 3000));
        assert!(some.is_out_of_budget);
        let none = attempt(&method, 300, |_, _, _| reply(3, 1000));
        assert_eq!((none.questions, none.line), (0, None));
    }

    #[test]
    fn an_answer_above_the_budget_does_not_count() {
        let done = attempt(&Method::Single("one".to_owned()), 2000, |_, _, _| {
            reply(3, 2001)
        });
        assert_eq!((done.line, done.dropped, done.tokens), (None, 1, 2001));
    }

    #[test]
    fn a_federation_debates_only_if_it_differs() {
        let method = Method::Federation(models());
        let mut asked = Vec::new();
        let same = attempt(&method, 10_000, |model, _, _| {
            asked.push(model.to_owned());
            reply(3, 100)
        });
        assert_eq!((same.questions, same.line), (3, Some(3)));
        assert_eq!(asked, ["one", "two", "one"]);

        let mut seen = Vec::new();
        let split = attempt(&method, 10_000, |_, prompt, _| {
            let is_second = prompt.contains("disagree");
            seen.push(is_second);
            // The minority convinces the others.
            let line = if is_second || prompt.contains("Your role is logic") {
                40
            } else {
                3
            };
            reply(line, 100)
        });
        assert_eq!((split.questions, split.line), (6, Some(40)));
        assert_eq!(seen, [false, false, false, true, true, true]);
    }

    #[test]
    fn a_debate_that_does_not_fit_leaves_the_first_votes() {
        let method = Method::Federation(models());
        let done = attempt(&method, 3600, |_, prompt, _| {
            reply(
                if prompt.contains("Your role is logic") {
                    40
                } else {
                    3
                },
                1000,
            )
        });
        assert_eq!((done.questions, done.line), (3, Some(3)));
        assert!(done.is_out_of_budget && done.tokens <= 3600);
    }

    #[test]
    fn failures_and_prose_are_no_votes_and_cost() {
        let method = Method::Federation(models());
        let done = attempt(&method, 10_000, |_, prompt, _| {
            let text = if prompt.contains("Your role is ethics") {
                Err("it is down".to_owned())
            } else if prompt.contains("Your role is logic") {
                Ok("I see nothing.".to_owned())
            } else {
                return reply(8, 100);
            };
            Reply {
                text,
                ..reply(0, 50)
            }
        });
        assert_eq!((done.line, done.questions, done.tokens), (Some(8), 3, 200));
        assert_eq!(
            (done.unreadable, done.failures),
            (1, vec!["it is down".to_owned()])
        );
    }
}
