//! [`CakeMetrics`]: the four families of Seed CAKE §6, and the reactions to refusals.

use std::{collections::BTreeMap, time::Duration};

use callosum_intervention::knowledge::refusal::{Refusals, Step};
use jiff::Timestamp;

use super::{Family, Histogram, Value};

/// Upper bounds of the latency, in seconds: those of Seed CAKE §6, and finer ones below, since a decision takes a few
/// milliseconds.
const LATENCY: &[f64] = &[
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0,
];

/// Upper bounds of similarities. No message below 0.90 is sent.
const SIMILARITY: &[f64] = &[0.9, 0.92, 0.94, 0.96, 0.98, 1.0];

/// A decision of the guard.
#[derive(Clone, Copy, Debug)]
pub struct GuardDecision<'a> {
    /// When.
    pub at: Timestamp,
    /// The session, and the agent in it.
    pub session: &'a str,
    /// `command`, `write` or `event`.
    pub operation: &'static str,
    /// `allowed`, `asked`, `blocked`, or what a person did.
    pub verdict: &'a str,
    /// The rule that decided.
    pub rule: &'a str,
    /// The command.
    pub command: Option<&'a str>,
    /// The alternative that a refusal named.
    pub alternative: Option<&'a str>,
    /// Whether the client ran it without a prompt.
    pub is_auto_allowed: bool,
    /// From the start of the hook to the record; `None` if a person did it.
    pub took: Option<Duration>,
}

/// A message that an agent was sent about an error.
#[derive(Clone, Copy, Debug)]
pub struct SentMessage<'a> {
    /// The class of the error.
    pub error_type: &'a str,
    /// `low`, `medium`, `high` or `critical`.
    pub severity: &'a str,
    /// Its level, from 1 to 4.
    pub level: u8,
    /// Whether it helped; `None` while that is open.
    pub success: Option<bool>,
    /// Its similarity to the corpus, from 0 to 1.
    pub score: Option<f64>,
    /// From the start of the hook to the record.
    pub took: Option<Duration>,
}

/// Counts under the seed's names.
#[derive(Clone, Debug, Default)]
pub struct CakeMetrics {
    /// By type, severity and success.
    interventions: BTreeMap<(&'static str, String, &'static str), u64>,
    /// By rule or class of error.
    prevented: BTreeMap<String, u64>,
    auto_allowed: u64,
    /// By component and operation.
    latencies: BTreeMap<(&'static str, &'static str), Histogram>,
    /// The last similarity of each type of message.
    last_scores: BTreeMap<String, f64>,
    /// All of them.
    scores: BTreeMap<String, Histogram>,
    refusals: Refusals,
}

/// The type of interventions that are messages. Those of the guard have the type of what was decided.
const SENT_MESSAGES: &str = "message";

impl CakeMetrics {
    /// Counts a decision of the guard. Decisions about one session come in their order.
    pub fn decision(&mut self, decision: &GuardDecision<'_>) {
        if let Some(step) = decision.step() {
            self.refusals.observe(decision.session, step, decision.at);
        }
        let Some(took) = decision.took else {
            return;
        };
        self.auto_allowed += u64::from(decision.is_auto_allowed);
        self.latency("guard", decision.operation)
            .observe_duration(took);
        // What a person answers only the client knows.
        let (severity, success) = match decision.verdict {
            "blocked" => ("block", "true"),
            "asked" => ("ask", "unknown"),
            _ => return,
        };
        let key = (decision.operation, severity.to_owned(), success);
        *self.interventions.entry(key).or_default() += 1;
        if severity == "block" {
            *self.prevented.entry(decision.rule.to_owned()).or_default() += 1;
        }
    }

    /// Counts a message. Messages come in their order.
    pub fn message(&mut self, message: &SentMessage<'_>) {
        let success = match message.success {
            None => "unknown",
            Some(false) => "false",
            Some(true) => "true",
        };
        let key = (SENT_MESSAGES, message.severity.to_owned(), success);
        *self.interventions.entry(key).or_default() += 1;
        if message.success == Some(true) {
            let prevented = self.prevented.entry(message.error_type.to_owned());
            *prevented.or_default() += 1;
        }
        if let Some(took) = message.took {
            self.latency("operator", SENT_MESSAGES)
                .observe_duration(took);
        }
        if let Some(score) = message.score {
            let kind = format!("level_{}", message.level);
            let scores = self.scores.entry(kind.clone());
            scores
                .or_insert_with(|| Histogram::new(SIMILARITY))
                .observe(score);
            self.last_scores.insert(kind, score);
        }
    }

