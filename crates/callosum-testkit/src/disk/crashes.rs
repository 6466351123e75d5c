//! [`Crashes`]: possible states of a disk after a crash, at every step of a workload.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    file_versions::{SECTOR, change, file_versions},
    image::Image,
    trace::{Inode, NameChange, Names, Node, Step, Trace},
};

/// Maximum number of combinations of files and folders at one step for which all are generated.
const EXHAUSTIVE: usize = 64;

/// Number of further combinations, drawn at random in addition to those that are always generated.
const DRAWN: usize = 12;

/// A disk as a crash left it.
#[derive(Clone, Debug)]
pub struct Crash {
    /// Contents of the disk.
    pub image: Image,
    /// After how many steps, at the latest, it can come about.
    pub steps: usize,
    /// Number of reports that the workload had received by then.
    pub told: usize,
}

/// Generates the possible states after a crash, from the trace of a workload.
///
/// After each step everything synced is there. Each file that was changed since is in one of the
/// versions that `file_versions` lists. Of the names given and taken in a folder since it was
/// synced, any number of the first ones took effect; a rename between two folders happened in both
/// or in neither. Names and contents are independent of one another, and so are files and folders.
/// The data of a failed sync is not there.
///
/// If the combinations of files and folders at a step are no more than 64, all are generated.
/// Otherwise: each version of each file, and each number of names of each folder, with all others
/// as they were synced and with all others as they were last; each combination of synced and last;
/// and 12 drawn ones. Not generated: names of one folder out of order, and sectors that are torn
/// themselves.
#[derive(Debug)]
pub struct Crashes<'t> {
    trace: &'t Trace,
    random: fastrand::Rng,
    /// Versions of files, by how many steps of theirs were made.
    versions: HashMap<(Inode, usize), Versions>,
}

type Versions = Vec<Arc<Vec<u8>>>;

/// A part that has more than one possible state.
enum Part {
    File(Inode, Versions),
    /// A folder, and the number of its names that may be lost.
    Folder(PathBuf, usize),
}

impl<'t> Crashes<'t> {
    /// Returns the crashes of a trace; random choices are drawn from `seed`.
    pub fn of(trace: &'t Trace, seed: u64) -> Self {
        Self {
            trace,
            random: fastrand::Rng::with_seed(seed),
            versions: HashMap::new(),
        }
    }

    /// Generates them, each image once: as it comes about at the latest, when most was promised.
    pub fn generate(mut self) -> Vec<Crash> {
        let mut crashes: Vec<Crash> = Vec::new();
        let mut known = HashMap::new();
        let mut told = 0;
        for steps in 0..=self.trace.steps.len() {
            if let Some(Step::Told { number }) =
                steps.checked_sub(1).map(|at| &self.trace.steps[at])
            {
                told = number + 1;
            }
            // A promise is judged together with what follows it, which it does not change.
            if matches!(self.trace.steps.get(steps), Some(Step::Told { .. })) {
                continue;
            }
            for image in self.after(steps) {
                let crash = Crash { image, steps, told };
                let at = *known
                    .entry(crash.image.fingerprint())
                    .or_insert(crashes.len());
                match crashes.get_mut(at) {
                    Some(before) => *before = crash,
                    None => crashes.push(crash),
                }
            }
        }
        crashes
    }

    /// Generates what a crash may leave after the last step.
    pub fn at_the_end(mut self) -> Vec<Crash> {
        let steps = self.trace.steps.len();
        let is_told = |step: &&Step| matches!(step, Step::Told { .. });
        let told = self.trace.steps.iter().filter(is_told).count();
        let mut seen = HashSet::new();
        let mut images = self.after(steps);
        images.retain(|image| seen.insert(image.fingerprint()));
        images
            .into_iter()
            .map(|image| Crash { image, steps, told })
            .collect()
    }

