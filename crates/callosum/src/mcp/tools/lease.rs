//! `lease`: who works on which file.

use std::path::Path;

use callosum_mesh::board::Order;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{DATA, Effect, Tool, in_quotes, needed, read, schema};
use crate::{
    cli::{
        Context,
        mesh::{
            asking,
            lease::{LeaseOutput, absolute, listed},
            open,
        },
    },
    mcp::answer,
    ui::{CommandError, Exit},
};

pub(super) const TOOL: Tool = Tool {
    name: "lease",
    about: "Who works on which file; take or release one.",
    effect: Effect::Adds,
    schema: schema::<Arguments>,
    call,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    r#do: Deed,
    path: Option<String>,
    why: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Deed {
    List,
    Take,
    Release,
}

fn call(context: &Context, arguments: Value) -> Result<String, CommandError> {
    let Arguments {
        r#do: deed,
        path,
        why,
    } = read(arguments)?;
    let file = || {
        let path = needed(path.clone(), "path", "the file")?;
        absolute(context, Path::new(&path))
    };
    match deed {
        Deed::List => {
            let leases = listed(context, |_| true)?;
            if leases.is_empty() {
                return Ok("nobody works on a file\n".to_owned());
            }
            let leases: Vec<String> = leases.iter().map(told).collect();
            let told = answer::fitted(&leases, answer::USUAL, "leases");
            Ok(format!("{DATA}{told}"))
        }
        Deed::Take => {
            let path = file()?;
            let order = Order::Lease {
                path: path.clone(),
                why,
                anyway: false,
            };
            open::given(context, order, &asking(context))?;
            let taken = listed(context, |lease| lease.path == path)?;
            Ok(taken.iter().map(told).collect())
        }
        Deed::Release => {
            let path = file()?;
            let order = Order::Unlease {
                path: path.clone(),
                anyway: false,
                token: None,
            };
            if open::given(context, order, &asking(context))?.is_empty() {
                let what = format!("nobody has a lease on {}", in_quotes(&path));
                return Err(CommandError::new(Exit::No, what));
            }
            Ok(format!("{path} is free\n"))
        }
    }
}

/// A lease as a model reads it: what others wrote is in quotes.
fn told(lease: &LeaseOutput) -> String {
    let session = lease.session_id.as_deref().map(in_quotes);
    let session = session.map(|session| format!(" in session {session}"));
    let why = lease.why.as_deref().map(in_quotes);
    let why = why.map(|why| format!(": {why}"));
    format!(
        "{} {}{} until {}{}\n",
        in_quotes(&lease.path),
        lease.by,
        session.unwrap_or_default(),
        lease.until,
        why.unwrap_or_default()
    )
}
