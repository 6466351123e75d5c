//! `lease`: who works on which file.

use std::path::Path;

use callosum_mesh::board::Order;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Tool, needed, read, schema};
use crate::{
    cli::{
        Context,
        mesh::{
            asking,
            lease::{absolute, line, listed},
            open,
        },
    },
    mcp::answer,
    ui::CommandError,
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
            let leases: Vec<String> = leases.iter().map(line).collect();
            Ok(answer::fitted(&leases, answer::USUAL, "leases"))
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
            Ok(taken.iter().map(line).collect())
        }
        Deed::Release => {
            let path = file()?;
            let order = Order::Unlease {
                path: path.clone(),
                anyway: false,
                token: None,
            };
            open::given(context, order, &asking(context))?;
            Ok(format!("{path} is free\n"))
        }
    }
}
