//! [`Concept`]: a group of words with one meaning for routing, and [`RULES`], which turn concepts into evidence.
//!
//! A rule of two concepts needs both: "review" and "large" is a large review, either word alone is not.

/// A group of words, file names or sizes that mean the same for routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Concept {
    /// Tools and products of an iOS build: archives, profiles, signing, TestFlight.
    IosBuild,
    /// Apple's platforms and languages.
    Ios,
    /// To build, archive, sign or upload.
    Build,
    /// Architecture by its own terms: boundaries, monolith, event sourcing.
    Architecture,
    /// Parts that a system is designed from.
    System,
    /// To design or to restructure.
    Design,
    /// To weigh alternatives.
    Choice,
    /// Technologies that are alternatives to one another: stores, queues, protocols.
    Technology,
    /// To review, audit or critique.
    Review,
    /// To read, trace or search through.
    Read,
    /// More than a small context holds.
    Large,
    /// To combine into one.
    Merge,
    /// To compare or to find agreement.
    Compare,
    /// Several texts: drafts, reports, answers.
    Texts,
    /// One result of many sources.
    OneResult,
    /// Tables, records and files of data.
    Data,
    /// Statistics about data.
    Statistic,
    /// Charts and pivot tables.
    Chart,
    /// To analyze, group or aggregate.
    Analyze,
    /// Output in a fixed form.
    Structured,
    /// To extract, convert or normalize.
    Extract,
    /// Customers, leads and deals.
    Crm,
    /// Money and business figures.
    Finance,
    /// Mathematics by its own terms.
    Mathematics,
    /// To calculate, solve or prove.
    Compute,
    /// Amounts in the prompt: percentages, currency.
    Figure,
    /// Containers, virtual machines, clusters, networks and their tools.
    Infrastructure,
    /// Machines and environments in general.
    Server,
    /// To deploy, provision or configure.
    Deploy,
    /// Texts for people: posts, slogans, stories.
    Creative,
    /// The tone of such a text.
    Tone,
    /// To write, name or phrase.
    Write,
    /// Libraries, packages, licenses and lock files.
    Dependency,
    /// Known flaws of libraries.
    Flaw,
    /// Several projects or repositories.
    Projects,
    /// A version number, or words about versions.
    Version,
    /// To find where something is used.
    Find,
    /// Terms of ordinary coding: function, test, bug.
    Code,
    /// To fix, rename or refactor.
    Fix,
    /// To add or implement.
    Implement,
}

/// The category of a rule: the key of a default category, or none for ordinary coding.
pub(super) type Target = Option<&'static str>;

/// Evidence: the category, the concepts that must all occur, and the weight of one word of each.
pub(super) struct Rule {
    /// The category that gains; `None` for ordinary coding, which no default category is for.
    pub(super) target: Target,
    /// The concepts that must all occur.
    pub(super) needs: &'static [Concept],
    /// The evidence at strength 1.
    pub(super) weight: f64,
}

const fn rule(target: Target, needs: &'static [Concept], weight: f64) -> Rule {
    Rule {
        target,
        needs,
        weight,
    }
}

const IOS_BUILD: Target = Some("ios-build");
const ARCHITECTURE: Target = Some("architecture");
const LARGE_REVIEW: Target = Some("large-review");
const SYNTHESIS: Target = Some("synthesis");
const DATA_ANALYSIS: Target = Some("data-analysis");
const CRM_MATH: Target = Some("crm-math");
const INFRASTRUCTURE: Target = Some("infrastructure");
const CREATIVE: Target = Some("creative");
const DEPENDENCY_SCAN: Target = Some("dependency-scan");
const CODING: Target = None;

use Concept as C;

