//! `deps`: dependencies among the parts, and on packages from outside.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    external_packages::Outside,
    modules::represent,
    plural::{Names, size},
};
use crate::{
    citation::{Cited, plain},
    dependency_graph::Graph,
    file_role::Role,
    manifest::Use,
    modules::{Module, module_of_file, modules},
    references::Mentions,
    report_layout::{Page, Section, Statement},
    survey::{Survey, import_graph::Edge},
};

/// As many parts as a reader can follow in a graph.
const MOST_MODULES: usize = 26;

/// The page of dependencies.
pub(super) fn page(survey: &Survey, names: Names) -> Page {
    let modules = modules(survey, MOST_MODULES);
    let links = ModuleLinks::of(survey, &modules);
    let outside = Outside::of(survey);
    Page {
        head: Vec::new(),
        sections: vec![
            module_graph(survey, &modules, &links, names),
            cycles(survey, &modules, &links, names),
            outside.packages(survey),
            outside.tools(survey),
            outside.unseen(survey),
            outside.undeclared(survey),
            local_packages(survey, names),
        ],
    }
}

/// Dependencies among modules, with the first import for each pair.
struct ModuleLinks {
    graph: Graph,
    first: BTreeMap<(usize, usize), Edge>,
}

impl ModuleLinks {
    fn of(survey: &Survey, modules: &[Module]) -> Self {
        let of_file = module_of_file(modules, survey.files.len());
        let mut graph = Graph::new(modules.len());
        let mut first = BTreeMap::new();
        for edge in survey.links.uses() {
            if let (Some(from), Some(to)) = (of_file[edge.from], of_file[edge.to])
                && from != to
            {
                graph.add(from, to);
                first.entry((from, to)).or_insert(*edge);
            }
        }
        Self { graph, first }
    }

    fn cite(&self, survey: &Survey, from: usize, to: usize, longest: usize) -> Option<Cited> {
        let edge = self.first.get(&(from, to))?;
        survey.files[edge.from].cite_briefly(edge.line, longest)
    }
}

fn module_graph(survey: &Survey, modules: &[Module], links: &ModuleLinks, most: Names) -> Section {
    let graph = &links.graph;
    let layers = graph.layers();
    let top = layers.iter().max().copied().unwrap_or(0);
    let shared = Shared::of(modules);
    let title = match top {
        0 => "Parts".to_owned(),
        top => format!("Parts, from layer {top} down to layer 0; those of one cycle share a layer"),
    };
    let mut section = Section::new("parts", format!("{title}{}", shared.note()), 40, "parts");
    let mentions = Mentions::of(survey);
    let mut order: Vec<usize> = (0..modules.len()).collect();
    order.sort_by_key(|at| {
        (
            std::cmp::Reverse(layers[*at]),
            std::cmp::Reverse(modules[*at].lines),
            *at,
        )
    });
    for at in order {
        let module = &modules[at];
        let mut targets: Vec<(usize, usize)> = graph.out(at).collect();
        targets.sort_by_key(|(to, weight)| (std::cmp::Reverse(*weight), *to));
        // The place names a part of one file already.
        let name = match module.files.len() {
            1 => String::new(),
            _ => format!("{} ", shared.name(module)),
        };
        let facts = format!(
            "layer {}; {}; used by {}",
            layers[at],
            size(module),
            graph.in_degree(at)
        );
        let Some((strongest, _)) = targets.first() else {
            let longest = module
                .files
                .iter()
                .max_by_key(|file| survey.files[**file].lines);
            if let Some(statement) = longest.and_then(|at| represent(survey, &mentions, *at)) {
                section.say(statement.says(&format!("{name}uses no other part ({facts})")));
            }
            continue;
        };
        let names: Vec<String> = targets
            .iter()
            .map(|(to, weight)| match weight {
                1 => shared.name(&modules[*to]),
                more => format!("{} ×{more}", shared.name(&modules[*to])),
            })
            .collect();
        let itself = || survey.files[*module.files.first()?].cite_itself();
        if let Some(cited) = links.cite(survey, at, *strongest, 60).or_else(itself) {
            let words = format!("{name}→ {} ({facts})", most.list(&names, 7));
            section.say(Statement::at(cited).says(&words));
        }
    }
    section
}

/// The folder that all parts are in, if its name is long: it is named once, in the heading, and every
/// part has the same name wherever it is mentioned.
struct Shared<'m>(&'m str);

/// A folder with a shorter name is not worth leaving out.
const SHORTEST_SHARED: usize = 20;

