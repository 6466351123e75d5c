//! `callosum generate`: completions, manual pages and schemas, made from the commands themselves.

use clap::{Args, Subcommand};
use clap_complete::Shell;

use super::{
    schema::{self, SCHEMAS},
    tree,
};
use crate::ui::{CommandError, Exit, Ui};

/// Print shell completions, manual pages or JSON Schemas
#[derive(Debug, Subcommand)]
pub(crate) enum GenerateCommand {
    /// Print a completion script
    #[command(after_long_help = "\
Examples:
  $ callosum generate completions bash
  $ callosum generate completions fish")]
    Completions(CompletionsArgs),
    /// Print a manual page
    #[command(after_long_help = "\
Examples:
  $ callosum generate man
  $ callosum generate man delegate")]
    Man(ManArgs),
    /// Print the JSON Schema of what a command prints with --json
    #[command(after_long_help = "\
Examples:
  $ callosum generate schema --list
  $ callosum generate schema output-delegate")]
    Schema(SchemaArgs),
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell that will read it
    shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The command, word by word; all of callosum where none is given
    command: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SchemaArgs {
    /// Name the schemas that there are
    #[arg(long, exclusive = true)]
    list: bool,
    /// Which
    #[arg(required_unless_present = "list")]
    name: Option<String>,
}

pub(super) fn run(command: &GenerateCommand, ui: Ui) -> Result<(), CommandError> {
    let mut bytes = Vec::new();
    match command {
        GenerateCommand::Completions(args) => {
            clap_complete::generate(args.shell, &mut tree(), "callosum", &mut bytes);
        }
        GenerateCommand::Schema(SchemaArgs { name: None, .. }) => {
            let mut names = String::new();
            for (name, _) in SCHEMAS {
                names.push_str(name);
                names.push('\n');
            }
            return ui.data(&names);
        }
        GenerateCommand::Schema(SchemaArgs {
            name: Some(name), ..
        }) => {
            let Some(schema) = schema::named(name) else {
                let what = format!("there is no schema `{name}`");
                return Err(
                    CommandError::new(Exit::Usage, what).hint("callosum generate schema --list")
                );
            };
            return ui.json_data(&schema);
        }
        GenerateCommand::Man(args) => {
            let mut found = tree();
            let mut name = String::from("callosum");
            for word in &args.command {
                let next = found
                    .find_subcommand(word)
                    .filter(|command| !command.is_hide_set());
                let Some(next) = next.cloned() else {
                    let what = format!("`{name}` has no command `{word}`");
                    return Err(CommandError::new(Exit::Usage, what).hint("callosum --help"));
                };
                name = format!("{name}-{word}");
                found = next;
            }
            let page = clap_mangen::Man::new(found.display_name(name.clone())).title(name);
            page.render(&mut bytes).map_err(CommandError::internal)?;
        }
    }
    ui.data(&String::from_utf8_lossy(&bytes))
}
