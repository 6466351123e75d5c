//! `deps`: which part leans on which, and on what from outside.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    outside::Outside,
    phrase::{list, size},
};
use crate::scout::{
    citation::plain,
    graph::Graph,
    manifest::Use,
    modules::{Module, module_of_file, modules},
    page::{Page, Section},
    role::Role,
    survey::{Survey, file::SurveyedFile, links::Edge},
};

/// As many parts as a reader can follow in a graph.
const MOST_MODULES: usize = 26;

/// The page of dependencies.
pub(super) fn page(survey: &Survey) -> Page {
    let modules = modules(survey, MOST_MODULES);
    let links = ModuleLinks::of(survey, &modules);
    let outside = Outside::of(survey);
    Page {
        head: Vec::new(),
        sections: vec![
            module_graph(survey, &modules, &links),
            cycles(survey, &modules, &links),
            outside.packages(survey),
            outside.tools(survey),
            outside.unseen(survey),
            outside.undeclared(survey),
            local_packages(survey),
        ],
    }
}

/// Modules leaning on modules, and for each pair the import that says so first.
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

    fn cite(&self, survey: &Survey, from: usize, to: usize, longest: usize) -> Option<String> {
        let edge = self.first.get(&(from, to))?;
        survey.files[edge.from].cite_briefly(edge.line, longest)
    }
}

fn module_graph(survey: &Survey, modules: &[Module], links: &ModuleLinks) -> Section {
    let graph = &links.graph;
    let layers = graph.layers();
    let top = layers.iter().max().copied().unwrap_or(0);
    let title = match top {
        0 => "Parts".to_owned(),
        top => format!("Parts, from layer {top} down to layer 0; those of one cycle share a layer"),
    };
    let mut section = Section::new(title, 40, "parts");
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
        let size = size(module);
        let name = plain(&module.name, 80);
        let opening = format!(
            "{name} (layer {}; {size}; {} lean on it)",
            layers[at],
            graph.in_degree(at)
        );
        let Some((strongest, _)) = targets.first() else {
            let file = module
                .files
                .iter()
                .map(|file| &survey.files[*file])
                .max_by_key(|file| (file.about.is_some(), file.lines));
            if let Some(cited) = file.and_then(SurveyedFile::cite_itself) {
                section.say(format!("{opening} leans on no other part: {cited}"));
            }
            continue;
        };
        let names: Vec<String> = targets
            .iter()
            .map(|(to, weight)| match weight {
                1 => nearby(&module.name, &modules[*to].name),
                more => format!("{} ×{more}", nearby(&module.name, &modules[*to].name)),
            })
            .collect();
        let itself = || survey.files[*module.files.first()?].cite_itself();
        if let Some(cited) = links.cite(survey, at, *strongest, 60).or_else(itself) {
            section.say(format!("{opening} → {}, as in {cited}", list(&names, 7)));
        }
    }
    section
}

/// Folders that two parts share are left out from so many on: Java's packages stand deep.
const DEEP: usize = 4;

/// A part's name as another part would say it: without the folder that both stand in, and without
/// most of those that both stand below.
fn nearby(from: &str, to: &str) -> String {
    let folder = from
        .trim_end_matches('/')
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    let inside = to
        .strip_prefix(folder)
        .and_then(|rest| rest.strip_prefix('/'));
    if let Some(inside) = inside.filter(|rest| !matches!(*rest, "" | "*")) {
        return plain(inside, 60);
    }
    let pairs = folder.split('/').zip(to.split('/'));
    let shared = pairs.take_while(|(from, to)| from == to).count();
    if shared < DEEP {
        return plain(to, 60);
    }
    let rest: Vec<&str> = to.split('/').skip(shared - 1).collect();
    plain(&format!("…/{}", rest.join("/")), 60)
}

fn cycles(survey: &Survey, modules: &[Module], links: &ModuleLinks) -> Section {
    let mut section = Section::new("Cycles between parts", 14, "cycles");
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
        let anchor = &modules[members[0]].name;
        let name = |at: &usize| nearby(anchor, &modules[*at].name);
        let names: Vec<String> = members.iter().map(name).collect();
        let round: Vec<String> = way.iter().chain(way.first()).map(name).collect();
        let steps = way.iter().zip(way.iter().cycle().skip(1));
        let lines: Vec<String> = steps
            .filter_map(|(from, to)| links.cite(survey, *from, *to, 70))
            .collect();
        let Some((first, rest)) = lines.split_first() else {
            continue;
        };
        let among = if members.len() == way.len() {
            String::new()
        } else {
            format!(
                " (the shortest way round among {} parts that all reach each other: {})",
                members.len(),
                list(&names, 8)
            )
        };
        section.say_with(
            format!("{}{among}: {first}", round.join(" → ")),
            rest.to_vec(),
        );
    }
    if components.is_empty() && modules.len() > 1 && !links.first.is_empty() {
        let bottom = links.graph.layers().iter().position(|layer| *layer == 0);
        let file = bottom.and_then(|at| modules[at].files.first());
        if let Some(cited) = file.and_then(|file| survey.files[*file].cite_itself()) {
            section.say(format!("None: the parts stand in layers, down to {cited}"));
        }
    }
    section
}

/// Which packages of the tree ask for which others of it.
fn local_packages(survey: &Survey) -> Section {
    let mut section = Section::new(
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
            section.say(format!(
                "{} → {}: {cited}",
                plain(&package.name.text, 60),
                list(&names, 10)
            ));
        }
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_name_each_other_without_what_they_share() {
        assert_eq!(nearby("src/a/x.rs", "src/a/y.rs"), "y.rs");
        assert_eq!(nearby("src/a/x.rs", "lib/y.rs"), "lib/y.rs");
        assert_eq!(
            nearby(
                "app/src/main/java/org/web/A.java",
                "app/src/main/java/org/*"
            ),
            "…/org/*"
        );
    }
}