    /// Counts refusals after which nothing happened.
    pub fn settle(&mut self, now: Timestamp) {
        self.refusals.settle(now);
    }

    /// Adds the counts of another journal.
    pub fn join(&mut self, other: &Self) {
        for (key, count) in &other.interventions {
            *self.interventions.entry(key.clone()).or_default() += count;
        }
        for (rule, count) in &other.prevented {
            *self.prevented.entry(rule.clone()).or_default() += count;
        }
        self.auto_allowed += other.auto_allowed;
        for ((component, operation), theirs) in &other.latencies {
            self.latency(component, operation).join(theirs);
        }
        for (kind, theirs) in &other.scores {
            let ours = self.scores.entry(kind.clone());
            ours.or_insert_with(|| Histogram::new(SIMILARITY))
                .join(theirs);
        }
        let scores = other.last_scores.clone();
        self.last_scores.extend(scores);
        self.refusals.join(&other.refusals);
    }

    /// Returns the families.
    pub fn families(&self) -> Vec<Family> {
        let mut interventions = Family::counter(
            "cake_interventions_total",
            "Commands asked about or blocked, and messages sent",
        );
        for ((kind, severity, success), count) in &self.interventions {
            let labels = [
                ("type", *kind),
                ("severity", severity),
                ("success", success),
            ];
            interventions.add(labels, Value::Integer(*count));
        }
        let mut prevented = Family::counter(
            "cake_errors_prevented_total",
            "Commands blocked by rule, and errors that a message ended by class",
        );
        for (rule, count) in &self.prevented {
            prevented.add([("error_type", rule)], Value::Integer(*count));
        }
        let auto_allowed = Family::counter(
            "cake_auto_allowed_total",
            "Commands that ran without a prompt",
        )
        .of(Value::Integer(self.auto_allowed));
        let mut reactions = Family::counter(
            "cake_refusal_reactions_total",
            "What agents did after a refusal",
        );
        for counted in self.refusals.reactions() {
            for (reaction, count) in [
                ("took_alternative", counted.took_alternative),
                ("went_around", counted.went_around),
                ("gave_up", counted.gave_up),
                ("asked_user", counted.asked_user),
            ] {
                let labels = [("rule", &*counted.rule), ("reaction", reaction)];
                reactions.add(labels, Value::Integer(count.into()));
            }
        }
        let mut latencies = Family::histogram(
            "cake_response_latency_seconds",
            "Seconds from the start of a hook to its record",
        );
        for ((component, operation), latency) in &self.latencies {
            let labels = [("component", *component), ("operation", *operation)];
            latencies.add(labels, Value::Histogram(latency.clone()));
        }
        let mut last = Family::gauge(
            "cake_voice_similarity_score",
            "Similarity of the last message to the corpus",
        );
        for (kind, score) in &self.last_scores {
            last.add([("message_type", kind)], Value::Decimal(*score));
        }
        let mut scores = Family::histogram(
            "cake_voice_similarity",
            "Similarities of all messages to the corpus",
        );
        for (kind, histogram) in &self.scores {
            let value = Value::Histogram(histogram.clone());
            scores.add([("message_type", kind)], value);
        }
        vec![
            interventions,
            prevented,
            auto_allowed,
            reactions,
            latencies,
            last,
            scores,
        ]
    }

    /// Returns how often it was decided so, by type, severity and success.
    pub fn interventions(&self) -> impl Iterator<Item = (&'static str, &str, &'static str, u64)> {
        self.interventions
            .iter()
            .map(|((kind, severity, success), count)| (*kind, &**severity, *success, *count))
    }

    /// Returns how often each rule blocked, and each class of error ended.
    pub fn prevented(&self) -> impl Iterator<Item = (&str, u64)> {
        self.prevented.iter().map(|(rule, count)| (&**rule, *count))
    }

    /// Returns how many commands ran without a prompt.
    pub fn auto_allowed(&self) -> u64 {
        self.auto_allowed
    }

