//! `callosum ledger cost`: tokens, money and time of tasks, by day, executor and agent.

use std::collections::{BTreeMap, HashMap};

use callosum_ledger::{AuditReader, Entry, Event, TaskId};
use jiff::Timestamp;
use memchr::memmem;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::context::Context;
use crate::ledger::filter::Filter;
use crate::{CommandError, audit, ledger_errors, open_ledger};

/// Bytes at the end of the journal in which the starts of tasks are searched: tens of milliseconds.
const RECENT: u64 = 32 * 1024 * 1024;

/// Most tasks that are listed one by one.
const MOST_TASKS: usize = 50;

/// Most agents and most executors in the result; the others are summed up.
const MOST_NAMES: usize = 100;

/// Name of the sum over the others.
const OTHERS: &str = "(others)";

/// `callosum ledger cost --json`.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub struct CostOutput {
    /// The sum over all entries.
    pub total: SpendingOutput,
    /// The sum of each day (UTC) that has entries, oldest first. `name` is a date.
    pub days: Vec<SpendingOutput>,
    /// The sum of each executor, most tokens first.
    pub executors: Vec<SpendingOutput>,
    /// The sum of each agent that asked for the tasks, most tokens first.
    pub agents: Vec<SpendingOutput>,
    /// The tasks that used the most tokens, at most 50.
    pub tasks: Vec<TaskCostOutput>,
}

/// Tokens, money and time of some entries.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct SpendingOutput {
    /// Name of the day, executor or agent; `total` for all entries.
    pub name: String,
    /// Number of entries.
    pub entries: u64,
    /// Tokens that executors report.
    pub tokens_used: u64,
    /// Price in US dollars, of the entries whose executor reports one.
    pub cost_usd: f64,
    /// Number of those entries.
    pub priced: u64,
    /// Seconds from the start of the executor to the entry, of the entries whose start is in the newest 32 MiB of the
    /// audit journal.
    pub seconds: f64,
    /// Number of those entries.
    pub timed: u64,
}

/// Tokens, money and time of one task.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct TaskCostOutput {
    /// Id of the task.
    pub task_id: String,
    /// When the entry was stored.
    pub timestamp: String,
    /// Executor that did it.
    pub executor: String,
    /// Agent that asked for it; null if it is not recorded.
    pub agent: Option<String>,
    /// First characters of the prompt; null if it is not recorded.
    pub prompt: Option<String>,
    /// Tokens that the executor reports.
    pub tokens_used: u64,
    /// Price in US dollars; null if the executor reports none.
    pub cost_usd: Option<f64>,
    /// Seconds from the start of the executor to the entry; null if the start is not known.
    pub seconds: Option<f64>,
}

impl SpendingOutput {
    fn add(&mut self, task: &TaskCostOutput) {
        self.entries += 1;
        self.tokens_used += task.tokens_used;
        if let Some(cost) = task.cost_usd {
            self.cost_usd += cost;
            self.priced += 1;
        }
        if let Some(seconds) = task.seconds {
            self.seconds += seconds;
            self.timed += 1;
        }
    }

    fn add_all(&mut self, other: &Self) {
        self.entries += other.entries;
        self.tokens_used += other.tokens_used;
        self.cost_usd += other.cost_usd;
        self.priced += other.priced;
        self.seconds += other.seconds;
        self.timed += other.timed;
    }
}

/// Sums up the entries that are meant.
///
/// Reads each of them, one at a time, and the end of the audit journal.
///
/// # Errors
/// If the ledger or the journal cannot be read.
pub fn cost(context: &Context, filter: &Filter) -> Result<CostOutput, CommandError> {
    let starts = starts(context)?;
    let query = filter.query(&context.clock, None)?;
    let mut sums = Sums::default();
    open_ledger::reader(context)?
        .each(&query, |entry| {
            let began = starts.get(&entry.task_id).copied();
            sums.add(task(&entry, began), entry.timestamp);
        })
        .map_err(|error| ledger_errors::unreadable(&error))?;
    Ok(sums.output())
}

/// Returns when executors were started for tasks, the first time of each.
fn starts(context: &Context) -> Result<HashMap<TaskId, Timestamp>, CommandError> {
    let kind = format!("\"{}\"", Event::Spawn);
    let kind = memmem::Finder::new(&kind);
    let reader = AuditReader::new(context.disk.clone(), context.ledger_paths());
    let records = reader.recent_of(RECENT, &|line| kind.find(line).is_some());
    let records = match records {
        Ok(records) => records,
        Err(error) => return Err(audit::unreadable(&error)),
    };
    let mut starts = HashMap::new();
    for record in records {
        if let Some(task) = record.task_id
            && record.event == Event::Spawn.as_str()
        {
            starts.entry(task).or_insert(record.timestamp);
        }
    }
    Ok(starts)
}

fn task(entry: &Entry, began: Option<Timestamp>) -> TaskCostOutput {
    let text = |key: &str| entry.metadata.get(key).and_then(Value::as_str);
    let cost = entry.metadata.get("cost_usd").and_then(Value::as_f64);
    let seconds = began.map(|began| entry.timestamp.duration_since(began).as_secs_f64());
    TaskCostOutput {
        task_id: entry.task_id.to_string(),
        timestamp: entry.timestamp.to_string(),
        executor: entry.executor.clone(),
        agent: text("asked_by").map(str::to_owned),
        prompt: text("prompt").map(|prompt| prompt.chars().take(200).collect()),
        tokens_used: entry.tokens_used,
        // An executor may report nonsense.
        cost_usd: cost.filter(|cost| cost.is_finite() && *cost >= 0.0),
        seconds: seconds.filter(|seconds| *seconds >= 0.0),
    }
}

