//! `callosum generate`: completions, manual pages, schemas and the reference page, made from the commands themselves.

use callosum_app::{CommandError, Exit};
use clap::{Args, Subcommand};
use clap_complete::Shell;
use schemars::JsonSchema;
use serde::Serialize;

use super::{completions, reference, schema, tree};
use crate::ui::Ui;

/// Print shell completions, manual pages, JSON Schemas or the reference page
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
    /// Print the JSON Schema of a command's --json output
    #[command(after_long_help = "\
Examples:
  $ callosum generate schema --list
  $ callosum generate schema output-delegate")]
    Schema(SchemaArgs),
    /// Print the help of every command as one Markdown page
    #[command(after_long_help = "\
Examples:
  $ callosum generate reference > cli.md")]
    Reference,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell to print the script for
    shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Words of the command [default: the page of callosum]
    command: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SchemaArgs {
    /// List the schemas
    #[arg(long, conflicts_with = "name")]
    list: bool,
    /// Name of the schema
    #[arg(required_unless_present = "list")]
    name: Option<String>,
}

/// `callosum generate schema --list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct SchemasOutput {
    /// Their names.
    pub(crate) schemas: Vec<&'static str>,
}

pub(super) fn run(command: &GenerateCommand, ui: Ui) -> Result<(), CommandError> {
    let mut bytes = Vec::new();
    match command {
        GenerateCommand::Reference => return ui.data(&reference::page(tree())),
        GenerateCommand::Completions(args) => return ui.data(&completions::script(args.shell)),
        GenerateCommand::Schema(SchemaArgs { name: None, .. }) => {
            let schemas = schema::all()
                .into_iter()
                .map(|(name, _)| name)
                .collect::<Vec<_>>();
            if ui.json {
                return ui.json_data(&SchemasOutput { schemas });
            }
            return ui.data(&format!("{}\n", schemas.join("\n")));
        }
        GenerateCommand::Schema(SchemaArgs {
            name: Some(name), ..
        }) => {
            let Some(schema) = schema::named(name) else {
                let what = format!("unknown schema `{name}`");
                return Err(
                    CommandError::new(Exit::Usage, what).hint("callosum generate schema --list")
                );
            };
            return ui.json_data(&schema);
        }
        GenerateCommand::Man(args) => {
            // Options of the program belong to each command only once the tree is built.
            let mut found = tree();
            found.build();
            let mut words = vec!["callosum"];
            for word in &args.command {
                let next = found
                    .find_subcommand(word)
                    .filter(|command| !command.is_hide_set() && command.get_name() != "help");
                let Some(next) = next.cloned() else {
                    let name = words.join(" ");
                    let what = format!("`{name}` has no command `{word}`");
                    return Err(CommandError::new(Exit::Usage, what).hint(format!("{name} --help")));
                };
                words.push(word);
                found = next;
            }
            let name = words.join("-");
            // The tree has a command `help` at each level, which has no page.
            if found.find_subcommand("help").is_some() {
                found = found.mut_subcommand("help", |help| help.hide(true));
            }
            // Its own line in the page is for a shell, where its file's name is no command.
            let found = found.bin_name(words.join(" "));
            // Only the program itself has a version, so clap_mangen would leave the source of all other pages empty.
            let page = clap_mangen::Man::new(found.display_name(name.clone()))
                .title(name)
                .source(concat!("callosum ", env!("CARGO_PKG_VERSION")))
                .manual("Callosum Manual");
            page.render(&mut bytes).map_err(CommandError::internal)?;
        }
    }
    ui.data(&String::from_utf8_lossy(&bytes))
}
