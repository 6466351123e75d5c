//! Use cases of `callosum guard`.

pub mod allow;
pub mod auto_allow;
pub mod check;
pub mod corpus;
pub mod explain;
pub mod log;
pub mod metrics;
pub mod place;
pub mod rule;
pub mod rules;
pub mod secrets;

pub use self::allow::{PermitOutput, PermitsOutput};
pub use self::auto_allow::{AutoAllowOutput, PresetsOutput};
pub use self::check::CheckOutput;
pub use self::corpus::TestOutput;
pub use self::explain::ExplainOutput;
pub use self::metrics::MetricsOutput;
pub use self::rule::RuleOutput;
pub use self::rules::RulesOutput;
pub use self::secrets::SecretsOutput;
