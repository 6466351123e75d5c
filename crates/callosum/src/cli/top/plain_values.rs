//! [`overview`]: the output of the use case as the plain values of the dashboard.

use callosum_app::mesh::panes::EvidenceOutput;
use callosum_app::overview::{
    AgentOutput, BudgetShareOutput, DecisionOutput, OverviewCommandOutput, OverviewOutput,
    TaskCountsOutput, TaskSummaryOutput, WaitingItemOutput,
};
use callosum_top::{Agent, Command, Counts, Decision, Overview, Task, WaitingItem};

/// Returns an overview for the dashboard.
pub(super) fn overview(output: OverviewOutput) -> Overview {
    let TaskCountsOutput {
        pending,
        in_progress,
        complete,
        cancelled,
    } = output.task_counts;
    Overview {
        at: output.at,
        project: output.project,
        agents: output.agents.into_iter().map(agent).collect(),
        waiting: output.waiting.into_iter().map(waiting).collect(),
        waiting_total: output.waiting_total,
        counts: Counts {
            pending,
            in_progress,
            complete,
            canceled: cancelled,
        },
        tasks: output.tasks.into_iter().map(task).collect(),
        tasks_total: output.tasks_total,
        guard: output.guard.into_iter().map(decision).collect(),
        faults: output.faults,
    }
}

fn agent(output: AgentOutput) -> Agent {
    Agent {
        name: output.name,
        pane: output.pane,
        state: output.state,
        detail: output.detail,
        evidence: output.evidence.iter().map(evidence).collect(),
        age_seconds: output.age_seconds,
        session_id: output.session_id,
        project: output.project,
        folder: output.folder,
        last_prompt: output.last_prompt,
        resets_at: output.resets_at,
        task: output.task.map(|task| (task.id, task.prompt)),
        budget: output.budget.as_ref().map(budget),
        zone: output.budget.map(|budget| budget.zone.to_owned()),
        commands: commands(output.commands),
    }
}

fn evidence(output: &EvidenceOutput) -> String {
    let EvidenceOutput { signal, rule, text } = output;
    if text.is_empty() {
        return format!("{signal} {rule}");
    }
    format!("{signal} {rule}: {text}")
}

fn budget(output: &BudgetShareOutput) -> String {
    let thousands = |tokens: u64| format!("{}k", tokens / 1_000);
    match (output.percent, output.window) {
        (Some(percent), Some(window)) => format!("{percent}% of {}", thousands(window)),
        _ => thousands(output.used),
    }
}

fn waiting(output: WaitingItemOutput) -> WaitingItem {
    WaitingItem {
        kind: output.kind.to_owned(),
        id: output.id,
        title: output.title,
        detail: output.detail,
        agent: output.agent,
        since: output.since,
        age_seconds: output.age_seconds,
        commands: commands(output.commands),
    }
}

fn task(output: TaskSummaryOutput) -> Task {
    Task {
        id: output.id,
        status: output.status.to_owned(),
        priority: output.priority,
        prompt: output.prompt,
        assigned_to: output.assigned_to,
        claimed_by: output.claimed_by,
        claimed_until: output.claimed_until,
        created_by: output.created_by,
        created_at: output.created_at,
        age_seconds: output.age_seconds,
        folder: output.folder,
        blocked_by: output.blocked_by,
        commands: commands(output.commands),
    }
}

fn decision(output: DecisionOutput) -> Decision {
    Decision {
        id: output.id,
        at: output.at,
        age_seconds: output.age_seconds,
        agent: output.agent,
        verdict: output.verdict,
        command: output.command,
        paths: output.paths,
        rule: output.rule,
        reason: output.reason,
        alternative: output.alternative,
        commands: commands(output.commands),
    }
}

fn commands(outputs: Vec<OverviewCommandOutput>) -> Vec<Command> {
    let commands = outputs.into_iter();
    commands
        .map(|output| Command {
            name: output.name,
            argv: output.argv,
        })
        .collect()
}
