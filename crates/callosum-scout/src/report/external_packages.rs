//! [`Outside`]: the packages that a tree takes from elsewhere, who asks for them and who uses them.

use std::collections::{BTreeMap, BTreeSet};

use callosum_source::{language::Language, outline::Purpose};

use super::plural::{count, thousands};
use crate::{
    citation::{Cited, plain},
    file_role,
    manifest::{Dependency, Ecosystem, Manifest, Use},
    report_layout::{Group, Section, Statement},
    survey::Survey,
};

/// A package from outside, with who asks for it and who uses it.
struct Package<'s> {
    /// The manifests that ask for it.
    asked: Vec<(&'s Manifest, &'s Dependency)>,
    /// The files that use it, with the line of the use.
    users: BTreeMap<usize, (Purpose, u32)>,
}

/// All packages from outside, by ecosystem and name.
pub(super) struct Outside<'s> {
    packages: BTreeMap<(Family, String), Package<'s>>,
}

/// Registry of a name; several build tools may share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    Rust,
    Python,
    Script,
    Go,
    Java,
    Native,
}

impl Family {
    fn of_language(language: Language) -> Self {
        match language {
            Language::Rust => Self::Rust,
            Language::Python => Self::Python,
            Language::TypeScript | Language::Tsx | Language::JavaScript => Self::Script,
            Language::Go => Self::Go,
            Language::Java => Self::Java,
            Language::C | Language::Cpp => Self::Native,
        }
    }

    fn of_ecosystem(ecosystem: Ecosystem) -> Self {
        match ecosystem {
            Ecosystem::Cargo => Self::Rust,
            Ecosystem::Node => Self::Script,
            Ecosystem::Python => Self::Python,
            Ecosystem::Go => Self::Go,
            Ecosystem::Maven | Ecosystem::Gradle => Self::Java,
            _ => Self::Native,
        }
    }

    /// Whether a package that code uses must be imported by the name in its manifest. Java's
    /// artifacts and C's libraries have other names than what is imported from them.
    fn tells_names(self) -> bool {
        !matches!(self, Self::Java | Self::Native)
    }

    /// Returns a name in its form for comparison: registries do not distinguish `-` from `_`, nor
    /// cases in Python.
    fn key(self, name: &str) -> String {
        match self {
            Self::Python => name.to_ascii_lowercase().replace(['-', '.'], "_"),
            Self::Rust => name.replace('-', "_"),
            _ => name.to_owned(),
        }
    }
}

impl<'s> Outside<'s> {
    /// Joins what manifests ask for with what code imports.
    pub(super) fn of(survey: &'s Survey) -> Self {
        let mut packages: BTreeMap<(Family, String), Package<'s>> = BTreeMap::new();
        for manifest in &survey.manifests {
            let family = Family::of_ecosystem(manifest.ecosystem);
            for dependency in manifest.dependencies.iter().filter(|d| !d.local) {
                packages
                    .entry((family, family.key(&dependency.name)))
                    .or_insert_with(Package::unused)
                    .asked
                    .push((manifest, dependency));
            }
        }
        for outside in &survey.links.outside {
            let Some(language) = survey.files[outside.from].language else {
                continue;
            };
            let family = Family::of_language(language);
            packages
                .entry((family, family.key(&outside.package)))
                .or_insert_with(Package::unused)
                .uses(outside.from, (outside.purpose, outside.line));
        }
        for (at, file) in survey.files.iter().enumerate() {
            let heads = file
                .path_heads
                .iter()
                .map(|(head, line)| (head, Purpose::Run, line));
            let in_tests = file.test_path_heads.iter();
            let in_tests = in_tests.map(|(head, line)| (head, Purpose::Tests, line));
            for (head, purpose, line) in heads.chain(in_tests) {
                let owner = packages.iter_mut().find(|((family, key), package)| {
                    *family == Family::Rust && package.is_called(key, head)
                });
                if let Some((_, package)) = owner {
                    package.uses(at, (purpose, *line));
                }
            }
        }
        Self { packages }
    }