    /// Returns the latencies by component and operation.
    pub fn latencies(&self) -> impl Iterator<Item = (&'static str, &'static str, &Histogram)> {
        self.latencies
            .iter()
            .map(|((component, operation), histogram)| (*component, *operation, histogram))
    }

    /// Returns the reactions to refusals, by rule.
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    fn latency(&mut self, component: &'static str, operation: &'static str) -> &mut Histogram {
        self.latencies
            .entry((component, operation))
            .or_insert_with(|| Histogram::new(LATENCY))
    }
}

impl<'a> GuardDecision<'a> {
    /// Returns what it means for the reaction to a refusal before it.
    fn step(&self) -> Option<Step<'a>> {
        match (self.verdict, self.command) {
            ("permitted", _) => Some(Step::Asked),
            ("blocked" | "asked", Some(command)) => Some(Step::Refused {
                rule: self.rule,
                command,
                alternative: self.alternative,
            }),
            ("allowed", Some(command)) => Some(Step::Ran(command)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    /// Returns the decision about a command.
    fn decision<'a>(verdict: &'a str, rule: &'a str, micros: u64) -> GuardDecision<'a> {
        GuardDecision {
            at: Timestamp::UNIX_EPOCH,
            session: "s",
            operation: "command",
            verdict,
            rule,
            command: Some("git reset --hard"),
            alternative: Some("git stash"),
            is_auto_allowed: false,
            took: Some(Duration::from_micros(micros)),
        }
    }

    /// CAKE-MET-1: the seed's names, labels and buckets.
    #[test]
    fn decisions_and_messages_are_counted_under_the_seeds_names() {
        let mut metrics = CakeMetrics::default();
        metrics.decision(&decision("blocked", "git.reset-hard", 20_000));
        metrics.decision(&GuardDecision {
            is_auto_allowed: true,
            command: Some("git stash"),
            ..decision("allowed", "", 2_000)
        });
        metrics.decision(&decision("asked", "git.branch-delete", 2_000_000));
        // A person's permission takes no time of the guard.
        metrics.decision(&GuardDecision {
            took: None,
            ..decision("permitted", "", 0)
        });
        metrics.message(&SentMessage {
            error_type: "KeyError",
            severity: "high",
            level: 2,
            success: Some(true),
            score: Some(0.97),
            took: Some(Duration::from_millis(4)),
        });
        let mut twice = metrics.clone();
        twice.join(&metrics);
        let served = text(metrics.families()).unwrap();
        for line in [
            "# TYPE cake_interventions_total counter",
            "cake_interventions_total{type=\"command\",severity=\"ask\",success=\"unknown\"} 1",
            "cake_interventions_total{type=\"command\",severity=\"block\",success=\"true\"} 1",
            "cake_interventions_total{type=\"message\",severity=\"high\",success=\"true\"} 1",
            "cake_errors_prevented_total{error_type=\"git.reset-hard\"} 1",
            "cake_errors_prevented_total{error_type=\"KeyError\"} 1",
            "cake_response_latency_seconds_bucket{component=\"guard\",operation=\"command\",le=\"0.01\"} 1",
            "cake_response_latency_seconds_bucket{component=\"guard\",operation=\"command\",le=\"1\"} 2",
            "cake_response_latency_seconds_bucket{component=\"guard\",operation=\"command\",le=\"+Inf\"} 3",
            "cake_response_latency_seconds_sum{component=\"guard\",operation=\"command\"} 2.022",
            "cake_response_latency_seconds_count{component=\"operator\",operation=\"message\"} 1",
            "cake_auto_allowed_total 1",
            "cake_refusal_reactions_total{rule=\"git.reset-hard\",reaction=\"took_alternative\"} 1",
            "cake_refusal_reactions_total{rule=\"git.branch-delete\",reaction=\"asked_user\"} 1",
            "cake_voice_similarity_score{message_type=\"level_2\"} 0.97",
            "cake_voice_similarity_bucket{message_type=\"level_2\",le=\"0.98\"} 1",
        ] {
            assert!(
                served.lines().any(|found| found == line),
                "{line}\n{served}"
            );
        }
        let served = text(twice.families()).unwrap();
        assert!(
            served.contains("cake_auto_allowed_total 2\n"),
            "joined: {served}"
        );
    }
}