    fn after(&mut self, steps: usize) -> Vec<Image> {
        let made = &self.trace.steps[..steps];
        let mut files = self.trace.first_files.clone();
        let mut parts = Vec::new();
        for (file, own) in steps_of_files(made) {
            let key = (file, own.len());
            if !self.versions.contains_key(&key) {
                let first = self.trace.first_files.get(file);
                let first = first.map_or_else(Vec::new, |first| first.as_ref().clone());
                let content = Content::after(first, &own);
                let unsynced = content.unsynced.into_iter();
                let versions = file_versions(&Arc::new(content.synced), unsynced, &mut self.random);
                self.versions.insert(key, versions);
            }
            let versions = self.versions[&key].clone();
            if files.len() <= file {
                files.resize(file + 1, Arc::default());
            }
            files[file] = Arc::clone(&versions[0]);
            if versions.len() > 1 {
                parts.push(Part::File(file, versions));
            }
        }
        let names = PendingNames::after(made);
        for (folder, pending) in &names.pending {
            parts.push(Part::Folder(folder.clone(), *pending));
        }
        let choices: Vec<Vec<usize>> = parts
            .iter()
            .map(|part| match part {
                Part::File(_, versions) => (0..versions.len()).collect(),
                Part::Folder(_, pending) => (0..=*pending).collect(),
            })
            .collect();
        combinations(&choices, EXHAUSTIVE, DRAWN, &mut self.random)
            .into_iter()
            .map(|pick| {
                let mut files = files.clone();
                let mut kept = HashMap::new();
                for (part, at) in parts.iter().zip(pick) {
                    match part {
                        Part::File(file, versions) => files[*file] = Arc::clone(&versions[at]),
                        Part::Folder(folder, _) => drop(kept.insert(folder.as_path(), at)),
                    }
                }
                image(names.kept(self.trace.first_names.clone(), &kept), &files)
            })
            .collect()
    }
}

/// The steps that are about the content of each file that has any, in order.
fn steps_of_files(made: &[Step]) -> BTreeMap<Inode, Vec<&Step>> {
    let mut files: BTreeMap<Inode, Vec<&Step>> = BTreeMap::new();
    for step in made {
        match step {
            Step::Write { file, .. }
            | Step::SetLen { file, .. }
            | Step::SyncFile { file }
            | Step::FailedSync { file }
            | Step::Name(NameChange::File { file, .. }) => {
                files.entry(*file).or_default().push(step);
            }
            Step::Name(_) | Step::SyncFolder { .. } | Step::Told { .. } => {}
        }
    }
    files
}

/// Content of a file: the part on disk, and the changes that are only on their way there.
struct Content<'t> {
    synced: Vec<u8>,
    unsynced: Vec<&'t Step>,
}

impl<'t> Content<'t> {
    fn after(first: Vec<u8>, steps: &[&'t Step]) -> Self {
        let mut content = Self {
            synced: first.clone(),
            unsynced: Vec::new(),
        };
        // Bytes that a reader of the file sees, and those among them that the next sync writes.
        let mut seen = first;
        let mut dirty: Vec<Range<usize>> = Vec::new();
        for step in steps {
            match step {
                Step::Write { .. } | Step::SetLen { .. } => {
                    let before = seen.len();
                    change(&mut seen, step);
                    dirty.push(touched(step, before));
                    content.unsynced.push(step);
                }
                Step::SyncFile { .. } => {
                    content.unsynced.clear();
                    content.synced.resize(seen.len(), 0);
                    for range in dirty.drain(..) {
                        let from = range.start / SECTOR * SECTOR;
                        let to = range.end.next_multiple_of(SECTOR).min(seen.len());
                        if from < to {
                            content.synced[from..to].copy_from_slice(&seen[from..to]);
                        }
                    }
                }
                Step::FailedSync { .. } => {
                    content.unsynced.clear();
                    dirty.clear();
                }
                Step::Name(_) | Step::SyncFolder { .. } | Step::Told { .. } => {}
            }
        }
        content
    }
}

/// The bytes that a change of a file of this size touches.
fn touched(step: &Step, before: usize) -> Range<usize> {
    match step {
        Step::Write { offset, bytes, .. } => {
            let from = *offset as usize;
            from.min(before)..from + bytes.len()
        }
        Step::SetLen { len, .. } => before.min(*len as usize)..before.max(*len as usize),
        Step::SyncFile { .. }
        | Step::FailedSync { .. }
        | Step::Name(_)
        | Step::SyncFolder { .. }
        | Step::Told { .. } => 0..0,
    }
}

/// The names given and taken, and how many of those in each folder may be lost.
struct PendingNames<'t> {
    /// Each change with, for each folder that was not synced since, its number among that
    /// folder's, from 1.
    changes: Vec<(&'t NameChange, Vec<(&'t Path, usize)>)>,
    pending: Vec<(PathBuf, usize)>,
}

