//! [`classify`]: picks the category of a prompt, without a model.
//!
//! The user's matrix decides what categories exist. A category of the user's own is matched by its key and its
//! `about`, and by examples. The nine default categories also have built-in rules, in the modules `concept` and `lexicon`.
//! The result is a function of the matrix, the examples and the prompt. What is not here: assigning the task.

mod concept;
mod emphasis;
mod evidence;
mod examples;
mod file_names;
mod lexicon;
mod lexicon_match;
mod questions;
mod size;
mod text;

pub use examples::Example;

use self::evidence::Evidence;
use crate::{agent::AgentName, route::Matrix};

/// The confidence below which no category is picked.
///
/// A confidence is a share: the evidence for the category, squared, in the sum of the squares of all evidence and of
/// [`DOUBT`]. At 0.5 the category outweighs all others, ordinary coding and doubt together. A wrong category costs more
/// than none: the task waits for the wrong agent, and then for the fallback, while a task without a category is free
/// for any agent.
pub const THRESHOLD: f64 = 0.5;

/// The evidence that is held against every category: less than one clear word in the request.
pub const DOUBT: f64 = 1.2;

/// Most reasons of a classification.
const MOST_REASONS: usize = 12;

/// A prompt's category, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Classification {
    /// The category: a key of the matrix. `None` if the confidence is below [`THRESHOLD`].
    pub category: Option<String>,
    /// The primary agent of the category.
    pub agent: Option<AgentName>,
    /// The confidence in the best category, from 0 to 1, also if it is below [`THRESHOLD`].
    pub confidence: f64,
    /// The strongest evidence, heaviest first.
    pub reasons: Vec<Reason>,
    /// The other categories with evidence, and the confidence in each, best first.
    pub others: Vec<(String, f64)>,
}

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The kind of evidence: `word`, `request` (two that belong together), `file`, `size`, `own word`, `example`,
    /// `ordinary coding` or `matrix`.
    pub feature: &'static str,
    /// The words of the prompt, or the example.
    pub text: String,
    /// The category that it speaks for. `None` speaks for no category.
    pub category: Option<String>,
    /// Its weight.
    pub weight: f64,
}

/// Picks the category of a prompt.
///
/// An example with the same text wins with confidence 1; of several, the first. The order of the matrix does not
/// matter. Takes time linear in the prompt and in the examples, and never panics.
pub fn classify(matrix: &Matrix, examples: &[Example], prompt: &str) -> Classification {
    if matrix.routes.is_empty() {
        return Classification {
            reasons: vec![Reason {
                feature: "matrix",
                text: "no categories are configured".to_owned(),
                category: None,
                weight: 0.0,
            }],
            ..Classification::default()
        };
    }
    let examples = examples
        .iter()
        .filter(|example| matrix.route(&example.category).is_some());
    let examples: Vec<&Example> = examples.collect();
    let trimmed = prompt.trim();
    if let Some(same) = examples
        .iter()
        .find(|example| example.prompt.trim() == trimmed)
    {
        return exact(matrix, same);
    }
    let evidence = Evidence::of_prompt(matrix, &examples, prompt);
    let squares = evidence.scores.values().map(|score| score * score);
    let all = DOUBT * DOUBT + squares.sum::<f64>();
    let scores = evidence.scores.iter();
    let confidences =
        scores.filter_map(|(category, score)| Some((category.clone()?, score * score / all)));
    let mut ranked: Vec<(String, f64)> = confidences.collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let confidence = ranked
        .first()
        .map_or(0.0, |(_, confidence)| confidence.clamp(0.0, 1.0));
    let category = (confidence >= THRESHOLD).then(|| ranked.remove(0).0);
    let mut reasons = evidence.reasons;
    reasons.truncate(MOST_REASONS);
    Classification {
        agent: primary(matrix, category.as_deref()),
        category,
        confidence,
        reasons,
        others: ranked,
    }
}

/// Returns the classification of a prompt that is an example itself.
fn exact(matrix: &Matrix, example: &Example) -> Classification {
    Classification {
        category: Some(example.category.clone()),
        agent: primary(matrix, Some(&example.category)),
        confidence: 1.0,
        reasons: vec![Reason {
            feature: "example",
            text: "same text as an example".to_owned(),
            category: Some(example.category.clone()),
            weight: 1.0,
        }],
        others: Vec::new(),
    }
}

fn primary(matrix: &Matrix, category: Option<&str>) -> Option<AgentName> {
    Some(matrix.route(category?)?.primary.clone())
}
