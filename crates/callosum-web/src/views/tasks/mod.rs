//! The view *Tasks*: the board of the mesh in three columns, the detail of a task, and forms that change tasks.

mod board;
#[cfg(test)]
mod tests;

use askama::Template;
use serde::{Deserialize, Serialize};

use self::board::{Board, Column, known_agents};
use super::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    listing::{Listing, element_id, escaped},
    rendered::Rendered,
    visit::Visit,
};

/// Smallest and largest priority that the form takes.
const PRIORITIES: std::ops::RangeInclusive<i64> = -1000..=1000;

/// `mesh task list --json`, as far as it is shown.
#[derive(Deserialize)]
struct Tasks {
    tasks: Vec<Task>,
}

/// A task of the board.
#[derive(Deserialize, Serialize)]
struct Task {
    id: String,
    assigned_to: Option<String>,
    status: String,
    priority: i64,
    prompt: String,
    category: Option<String>,
    reassigned: Option<String>,
    output_file: Option<String>,
    created_by: String,
    created_at: String,
    completed_at: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    blocked_by: Vec<String>,
    #[serde(default)]
    unsatisfiable_needs: Vec<String>,
    claimed_by: Option<String>,
    claimed_session: Option<String>,
    claimed_until: Option<String>,
    result: Option<String>,
    output: Option<Receipt>,
    #[serde(default)]
    intents: Vec<Intent>,
}

/// The receipt for the output file of a task.
#[derive(Deserialize, Serialize)]
struct Receipt {
    outcome: String,
    path: String,
    reason: Option<String>,
}

/// An intent that a task works for.
#[derive(Deserialize, Serialize)]
struct Intent {
    id: String,
    name: String,
}

impl Task {
    fn element(&self) -> String {
        element_id("task", &self.id)
    }

    fn query(&self) -> String {
        format!("?id={}", escaped(&self.id))
    }

    /// Field of a drag: the task's id as a query.
    fn drag(&self) -> String {
        format!("task={}", escaped(&self.id))
    }

    fn is_pending(&self) -> bool {
        self.status == "pending"
    }

    fn is_claimed(&self) -> bool {
        self.status == "in_progress"
    }

    fn is_over(&self) -> bool {
        !self.is_pending() && !self.is_claimed()
    }

    fn tone(&self) -> &'static str {
        match self.status.as_str() {
            "complete" => "ok",
            "in_progress" => "busy",
            "pending" if !self.unsatisfiable_needs.is_empty() => "bad",
            "pending" if !self.blocked_by.is_empty() => "wait",
            _ => "idle",
        }
    }

    fn words(&self) -> String {
        match (self.status.as_str(), &self.claimed_by, &self.assigned_to) {
            ("in_progress", Some(by), _) => format!("claimed by {by}"),
            ("pending", _, _) if !self.unsatisfiable_needs.is_empty() => "cannot begin".to_owned(),
            ("pending", _, _) if !self.blocked_by.is_empty() => "blocked".to_owned(),
            ("pending", _, Some(to)) => format!("for {to}"),
            ("pending", _, None) => "for any agent".to_owned(),
            ("complete", _, Some(by)) => format!("complete, by {by}"),
            ("cancelled", _, _) => "canceled".to_owned(),
            (status, _, _) => status.replace('_', " "),
        }
    }

    /// Text that the filter searches.
    fn text(&self) -> String {
        let of = |text: &Option<String>| text.clone().unwrap_or_default();
        format!(
            "{} {} {} {} {} {} {}",
            self.id,
            self.prompt,
            self.created_by,
            of(&self.assigned_to),
            of(&self.claimed_by),
            of(&self.category),
            self.status,
        )
    }

    /// The result, which agents write in Markdown.
    fn rendered_result(&self) -> Option<Rendered> {
        self.result.as_deref().map(Rendered::markdown)
    }

    /// Line that shows it.
    fn line(&self) -> String {
        Command::new(&["mesh", "task", "show"])
            .values([self.id.as_str()])
            .line()
    }
}

#[derive(Serialize, Template)]
#[template(path = "tasks.html")]
struct TasksView {
    /// Address of this view.
    base: String,
    task: Option<Task>,
    board: Option<Board>,
    /// One column with its pages, if `state` names it.
    list: Option<TaskList>,
    agents: Vec<String>,
    /// Number of tasks in the columns.
    of: usize,
    filter: String,
}

/// All tasks of a column.
#[derive(Serialize)]
struct TaskList {
    title: &'static str,
    tasks: Listing<Task>,
}

/// Shows the view.
pub(crate) fn show(visit: &Visit) -> Result<Answer, CommandFailure> {
    let id = visit.param("id");
    let task = id.and_then(|id| {
        let command = Command::new(&["mesh", "task", "show"]).values([id]);
        visit.ask_or_report(&command)
    });
    let found: Tasks = visit.ask(&Command::new(&["mesh", "task", "list", "--all"]))?;
    let agents = known_agents(&found.tasks);
    let of = found.tasks.len();
    let filter = visit.param("q").unwrap_or_default().to_owned();
    let column = visit.param("state").and_then(Column::named);
    let (board, list) = match column {
        Some(column) => {
            let mut tasks: Vec<Task> = found.tasks;
            tasks.retain(|task| Column::of(task) == column);
            column.sort(&mut tasks);
            let list = TaskList {
                title: column.title(),
                tasks: Listing::new(visit, tasks, Task::text),
            };
            (None, Some(list))
        }
        None => (Some(Board::new(found.tasks, &filter)), None),
    };
    Answer::of(&TasksView {
        base: visit.href(visit.view),
        task,
        board,
        list,
        agents,
        of,
        filter,
    })
}

/// Returns the command that a form means.
pub(crate) fn act(action: &str, form: &Form) -> Result<Command, BadForm> {
    let task = |words: &[&str]| Ok(Command::new(words).values([form.required("task")?]));
    match action {
        "add" => {
            let mut command = Command::new(&["mesh", "task", "add"]);
            for (field, option) in [
                ("to", "--to"),
                ("category", "--category"),
                ("needs", "--add-dep"),
            ] {
                if let Some(value) = form.optional(field)? {
                    command = command.option(option, value.trim());
                }
            }
            if let Some(priority) = form.optional("priority")? {
                let number = priority.trim().parse().ok();
                let number = number.filter(|number| PRIORITIES.contains(number));
                let number: i64 = number.ok_or_else(|| BadForm::Value {
                    field: "priority",
                    value: priority.to_owned(),
                    allowed: "a whole number from -1000 to 1000",
                })?;
                command = command.option("--priority", &number.to_string());
            }
            Ok(command.values([form.required("prompt")?]))
        }
        "assign" => {
            let command = Command::new(&["mesh", "task", "assign"]);
            let command = match form.optional("to")? {
                Some(to) => command.option("--to", to),
                None => command.arg("--anyone"),
            };
            Ok(command.values([form.required("task")?]))
        }
        "cancel" => match form.optional("reason")? {
            Some(reason) => Ok(Command::new(&["mesh", "task", "cancel"])
                .option("--reason", reason)
                .values([form.required("task")?])),
            None => task(&["mesh", "task", "cancel"]),
        },
        "release" => task(&["mesh", "task", "release", "--force"]),
        other => Err(BadForm::Action(other.to_owned())),
    }
}
