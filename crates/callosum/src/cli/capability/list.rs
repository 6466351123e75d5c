//! Arguments and output of `callosum capability list`.
//!
//! The use case is [`callosum_app::capability::list`].

use callosum_app::CommandError;
use callosum_app::capability::accepted::AcceptedManifests;
use callosum_app::capability::catalog::{CapabilityOutput, catalogue, count_unfit};
use callosum_app::capability::list::CapabilitiesOutput;
use callosum_app::capability::outcomes::OutcomeFile;
use callosum_app::constitution::{governance, governance_failed};
use callosum_plan_run::kernel::{CapabilityKind, CatalogueQuery, QueryOrder, TrustTier};
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, ValueEnum};

use crate::cli::context::Context;
use crate::ui::Table;

/// List the capabilities that plans can call
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum capability list
  $ callosum capability list --json")]
pub(crate) struct ListArgs {}

/// List capabilities by kind, skills and trust
///
/// Same as `(call :capability.query {:kind :agent :skills ["analysis"] :trust-tier 2})` in a plan.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum capability query --kind agent --trust-tier 2
  $ callosum capability query --skills history,context
  $ callosum capability query --kind agent --order score")]
pub(crate) struct QueryArgs {
    /// Only capabilities of this kind
    #[arg(long)]
    kind: Option<KindArg>,
    /// Only capabilities that have all of these skills
    #[arg(long, value_name = "SKILL", value_delimiter = ',')]
    skills: Vec<String>,
    /// Only capabilities of at least this trust tier
    #[arg(long, value_name = "0-3", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=3))]
    trust_tier: u8,
    /// Order of the list
    #[arg(long, default_value = "name")]
    order: OrderArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderArg {
    Name,
    Score,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KindArg {
    Primitive,
    Composite,
    Agent,
}

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    tell(context, &CatalogueQuery::default())
}

pub(super) fn query(context: &Context, args: &QueryArgs) -> Result<(), CommandError> {
    let kind = args.kind.map(|kind| match kind {
        KindArg::Primitive => CapabilityKind::Primitive,
        KindArg::Composite => CapabilityKind::Composite,
        KindArg::Agent => CapabilityKind::Agent,
    });
    let query = CatalogueQuery {
        kind,
        skills: args.skills.iter().cloned().collect(),
        // The parser of arguments has held it to the scale.
        trust_tier: TrustTier::try_from(args.trust_tier).unwrap_or(TrustTier::OWN),
        order: match args.order {
            OrderArg::Name => QueryOrder::Name,
            OrderArg::Score => QueryOrder::Score,
        },
    };
    tell(context, &query)
}

fn tell(context: &Context, query: &CatalogueQuery) -> Result<(), CommandError> {
    let revoked = governance(context)
        .revoked()
        .map_err(|error| governance_failed(&error))?;
    let catalogue = catalogue(context)?;
    count_unfit(context)?;
    let outcomes = OutcomeFile::of_project(context).outcomes();
    let accepted = AcceptedManifests::of_project(context).read()?;
    let capabilities: Vec<CapabilityOutput> = catalogue
        .query(query, &outcomes)
        .into_iter()
        .map(|manifest| {
            let output = CapabilityOutput::of(manifest, revoked.contains(&manifest.id), &outcomes);
            let pending = catalogue.pending(&manifest.id);
            output.with_history(accepted.get(manifest.id.as_str()), pending)
        })
        .collect();
    if context.ui.json {
        return context.ui.json_data(&CapabilitiesOutput { capabilities });
    }
    let mut table = Table::new(&[
        "capability",
        "kind",
        "trust",
        "score",
        "from",
        "effects",
        "does",
    ]);
    for one in capabilities {
        let from = match one.provider.as_str() {
            "" => one.source,
            provider => format!("{} {provider}", one.source),
        };
        let trust = if one.revoked {
            "revoked".to_owned()
        } else if one.pending_change.is_some() {
            "changed".to_owned()
        } else {
            one.trust_tier.to_string()
        };
        // One without calls has none to show, though it counts as in the middle.
        let score = match one.outcomes.calls {
            0 => "-".to_owned(),
            calls => format!("{:.2} ({calls})", one.outcomes.score),
        };
        table.row([
            one.id,
            one.kind,
            trust,
            score,
            from,
            one.effects.join(" "),
            on_one_line(&one.description),
        ]);
    }
    context.ui.read_by_all(&table.render())
}