impl<'m> Shared<'m> {
    fn of(modules: &'m [Module]) -> Self {
        let folder = |module: &'m Module| {
            let name = module.name.trim_end_matches('/');
            name.rsplit_once('/').map_or("", |(folder, _)| folder)
        };
        let mut names = modules.iter().map(folder);
        let Some(mut shared) = names.next() else {
            return Self("");
        };
        for name in names {
            while !(shared.is_empty()
                || name == shared
                || name
                    .strip_prefix(shared)
                    .is_some_and(|rest| rest.starts_with('/')))
            {
                shared = shared.rsplit_once('/').map_or("", |(above, _)| above);
            }
        }
        Self(if shared.len() < SHORTEST_SHARED {
            ""
        } else {
            shared
        })
    }

    fn name(&self, module: &Module) -> String {
        let name = module.name.strip_prefix(self.0).unwrap_or(&module.name);
        let name = if self.0.is_empty() {
            name
        } else {
            name.trim_start_matches('/')
        };
        plain(name, 120)
    }

    fn note(&self) -> String {
        match self.0 {
            "" => String::new(),
            folder => format!("; names are below {}/", plain(folder, 120)),
        }
    }
}

fn cycles(survey: &Survey, modules: &[Module], links: &ModuleLinks, most: Names) -> Section {
    let mut section = Section::new("cycles", "Cycles between parts", 14, "cycles");
    let shared = Shared::of(modules);
    let mut components: Vec<Vec<usize>> = links
        .graph
        .components()
        .into_iter()
        .filter(|members| members.len() > 1)
        .collect();
    components.sort_by_key(|members| (std::cmp::Reverse(members.len()), members.clone()));
    for members in &components {
        let way = members
            .iter()
            .map(|start| links.graph.round_trip(*start, members))
            .filter(|way| !way.is_empty())
            .min_by_key(Vec::len)
            .unwrap_or_default();
        let name = |at: &usize| shared.name(&modules[*at]);
        let names: Vec<String> = members.iter().map(name).collect();
        let round: Vec<String> = way.iter().chain(way.first()).map(name).collect();
        let steps = way.iter().zip(way.iter().cycle().skip(1));
        let mut steps = steps.filter_map(|(from, to)| {
            let cited = links.cite(survey, *from, *to, 70)?;
            Some((Statement::at(cited), name(to)))
        });
        let Some((first, _)) = steps.next() else {
            continue;
        };
        let among = if members.len() == way.len() {
            String::new()
        } else {
            format!(
                " (the shortest way round among {} parts that all reach each other: {})",
                members.len(),
                most.list(&names, 8)
            )
        };
        let head = first.says(&format!("{}{among}", round.join(" → ")));
        let rest = steps.map(|(step, to)| step.says(&format!("→ {to}")));
        section.say_with(head, rest.collect());
    }
    if components.is_empty() && modules.len() > 1 && !links.first.is_empty() {
        section.say(Statement::text("none: the parts form layers"));
    }
    section
}

/// Lists the dependencies among the packages of the tree.
fn local_packages(survey: &Survey, most: Names) -> Section {
    let mut section = Section::new(
        "local-packages",
        "Packages of this tree, as their manifests join them",
        8,
        "packages",
    );
    let named: BTreeSet<&str> = survey
        .manifests
        .iter()
        .filter_map(|manifest| Some(manifest.package.as_ref()?.name.text.as_str()))
        .collect();
    for manifest in &survey.manifests {
        let Some(package) = &manifest.package else {
            continue;
        };
        if survey
            .file(&manifest.path)
            .is_some_and(|file| file.role != Role::Manifest)
        {
            continue;
        }
        let mut joined: Vec<(&str, u32)> = manifest
            .dependencies
            .iter()
            .filter(|dependency| dependency.role == Use::Normal)
            .filter(|dependency| dependency.local || named.contains(dependency.name.as_str()))
            .map(|dependency| (dependency.name.as_str(), dependency.line))
            .collect();
        joined.sort_unstable();
        joined.dedup_by_key(|(name, _)| *name);
        let Some((_, line)) = joined.first() else {
            continue;
        };
        let names: Vec<String> = joined.iter().map(|(name, _)| plain(name, 50)).collect();
        if let Some(cited) = survey.cite(&manifest.path, *line) {
            section.say(Statement::at(cited).says(&format!(
                "{} → {}",
                plain(&package.name.text, 60),
                most.list(&names, 10)
            )));
        }
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<String> {
        let modules: Vec<Module> = names
            .iter()
            .map(|name| Module {
                name: (*name).to_owned(),
                files: vec![0, 1],
                lines: 1,
            })
            .collect();
        let shared = Shared::of(&modules);
        modules.iter().map(|module| shared.name(module)).collect()
    }

    /// `sansio/… → blueprints.py` meant one of two files of that name.
    #[test]
    fn a_part_has_one_name_that_no_other_has() {
        let names = [
            "src/shelf/blueprints.py",
            "src/shelf/sansio/blueprints.py",
            "src/shelf/json/",
        ];
        assert_eq!(named(&names), names);
    }

    #[test]
    fn a_long_folder_that_all_share_is_left_out_of_every_name() {
        assert_eq!(
            named(&[
                "app/src/main/java/org/web/A.java",
                "app/src/main/java/org/*",
                "app/src/main/java/org/db/"
            ]),
            ["web/A.java", "*", "db/"]
        );
        assert_eq!(
            Shared::of(&[Module {
                name: "app/src/main/java/org/web/A.java".to_owned(),
                files: vec![0],
                lines: 1,
            }])
            .note(),
            "; names are below app/src/main/java/org/web/"
        );
    }
}
