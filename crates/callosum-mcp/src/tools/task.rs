//! `task`: work that one agent leaves for another.

use std::fmt::Write as _;

use callosum_mesh::board::{Command, NewTask};
use callosum_redact::quote::{self, NOTICE};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, agent, needed, read, schema};
use crate::output_budget;
use callosum_app::CommandError;
use callosum_app::context::Context;
use callosum_app::mesh::asking;
use callosum_app::mesh::task::{done, listed, meant, nobody_there};
use callosum_app::mesh::task_output::MeshTaskOutput;

pub(super) const TOOL: Tool = Tool {
    name: "task",
    about: "Tasks for agents.",
    effect: Effect::Adds,
    schema: schema::<Arguments>,
    call,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    r#do: Deed,
    id: Option<String>,
    /// The work, or its result
    text: Option<String>,
    /// An agent
    to: Option<String>,
    category: Option<String>,
    priority: Option<i64>,
    needs: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Deed {
    List,
    Add,
    Claim,
    Done,
    Release,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let Arguments {
        r#do: deed,
        id,
        text,
        to,
        category,
        priority,
        needs,
    } = read(arguments)?;
    let voice = asking(context);
    let to = to.as_deref().map(agent).transpose()?;
    let order = match deed {
        Deed::List => {
            let whose = to.unwrap_or(voice.agent);
            let tasks = listed(context, false, Some(&whose))?.tasks;
            if tasks.is_empty() {
                return Ok(format!("no pending tasks for {whose}\n"));
            }
            let tasks: Vec<String> = tasks.iter().map(text_of).collect();
            let text = output_budget::fitted(&tasks, output_budget::USUAL, "tasks");
            return Ok(format!("{NOTICE}{text}"));
        }
        Deed::Add => {
            let id = id.unwrap_or_else(|| context.new_id());
            let (assigned_to, other) = meant(context, to, category.as_deref())?;
            let unheard = match &assigned_to {
                Some(to) => nobody_there(context, to)?,
                None => None,
            };
            let order = Command::Add(NewTask {
                id: id.clone(),
                assigned_to,
                priority,
                prompt: needed(text, "text", "what to do")?,
                needs: needs.unwrap_or_default(),
                other,
                ..NewTask::default()
            });
            done(context, &voice, order, Some(&id))?;
            let unheard = unheard.map(|what| format!("; {what}"));
            return Ok(format!("{id} is added{}\n", unheard.unwrap_or_default()));
        }
        Deed::Claim => Command::Claim {
            task: id.clone(),
            anyway: false,
            fence: None,
        },
        Deed::Done => Command::Complete {
            task: needed(id.clone(), "id", "the task that is done")?,
            result: text,
            anyway: false,
            token: None,
        },
        Deed::Release => Command::Release {
            task: needed(id.clone(), "id", "the task that goes back to the queue")?,
            reason: text.unwrap_or_else(|| "given back".to_owned()),
            anyway: false,
            token: None,
        },
    };
    let task = done(context, &voice, order, id.as_deref())?;
    let text = task.as_ref().map(text_of).unwrap_or_default();
    Ok(output_budget::cut(
        &format!("{NOTICE}{text}"),
        output_budget::MOST,
    ))
}

/// A task as a model reads it: what is known of it, and behind marks what others wrote.
fn text_of(task: &MeshTaskOutput) -> String {
    let id = quote::one_line(&task.id);
    let mut text = format!("{id} P{} {}", task.priority, task.status);
    for (what, value) in [("by", &task.claimed_by), ("for", &task.assigned_to)] {
        if let Some(value) = value {
            let _ = write!(text, ", {what} {}", quote::one_line(value));
        }
    }
    for (what, value) in [
        ("in session", &task.claimed_session),
        ("category", &task.category),
        ("in", &task.cwd),
        ("result to", &task.output_file),
    ] {
        if let Some(value) = value {
            let _ = write!(text, ", {what} {}", quote::inline(value));
        }
    }
    if let Some(output) = &task.output {
        let _ = write!(text, ", {}", quote::one_line(&output.line()));
    }
    let _ = write!(text, ", from {}", task.created_by);
    for intent in &task.intents {
        let _ = write!(text, ", for the intent {}", quote::one_line(&intent.id));
    }
    if !task.blocked_by.is_empty() {
        let _ = write!(
            text,
            ", waits for {}",
            quote::one_line(&task.blocked_by.join(", "))
        );
    }
    if !task.unsatisfiable_needs.is_empty() {
        let gone = quote::one_line(&task.unsatisfiable_needs.join(", "));
        let _ = write!(text, " ({gone} canceled, will never complete)");
    }
    let _ = write!(text, ":\n{}", quote::lines(&task.prompt));
    if let Some(result) = &task.result {
        let _ = write!(text, "result:\n{}", quote::lines(result));
    }
    text
}
