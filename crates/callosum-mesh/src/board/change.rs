//! Describing a task anew: which keys may be set, and to what.

use serde_json::{Map, Value};

use super::{
    Board, Deed, Refusal, Status,
    order::{MOST_NEEDS, said},
};
use crate::agent::AgentName;

impl Board {
    pub(super) fn change(
        &self,
        task: String,
        set: Map<String, Value>,
    ) -> Result<Vec<Deed>, Refusal> {
        let known = self.known(&task)?;
        if known.status == Status::Cancelled {
            let status = known.status;
            return Err(Refusal::IsOver { task, status });
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
                        .is_some_and(|text| said("a task", text).is_ok()) =>
                {
                    continue;
                }
                "prompt" => "a text of 1 to 32,768 bytes",
                "output_file" | "result" if value.is_string() || value.is_null() => continue,
                "output_file" | "result" => "a text, or null",
                "needs" => {
                    let needs: Option<Vec<String>> = serde_json::from_value(value.clone()).ok();
                    let needs = needs.filter(|needs| needs.len() <= MOST_NEEDS);
                    let Some(needs) = needs else {
                        return Err(Refusal::NoValue {
                            key: key.clone(),
                            wanted: "a list of at most 64 ids of tasks",
                        });
                    };
                    for need in &needs {
                        self.known(need)?;
                        if self.leads_to(need, &task) {
                            return Err(Refusal::Circle {
                                task,
                                need: need.clone(),
                            });
                        }
                    }
                    continue;
                }
                "id" | "status" | "created_by" | "created_at" | "completed_at" => {
                    "left as it is: no change of a task sets it"
                }
                _ => continue,
            };
            return Err(Refusal::NoValue {
                key: key.clone(),
                wanted,
            });
        }
        let set: Map<String, Value> = set
            .into_iter()
            .filter(|(key, value)| known.value(key) != *value)
            .collect();
        let is_new = !set.is_empty();
        let deed = Deed::TaskChanged { task, set };
        Ok(is_new.then_some(deed).into_iter().collect())
    }

    /// Whether one task is another, or waits for it over any number of others.
    fn leads_to(&self, from: &str, to: &str) -> bool {
        let mut seen = Vec::new();
        let mut left = vec![from];
        while let Some(id) = left.pop() {
            if id == to {
                return true;
            }
            if !seen.contains(&id) {
                seen.push(id);
                let needs = self.task(id).map(|task| task.needs.as_slice());
                left.extend(needs.unwrap_or_default().iter().map(String::as_str));
            }
        }
        false
    }
}

fn is_name(value: &Value) -> bool {
    let name = value.as_str().map(str::parse::<AgentName>);
    name.is_some_and(|name| name.is_ok())
}
