//! Changes to a task: the keys that may be set, and their values.

use serde_json::{Map, Value};

use super::{
    Board, BoardError, Effect, Status,
    command::{MOST_NEEDS, check_text},
};
use crate::agent::AgentName;

impl Board {
    pub(super) fn change(
        &self,
        task: String,
        set: Map<String, Value>,
    ) -> Result<Vec<Effect>, BoardError> {
        let known = self.known(&task)?;
        if known.status == Status::Cancelled {
            let status = known.status;
            return Err(BoardError::IsOver { task, status });
        }
        for (key, value) in &set {
            let wanted = match key.as_str() {
                "assigned_to" if is_name(value) || value.is_null() => continue,
                "assigned_to" => "the name of an agent, or null",
                "priority" if value.is_i64() => continue,
                "priority" => "a whole number",
                "prompt"
                    if value
                        .as_str()
                        .is_some_and(|text| check_text("a task", text).is_ok()) =>
                {
                    continue;
                }
                "prompt" => "text of 1 to 32,768 bytes",
                "output_file" | "result" if value.is_string() || value.is_null() => continue,
                "output_file" | "result" => "text, or null",
                "needs" => {
                    let needs: Option<Vec<String>> = serde_json::from_value(value.clone()).ok();
                    let needs = needs.filter(|needs| needs.len() <= MOST_NEEDS);
                    let Some(needs) = needs else {
                        return Err(BoardError::NoValue {
                            key: key.clone(),
                            wanted: "a list of at most 64 task ids",
                        });
                    };
                    for need in &needs {
                        self.known(need)?;
                        if let Some(mut circle) = self.way_between(need, &task) {
                            circle.insert(0, task.clone());
                            return Err(BoardError::Circle { task, circle });
                        }
                    }
                    continue;
                }
                "id" | "status" | "created_by" | "created_at" | "completed_at" => {
                    "unchanged: it cannot be set"
                }
                _ => continue,
            };
            return Err(BoardError::NoValue {
                key: key.clone(),
                wanted,
            });
        }
        let set: Map<String, Value> = set
            .into_iter()
            .filter(|(key, value)| known.value(key) != *value)
            .collect();
        let is_new = !set.is_empty();
        let deed = Effect::TaskChanged { task, set };
        Ok(is_new.then_some(deed).into_iter().collect())
    }

    /// The tasks by which one waits for another, both ends included; `None` if it does not.
    fn way_between(&self, from: &str, to: &str) -> Option<Vec<String>> {
        way(from, to, |id| {
            self.task(id).map_or(&[], |task| task.needs.as_slice())
        })
    }
}

/// The shortest way from one task to another over what each needs, both ends included.
pub(crate) fn way<'a>(
    from: &'a str,
    to: &str,
    needs: impl Fn(&str) -> &'a [String],
) -> Option<Vec<String>> {
    // Each with the place of the one that led to it.
    let mut seen: Vec<(&str, Option<usize>)> = vec![(from, None)];
    let mut at = 0;
    while let Some((id, _)) = seen.get(at).copied() {
        if id == to {
            let back = std::iter::successors(Some(at), |at| seen[*at].1);
            let mut way: Vec<String> = back.map(|at| seen[at].0.to_owned()).collect();
            way.reverse();
            return Some(way);
        }
        for need in needs(id) {
            if seen.iter().all(|(known, _)| known != need) {
                seen.push((need, Some(at)));
            }
        }
        at += 1;
    }
    None
}

fn is_name(value: &Value) -> bool {
    let name = value.as_str().map(str::parse::<AgentName>);
    name.is_some_and(|name| name.is_ok())
}
