//! Arguments and output of `callosum intent add`.
//!
//! The use case is [`callosum_app::intent::create`].

use callosum_app::intent::{IntentOutput, create, find, formulate, formulate_by, read};
use callosum_app::{CommandError, Exit};
use callosum_intent::graph::{Graph, NewIntent, NewRelation, Priority, Relation, Status};
use clap::Args;

use crate::cli::context::Context;

/// Record an intent and print its id
///
/// The first sentence of GOAL is the goal. Phrases such as "without …", "only in …", "by Friday" and "under $5", and
/// paths that exist, become constraints: see `docs/intents.md`.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum intent add \"Speed up the tests, without removing any\"
  $ callosum intent add \"Rewrite the parser\" --priority 8 --constraint paths=src --active
  $ callosum intent add \"Speed up the tests\" --model echo
  $ callosum intent add \"Rewrite the lexer\" --parent 0f3a --depends-on 3f2a91")]
pub(crate) struct AddArgs {
    /// Goal, in words
    #[arg(value_name = "GOAL")]
    goal: String,
    /// Short name [default: the first words of the goal]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Id of the intent that it is a part of, or its beginning
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// Id of an intent that must be completed first (may be repeated)
    #[arg(long, value_name = "ID")]
    depends_on: Vec<String>,
    /// Id of an intent that it conflicts with (may be repeated)
    #[arg(long, value_name = "ID")]
    conflicts_with: Vec<String>,
    /// Priority, from 1 to 10 (most urgent)
    #[arg(short, long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u8).range(1..=10))]
    priority: u8,
    /// Constraint for plans, such as `paths=src` (may be repeated)
    #[arg(long, value_name = "KEY=VALUE", value_parser = constraint)]
    constraint: Vec<(String, String)>,
    /// Make it active at once
    #[arg(long)]
    active: bool,
    /// Use all of GOAL as the goal, and find no constraints in it
    #[arg(long)]
    verbatim: bool,
    /// Formulate the intent by this model: see `callosum model list`
    ///
    /// The model gets GOAL as data and fills in goal, constraints, preferences and success criteria. If no reply of three
    /// can be used, rules formulate the intent, and a warning says so.
    #[arg(long, value_name = "NAME", conflicts_with = "verbatim")]
    model: Option<String>,
}

/// Splits `KEY=VALUE`.
fn constraint(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected KEY=VALUE, such as `paths=src`".to_owned()),
    }
}

pub(super) fn run(context: &Context, args: &AddArgs) -> Result<(), CommandError> {
    let mut new = match &args.model {
        Some(model) => formulate_by(context, &args.goal, model)?,
        None if args.verbatim => NewIntent::of_goal(args.goal.trim()),
        None => formulate(context, &args.goal),
    };
    if let Some(name) = &args.name {
        new.name.clone_from(name);
    }
    new.priority = Priority::try_from(args.priority)
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    for (key, value) in &args.constraint {
        let values = new.constraints.entry(key.clone()).or_default();
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    if args.active {
        new.status = Status::Active;
    }
    let graph = read(context)?;
    if let Some(parent) = &args.parent {
        new.parent = Some(find(&graph, parent)?.id.clone());
    }
    let relations = [
        (Relation::DependsOn, &args.depends_on),
        (Relation::ConflictsWith, &args.conflicts_with),
    ];
    for (relation, texts) in relations {
        for text in texts {
            new.relations.push(related(&graph, relation, text)?);
        }
    }
    let intent = create(context, new)?;
    if context.ui.json {
        let graph = read(context)?;
        return context
            .ui
            .json_data(&IntentOutput::of(context, &graph, &intent));
    }
    context.ui.data(&format!("{}\n", intent.id))
}

fn related(graph: &Graph, relation: Relation, text: &str) -> Result<NewRelation, CommandError> {
    let id = find(graph, text)?.id.clone();
    Ok(NewRelation::new(relation, id))
}