/// Sums while entries are read.
#[derive(Default)]
struct Sums {
    total: SpendingOutput,
    days: BTreeMap<String, SpendingOutput>,
    executors: BTreeMap<String, SpendingOutput>,
    agents: BTreeMap<String, SpendingOutput>,
    tasks: Vec<TaskCostOutput>,
}

impl Sums {
    fn add(&mut self, task: TaskCostOutput, at: Timestamp) {
        self.total.add(&task);
        let day = at.strftime("%Y-%m-%d").to_string();
        self.days.entry(day).or_default().add(&task);
        let executor = self.executors.entry(task.executor.clone());
        executor.or_default().add(&task);
        let agent = task.agent.clone().unwrap_or_else(|| "unknown".to_owned());
        self.agents.entry(agent).or_default().add(&task);
        self.tasks.push(task);
        if self.tasks.len() > 4 * MOST_TASKS {
            self.cut();
        }
    }

    /// Keeps the tasks that used the most tokens.
    fn cut(&mut self) {
        // The sort is stable: of as many tokens, the newer task comes first.
        self.tasks
            .sort_by_key(|task| std::cmp::Reverse(task.tokens_used));
        self.tasks.truncate(MOST_TASKS);
    }

    fn output(mut self) -> CostOutput {
        self.cut();
        let named = |sums: BTreeMap<String, SpendingOutput>| -> Vec<SpendingOutput> {
            let sums = sums.into_iter();
            sums.map(|(name, sum)| SpendingOutput { name, ..sum })
                .collect()
        };
        CostOutput {
            total: SpendingOutput {
                name: "total".to_owned(),
                ..self.total
            },
            days: named(self.days),
            executors: largest(named(self.executors)),
            agents: largest(named(self.agents)),
            tasks: self.tasks,
        }
    }
}

/// Sorts sums by tokens, and sums up those of too many names.
fn largest(mut sums: Vec<SpendingOutput>) -> Vec<SpendingOutput> {
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.tokens_used));
    if sums.len() > MOST_NAMES {
        let mut others = SpendingOutput {
            name: OTHERS.to_owned(),
            ..SpendingOutput::default()
        };
        for sum in sums.drain(MOST_NAMES..) {
            others.add_all(&sum);
        }
        sums.push(others);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(tokens_used: u64, agent: Option<&str>, cost_usd: Option<f64>) -> TaskCostOutput {
        TaskCostOutput {
            task_id: "cal_2026_01_02_0001".to_owned(),
            timestamp: "2026-01-02T00:00:00Z".to_owned(),
            executor: "scout".to_owned(),
            agent: agent.map(str::to_owned),
            prompt: None,
            tokens_used,
            cost_usd,
            seconds: Some(1.5),
        }
    }

    /// CALC §2: the page shows tokens, money and time per agent, executor, day and task.
    #[test]
    fn entries_are_summed_up_by_day_executor_and_agent() {
        let mut sums = Sums::default();
        let day = |text: &str| text.parse::<Timestamp>().unwrap();
        sums.add(
            spent(10, Some("codex"), Some(0.5)),
            day("2026-01-02T23:59:59Z"),
        );
        sums.add(spent(30, None, None), day("2026-01-03T00:00:00Z"));
        sums.add(
            spent(5, Some("codex"), Some(0.25)),
            day("2026-01-03T08:00:00Z"),
        );
        let output = sums.output();
        assert_eq!((output.total.entries, output.total.tokens_used), (3, 45));
        assert!((output.total.cost_usd - 0.75).abs() < 1e-9);
        assert_eq!((output.total.priced, output.total.timed), (2, 3));
        let names = |sums: &[SpendingOutput]| -> Vec<(String, u64)> {
            let sums = sums.iter();
            sums.map(|sum| (sum.name.clone(), sum.tokens_used))
                .collect()
        };
        let pair = |name: &str, tokens| (name.to_owned(), tokens);
        assert_eq!(
            names(&output.days),
            [pair("2026-01-02", 10), pair("2026-01-03", 35)]
        );
        assert_eq!(names(&output.executors), [pair("scout", 45)]);
        assert_eq!(
            names(&output.agents),
            [pair("unknown", 30), pair("codex", 15)]
        );
        let tokens: Vec<u64> = output.tasks.iter().map(|task| task.tokens_used).collect();
        assert_eq!(tokens, [30, 10, 5]);
    }

    #[test]
    fn many_names_and_tasks_stay_few_rows() {
        let mut sums = Sums::default();
        for number in 0..1000 {
            let agent = format!("agent-{number}");
            sums.add(spent(number, Some(&agent), None), Timestamp::UNIX_EPOCH);
        }
        let output = sums.output();
        assert_eq!(output.agents.len(), MOST_NAMES + 1);
        let all: u64 = output.agents.iter().map(|sum| sum.tokens_used).sum();
        assert_eq!(all, output.total.tokens_used);
        assert_eq!(output.tasks.len(), MOST_TASKS);
        assert_eq!(output.tasks[0].tokens_used, 999);
    }
}