/// The rules of the nine default categories and of ordinary coding.
pub(super) const RULES: &[Rule] = &[
    rule(IOS_BUILD, &[C::IosBuild], 3.0),
    rule(IOS_BUILD, &[C::Ios], 1.2),
    rule(IOS_BUILD, &[C::Ios, C::Build], 2.5),
    rule(IOS_BUILD, &[C::IosBuild, C::Build], 1.5),
    rule(ARCHITECTURE, &[C::Architecture], 2.4),
    rule(ARCHITECTURE, &[C::Design], 0.6),
    rule(ARCHITECTURE, &[C::Design, C::System], 2.4),
    rule(ARCHITECTURE, &[C::Choice], 0.8),
    rule(ARCHITECTURE, &[C::Choice, C::System], 2.0),
    rule(ARCHITECTURE, &[C::Choice, C::Technology], 2.4),
    rule(LARGE_REVIEW, &[C::Review], 0.7),
    rule(LARGE_REVIEW, &[C::Large], 1.4),
    rule(LARGE_REVIEW, &[C::Review, C::Large], 3.8),
    rule(LARGE_REVIEW, &[C::Read, C::Large], 2.8),
    rule(SYNTHESIS, &[C::OneResult], 0.9),
    rule(SYNTHESIS, &[C::Texts], 1.0),
    rule(SYNTHESIS, &[C::Merge], 0.6),
    rule(SYNTHESIS, &[C::Merge, C::Texts], 3.6),
    rule(SYNTHESIS, &[C::Merge, C::OneResult], 2.2),
    rule(SYNTHESIS, &[C::Compare, C::Texts], 2.4),
    rule(SYNTHESIS, &[C::OneResult, C::Texts], 2.0),
    rule(DATA_ANALYSIS, &[C::Data], 1.5),
    rule(DATA_ANALYSIS, &[C::Statistic], 1.0),
    rule(DATA_ANALYSIS, &[C::Chart], 1.4),
    rule(DATA_ANALYSIS, &[C::Structured], 2.2),
    rule(DATA_ANALYSIS, &[C::Analyze], 0.5),
    rule(DATA_ANALYSIS, &[C::Analyze, C::Data], 2.4),
    rule(DATA_ANALYSIS, &[C::Analyze, C::Statistic], 1.6),
    rule(DATA_ANALYSIS, &[C::Data, C::Statistic], 1.4),
    rule(DATA_ANALYSIS, &[C::Extract, C::Structured], 2.0),
    rule(DATA_ANALYSIS, &[C::Extract, C::Data], 1.4),
    rule(CRM_MATH, &[C::Crm], 2.2),
    rule(CRM_MATH, &[C::Mathematics], 2.4),
    rule(CRM_MATH, &[C::Finance], 0.9),
    rule(CRM_MATH, &[C::Compute], 1.0),
    rule(CRM_MATH, &[C::Compute, C::Crm], 1.5),
    rule(CRM_MATH, &[C::Compute, C::Finance], 2.0),
    rule(CRM_MATH, &[C::Compute, C::Mathematics], 1.5),
    rule(CRM_MATH, &[C::Compute, C::Figure], 1.5),
    rule(CRM_MATH, &[C::Finance, C::Figure], 1.0),
    rule(CRM_MATH, &[C::Mathematics, C::Figure], 1.0),
    rule(INFRASTRUCTURE, &[C::Infrastructure], 2.4),
    rule(INFRASTRUCTURE, &[C::Server], 1.0),
    rule(INFRASTRUCTURE, &[C::Deploy], 0.8),
    rule(INFRASTRUCTURE, &[C::Deploy, C::Infrastructure], 1.8),
    rule(INFRASTRUCTURE, &[C::Deploy, C::Server], 1.8),
    rule(CREATIVE, &[C::Creative], 2.2),
    rule(CREATIVE, &[C::Tone], 1.4),
    rule(CREATIVE, &[C::Write], 0.5),
    rule(CREATIVE, &[C::Write, C::Creative], 2.4),
    rule(CREATIVE, &[C::Write, C::Tone], 1.2),
    rule(DEPENDENCY_SCAN, &[C::Dependency], 1.3),
    rule(DEPENDENCY_SCAN, &[C::Flaw], 1.0),
    rule(DEPENDENCY_SCAN, &[C::Projects], 1.1),
    rule(DEPENDENCY_SCAN, &[C::Dependency, C::Projects], 3.4),
    rule(DEPENDENCY_SCAN, &[C::Flaw, C::Projects], 2.0),
    rule(DEPENDENCY_SCAN, &[C::Version, C::Projects], 2.0),
    rule(DEPENDENCY_SCAN, &[C::Version, C::Dependency], 1.2),
    rule(DEPENDENCY_SCAN, &[C::Find, C::Dependency], 1.0),
    rule(DEPENDENCY_SCAN, &[C::Find, C::Projects], 1.6),
    rule(DEPENDENCY_SCAN, &[C::Flaw, C::Dependency], 1.2),
    rule(CODING, &[C::Code], 1.2),
    rule(CODING, &[C::Fix], 0.6),
    rule(CODING, &[C::Fix, C::Code], 1.5),
    rule(CODING, &[C::Implement, C::Code], 1.5),
    rule(CODING, &[C::Write, C::Code], 1.0),
];

impl Concept {
    /// Returns true for a concept of verbs: a request opens with such a verb.
    pub(super) fn is_action(self) -> bool {
        matches!(
            self,
            C::Build
                | C::Design
                | C::Choice
                | C::Review
                | C::Read
                | C::Merge
                | C::Compare
                | C::Analyze
                | C::Extract
                | C::Compute
                | C::Deploy
                | C::Write
                | C::Find
                | C::Fix
                | C::Implement
        )
    }

    /// Returns true if only rules for ordinary coding use it.
    pub(super) fn is_coding(self) -> bool {
        matches!(self, C::Code | C::Fix | C::Implement)
    }

    /// Returns true if it is a size, counted or measured.
    pub(super) fn is_size(self) -> bool {
        matches!(self, C::Large | C::Texts | C::Projects | C::Figure)
    }
}