impl<'t> PendingNames<'t> {
    fn after(made: &'t [Step]) -> Self {
        let mut changes: Vec<(&NameChange, Vec<(&Path, usize)>)> = Vec::new();
        let mut pending: Vec<(PathBuf, usize)> = Vec::new();
        for step in made {
            match step {
                Step::Name(change) => {
                    let mut numbers = Vec::new();
                    for folder in change.folders() {
                        let at = pending.iter().position(|(known, _)| known == folder);
                        let at = at.unwrap_or_else(|| {
                            pending.push((folder.to_owned(), 0));
                            pending.len() - 1
                        });
                        pending[at].1 += 1;
                        numbers.push((folder, pending[at].1));
                    }
                    changes.push((change, numbers));
                }
                Step::SyncFolder { path } => {
                    pending.retain(|(folder, _)| folder != path);
                    for (_, numbers) in &mut changes {
                        numbers.retain(|(folder, _)| folder != path);
                    }
                }
                Step::Write { .. }
                | Step::SetLen { .. }
                | Step::SyncFile { .. }
                | Step::FailedSync { .. }
                | Step::Told { .. } => {}
            }
        }
        Self { changes, pending }
    }

    /// Returns the names if the given number of each folder's pending changes happened.
    fn kept(&self, mut names: Names, kept: &HashMap<&Path, usize>) -> Names {
        for (change, numbers) in &self.changes {
            let happened = numbers
                .iter()
                .all(|(folder, number)| kept.get(folder).is_some_and(|kept| number <= kept));
            if happened {
                change.apply(&mut names);
            }
        }
        names
    }
}

/// Builds the image of everything reachable from the root.
fn image(names: Names, files: &[Arc<Vec<u8>>]) -> Image {
    let mut image = Image::default();
    let mut folders = BTreeSet::new();
    for (path, node) in names {
        // Parents sort before their children.
        if path
            .parent()
            .is_some_and(|folder| !folders.contains(folder))
        {
            continue;
        }
        match node {
            Node::File(file) => image.put_shared(path, Some(files[file].clone())),
            Node::Folder => {
                folders.insert(path.clone());
                image.put_shared(path, None);
            }
        }
    }
    image
}

/// Picks one of each part's choices, in many ways.
///
/// All ways if there are no more than `exhaustive`. Otherwise each choice of each part with the
/// first, and with the last, of all others; the first or the last of each, in all combinations up
/// to `exhaustive`; and `drawn` at random.
pub(super) fn combinations(
    choices: &[Vec<usize>],
    exhaustive: usize,
    drawn: usize,
    random: &mut fastrand::Rng,
) -> Vec<Vec<usize>> {
    let product = choices.iter().try_fold(1_usize, |product, choices| {
        product.checked_mul(choices.len())
    });
    if let Some(product) = product.filter(|product| *product <= exhaustive) {
        let nth = |mut number: usize| {
            let mut pick = Vec::with_capacity(choices.len());
            for choices in choices {
                pick.push(choices[number % choices.len()]);
                number /= choices.len();
            }
            pick
        };
        return (0..product).map(nth).collect();
    }
    let first: Vec<usize> = choices.iter().map(|choices| choices[0]).collect();
    let last: Vec<usize> = choices
        .iter()
        .map(|choices| choices[choices.len() - 1])
        .collect();
    let mut picks = BTreeSet::new();
    for (part, choices) in choices.iter().enumerate() {
        for choice in choices {
            for others in [&first, &last] {
                let mut pick = others.clone();
                pick[part] = *choice;
                picks.insert(pick);
            }
        }
    }
    if choices.len() < usize::BITS as usize && 1 << choices.len() <= exhaustive {
        for bits in 0..1_usize << choices.len() {
            let is_last = |part: usize| bits >> part & 1 == 1;
            let pick = (0..choices.len()).map(|part| {
                if is_last(part) {
                    last[part]
                } else {
                    first[part]
                }
            });
            picks.insert(pick.collect());
        }
    }
    for _ in 0..drawn {
        let pick = choices
            .iter()
            .map(|choices| choices[random.usize(..choices.len())]);
        picks.insert(pick.collect());
    }
    picks.into_iter().collect()
}
