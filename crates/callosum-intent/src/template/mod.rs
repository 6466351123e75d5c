//! [`Template`]: a built-in plan for a kind of goal, for use without a model.
//!
//! Start with [`best`], which finds the template of a goal by its words. Each template has the parameters `goal`,
//! `executors` and `paths`, which are values: nothing of the goal becomes part of the plan.

/// A plan that is part of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// The name, as `--template` takes it.
    pub name: &'static str,
    /// A line for people.
    pub about: &'static str,
    /// The plan in the language of plans.
    pub source: &'static str,
    /// Most executors that it asks.
    pub executors: usize,
    /// Beginnings of words that hint at it, each with a weight.
    words: &'static [(&'static str, u32)],
}

/// The templates.
pub const TEMPLATES: [Template; 4] = [
    Template {
        name: "survey",
        about: "maps the repository, its parts and its tests",
        source: include_str!("survey.rtfs"),
        executors: 1,
        words: &[
            ("survey", 3),
            ("map", 2),
            ("overview", 3),
            ("explain", 2),
            ("understand", 2),
            ("architecture", 2),
            ("structure", 2),
            ("describe", 1),
            ("depend", 2),
            ("repo", 1),
            ("codebase", 1),
        ],
    },
    Template {
        name: "review-change",
        about: "asks two executors about a change, independently",
        source: include_str!("review_change.rtfs"),
        executors: 2,
        words: &[
            ("review", 3),
            ("critique", 3),
            ("change", 1),
            ("diff", 2),
            ("pull", 1),
            ("commit", 1),
            ("second", 1),
            ("opinion", 2),
        ],
    },
    Template {
        name: "stale-decisions",
        about: "lists the recorded decisions that concern a matter",
        source: include_str!("stale_decisions.rtfs"),
        executors: 0,
        words: &[
            ("decision", 3),
            ("decide", 3),
            ("stale", 2),
            ("outdated", 2),
            ("adr", 2),
        ],
    },
    Template {
        name: "triage-tests",
        about: "maps the tests, and finds earlier answers about failures",
        source: include_str!("triage_tests.rtfs"),
        executors: 1,
        words: &[
            ("triage", 3),
            ("failing", 2),
            ("fail", 2),
            ("flaky", 3),
            ("broken", 1),
            ("test", 2),
        ],
    },
];

/// Least weight of the words of a goal that choose a template.
const LEAST: u32 = 2;

/// Returns the template of a name.
pub fn named(name: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.name == name)
}

/// Returns the template that fits a goal best, if one fits. Of two that fit alike, the first in [`TEMPLATES`].
pub fn best(goal: &str) -> Option<&'static Template> {
    let lower = goal.to_lowercase();
    let words: Vec<&str> = lower
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let weight = |template: &Template| -> u32 {
        let hits = template
            .words
            .iter()
            .filter(|(start, _)| words.iter().any(|word| word.starts_with(start)));
        hits.map(|(_, weight)| weight).sum()
    };
    let mut best = None;
    for template in &TEMPLATES {
        let weight = weight(template);
        if weight >= LEAST && best.is_none_or(|(most, _)| weight > most) {
            best = Some((weight, template));
        }
    }
    best.map(|(_, template)| template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_finds_its_template_by_words() {
        for (goal, name) in [
            ("Give me an overview of this repository", Some("survey")),
            ("Review the change in src/pay.rs", Some("review-change")),
            ("which DECISIONS are stale?", Some("stale-decisions")),
            ("triage the failing tests", Some("triage-tests")),
            ("deploy to production", None),
            ("", None),
        ] {
            assert_eq!(best(goal).map(|template| template.name), name, "{goal}");
        }
        assert!(named("survey").is_some() && named("other").is_none());
    }
}