    /// Lists the packages that the product itself uses, most used first.
    pub(super) fn packages(&self, survey: &Survey) -> Section {
        let mut section = Section::new("packages", "Packages from outside", 26, "packages");
        let mut ranked: Vec<(usize, Family, &str, &Package<'_>)> = self
            .packages
            .iter()
            .filter(|(_, package)| package.is_for(Use::Normal))
            .map(|((family, key), package)| {
                (
                    package.source_users(survey).count(),
                    *family,
                    key.as_str(),
                    package,
                )
            })
            .collect();
        ranked.sort_by_key(|(users, family, key, _)| (std::cmp::Reverse(*users), *family, *key));
        for (users, family, key, package) in ranked {
            let other = package.other_use(survey, key).filter(|_| users == 0);
            if users == 0 && other.is_none() && family.tells_names() {
                continue;
            }
            let Some(mut statement) = package.statement(survey) else {
                continue;
            };
            if let Some((at, line)) = package.source_users(survey).next() {
                statement.words = format!("{}; {} it", statement.words, users_phrase(users));
                let cited = survey.files[at].cite_showing(line, 50, &package.names(key));
                statement = statement.shown_by(", as in", cited);
            } else if let Some((what, cited)) = other {
                statement.words = format!("{}; {what}", statement.words);
                statement = statement.shown_by(", as in", cited);
            }
            section.say(statement);
        }
        section
    }

    /// Lists the packages that only builds, tests and tools need.
    pub(super) fn tools(&self, survey: &Survey) -> Section {
        let mut section = Section::new(
            "dev-packages",
            "For building and testing only",
            7,
            "packages",
        );
        for package in self
            .packages
            .values()
            .filter(|package| !package.is_for(Use::Normal))
        {
            section
                .groups
                .extend(package.statement(survey).map(Group::of));
        }
        section
    }

    /// Lists requested packages without a trace in the code.
    pub(super) fn unseen(&self, survey: &Survey) -> Section {
        let title =
            "Asked for, but no code was seen to name them (plug-ins and type packages look so too)";
        let mut section = Section::new("unseen", title, 6, "packages");
        // A part of the tree tells nothing of what the rest names.
        if !survey.scope.is_empty() {
            return section;
        }
        for ((family, _), package) in &self.packages {
            if family.tells_names() && package.is_for(Use::Normal) && package.users.is_empty() {
                let statement = package.statement(survey);
                section.groups.extend(statement.map(Group::of));
            }
        }
        section
    }

    /// Lists packages that the code imports and no manifest asks for.
    pub(super) fn undeclared(&self, survey: &Survey) -> Section {
        let mut section = Section::new(
            "undeclared",
            "Imported by the product's code, but asked for by no manifest",
            5,
            "packages",
        );
        let declares = |family: Family| {
            survey
                .manifests
                .iter()
                .any(|manifest| Family::of_ecosystem(manifest.ecosystem) == family)
        };
        for ((family, key), package) in &self.packages {
            if !package.asked.is_empty() || !family.tells_names() || !declares(*family) {
                continue;
            }
            let Some((at, line)) = package.source_users(survey).next() else {
                continue;
            };
            if let Some(cited) = survey.files[at].cite_briefly(line, 60) {
                let users = package.source_users(survey).count();
                section.say(Statement::at(cited).says(&format!(
                    "{} ({})",
                    plain(key, 60),
                    count(users, "file")
                )));
            }
        }
        section
    }
}

impl Package<'_> {
    fn unused() -> Self {
        Self {
            asked: Vec::new(),
            users: BTreeMap::new(),
        }
    }

    /// Adds a file that uses it; of several uses the first for the first purpose counts.
    fn uses(&mut self, file: usize, needed: (Purpose, u32)) {
        let first = self.users.entry(file).or_insert(needed);
        *first = needed.min(*first);
    }

    /// Whether `head::…` in Rust code means this package.
    fn is_called(&self, key: &str, head: &str) -> bool {
        self.asked
            .iter()
            .any(|(_, dependency)| match &dependency.alias {
                Some(alias) => alias.replace('-', "_") == head,
                None => key == head,
            })
    }

    /// Whether the product asks for it in this role; if only tests and examples ask for it, whether they do.
    fn is_for(&self, role: Use) -> bool {
        let is_own = |manifest: &Manifest| !file_role::is_aside(manifest.folder());
        let has_own = self.asked.iter().any(|(manifest, _)| is_own(manifest));
        let mut asked = self.asked.iter();
        asked
            .any(|(manifest, dependency)| dependency.role == role && (is_own(manifest) || !has_own))
    }

    /// The product's own files that use it when they run.
    fn source_users<'a>(&'a self, survey: &'a Survey) -> impl Iterator<Item = (usize, u32)> + 'a {
        let users = self.users.iter();
        let running = users.filter(|(_, (purpose, _))| *purpose == Purpose::Run);
        running
            .map(|(at, (_, line))| (*at, *line))
            .filter(|(at, _)| survey.files[*at].is_source())
    }

    /// Returns the use of a package that no running code uses, with one place as evidence.
    fn other_use(&self, survey: &Survey, key: &str) -> Option<(&'static str, Option<Cited>)> {
        let mut users = self.users.iter();
        let (at, (purpose, line)) = users.find(|(at, _)| survey.files[**at].is_source())?;
        let what = match purpose {
            Purpose::Run => return None,
            Purpose::Types => "for type checking only",
            Purpose::Tests => "only in tests next to the code",
        };
        let cited = survey.files[*at].cite_showing(*line, 50, &self.names(key));
        Some((what, cited))
    }

    /// The names by which code may call it: its own, and those that manifests give it.
    fn names<'a>(&'a self, key: &'a str) -> Vec<&'a str> {
        let asked = self.asked.iter();
        let aliases = asked.filter_map(|(_, dependency)| dependency.alias.as_deref());
        aliases.chain([key]).collect()
    }

    /// Returns name, version and place of the manifest that counts most: the product's own before
    /// those of its tests and examples, one in a higher folder before one below it.
    fn statement(&self, survey: &Survey) -> Option<Statement> {
        let strongest = |(manifest, dependency): &&(&Manifest, &Dependency)| {
            let folder = manifest.folder();
            (
                file_role::is_aside(folder),
                dependency.role,
                dependency.requirement.is_none(),
                folder.split('/').filter(|part| !part.is_empty()).count(),
            )
        };
        let (manifest, dependency) = self.asked.iter().min_by_key(strongest)?;
        let requirement = dependency
            .requirement
            .as_ref()
            .map(|requirement| format!(" {}", plain(requirement, 40)))
            .unwrap_or_default();
        let optional = if dependency.optional {
            ", optional"
        } else {
            ""
        };
        let manifests: BTreeSet<&str> = self.asked.iter().map(|(m, _)| m.path.as_str()).collect();
        let also = match manifests.len() {
            1 => String::new(),
            more => format!(" and {} more", count(more - 1, "manifest")),
        };
        let cited = survey.cite(&manifest.path, dependency.line)?;
        Some(Statement::at(cited).says(&format!(
            "{}{requirement}{optional}{also}",
            plain(&dependency.name, 70)
        )))
    }
}

fn users_phrase(users: usize) -> String {
    match users {
        1 => "1 source file uses".to_owned(),
        more => format!("{} source files use", thousands(more as u64)),
    }
}
