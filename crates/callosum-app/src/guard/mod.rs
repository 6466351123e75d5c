//! Use cases of `callosum guard`.

pub mod allow;
pub mod auto_allow;
pub mod check;
pub mod evaluate;
pub mod explain;
pub mod gather_facts;
pub mod log;
pub mod metrics;
pub mod rule;
pub mod rules;
pub mod secrets;

pub use self::allow::{PermitOutput, PermitsOutput};
pub use self::auto_allow::{AutoAllowOutput, PresetsOutput};
pub use self::check::CheckOutput;
pub use self::evaluate::TestOutput;
pub use self::explain::ExplainOutput;
pub use self::metrics::MetricsOutput;
pub use self::rule::RuleOutput;
pub use self::rules::RulesOutput;
pub use self::secrets::SecretsOutput;
