//! [`Model`]: a folder with vectors of words, and the vector of a text.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use callosum_host::{Disk, DiskError, OpenHow};

use super::{vectors::Matrix, wordpiece::Tokenizer};

/// The vectors.
const VECTORS: &str = "model.safetensors";

/// File of the pieces of words.
const PIECES: &str = "tokenizer.json";

/// Largest file of pieces that is read (32 MiB): the largest that is known has 17.
const LARGEST_PIECES: u64 = 32 << 20;

/// Lowest similarity of two texts about the same subject: the cosine of their vectors.
pub(crate) const ALIKE: f32 = 0.35;

/// The reason why an existing model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file is not of a form that is read.
    #[error("cannot use the model's `{}`: {why}", path.display())]
    NotUnderstood {
        /// The file.
        path: PathBuf,
        /// The part that is not understood.
        why: String,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// A static model.
#[derive(Debug)]
pub struct Model {
    pieces: Tokenizer,
    matrix: Matrix,
    stamp: String,
}

impl Model {
    /// Opens the model in a folder: `model.safetensors` and `tokenizer.json`, as Model2Vec writes
    /// them.
    ///
    /// `None` if there is no such folder, or it has none of the two. Reads the pieces, and of the
    /// vectors the head.
    pub fn open(disk: &Disk, folder: &Path) -> Result<Option<Self>, ModelError> {
        Self::open_with(disk, folder, None)
    }

    /// Does the same, and keeps the pieces in a file of ours, which is read faster than `tokenizer.json`: in less than 1 ms
    /// instead of 10.
    pub fn open_kept(disk: &Disk, folder: &Path, kept: &Path) -> Result<Option<Self>, ModelError> {
        Self::open_with(disk, folder, Some(kept))
    }

    fn open_with(
        disk: &Disk,
        folder: &Path,
        kept: Option<&Path>,
    ) -> Result<Option<Self>, ModelError> {
        let paths = [folder.join(VECTORS), folder.join(PIECES)];
        let mut stamp = String::new();
        let mut missing = 0;
        for path in &paths {
            // A link may lead to the real place of the model.
            let real = match disk.canonicalize(path) {
                Ok(real) => real,
                Err(error) if error.is_absent() => {
                    missing += 1;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let found = disk.stat(&real)?;
            let (bytes, time) = found.map_or((0, 0), |found| {
                let since = found.modified.duration_since(SystemTime::UNIX_EPOCH);
                (found.len, since.map_or(0, |since| since.as_nanos()))
            });
            let _ = write!(stamp, "{} {bytes} {time};", real.display());
            if path.ends_with(PIECES) && bytes > LARGEST_PIECES {
                return Err(not_understood(path, "it is too large"));
            }
        }
        if missing == paths.len() {
            return Ok(None);
        }
        let [vectors, pieces] = &paths;
        let matrix = Matrix::open(disk.open(vectors, OpenHow::READ)?);
        let matrix = matrix.map_err(|why| not_understood(vectors, &why))?;
        let known = match kept {
            Some(kept) => disk.read_if_there(kept)?,
            None => None,
        };
        let known = known.and_then(|bytes| Tokenizer::read_kept(&bytes, &stamp));
        let read = if let Some(known) = known {
            known
        } else {
            let read = Tokenizer::read(&disk.read(pieces)?);
            let read = read.map_err(|why| not_understood(pieces, &why))?;
            if let Some(kept) = kept {
                // It is derived: where it cannot be written, the next one reads the pieces as well.
                drop(disk.replace_unsynced(kept, &read.kept(&stamp), 0o600));
            }
            read
        };
        if read.highest() as usize >= matrix.pieces() {
            return Err(not_understood(pieces, "it has pieces without a vector"));
        }
        Ok(Some(Self {
            pieces: read,
            matrix,
            stamp,
        }))
    }

    /// Returns a text that identifies this model among others.
    pub fn stamp(&self) -> &str {
        &self.stamp
    }

    /// Returns the count of numbers in a vector.
    pub fn width(&self) -> usize {
        self.matrix.width()
    }

    /// Reads all vectors, for a caller with many texts.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn hold(&self) -> Result<(), ModelError> {
        let held = self.matrix.hold();
        held.map_err(|why| not_understood(Path::new(VECTORS), &why))
    }

    /// Returns the direction of a text that has these words, each with its weight, as numbers from -127 to 127; empty if none
    /// of them is known.
    ///
    /// `seen` keeps the vectors of words from one text to the next.
    pub fn weighted_direction<'w>(
        &self,
        words: impl Iterator<Item = (&'w str, f32)>,
        seen: &mut HashMap<String, Vec<f32>>,
    ) -> Vec<u8> {
        let mut sum = vec![0.0_f32; self.matrix.width()];
        for (word, weight) in words {
            if !seen.contains_key(word) {
                seen.insert(word.to_owned(), self.of_word(word));
            }
            for (sum, of_word) in sum.iter_mut().zip(&seen[word]) {
                *sum += of_word * weight;
            }
        }
        in_bytes(sum)
    }

    /// Returns the direction of a text that has these words, each counted once, as numbers from
    /// -127 to 127; empty if none of them is known.
    ///
    /// `seen` keeps the vectors of words from one text to the next.
    pub fn direction<'w>(
        &self,
        words: impl Iterator<Item = &'w str>,
        seen: &mut HashMap<String, Vec<f32>>,
    ) -> Vec<u8> {
        let words: BTreeSet<&str> = words.collect();
        self.weighted_direction(words.into_iter().map(|word| (word, 1.0)), seen)
    }

    fn of_word(&self, word: &str) -> Vec<f32> {
        let mut sum = vec![0.0_f32; self.matrix.width()];
        let pieces = self.pieces.of(word);
        for piece in &pieces {
            self.matrix.add(*piece, &mut sum);
        }
        let count = pieces.len().max(1) as f32;
        for number in &mut sum {
            *number /= count;
        }
        sum
    }
}

/// Returns a direction as numbers from -127 to 127; none if it has no length.
fn in_bytes(sum: Vec<f32>) -> Vec<u8> {
    let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
    if !length.is_normal() {
        return Vec::new();
    }
    let most = sum
        .iter()
        .fold(0.0_f32, |most, number| most.max(number.abs()));
    let small = |number: f32| (number / most * 127.0).round() as i8;
    sum.into_iter()
        .map(|number| small(number).cast_unsigned())
        .collect()
}

/// Returns the similarity of two directions: their cosine, from -1 to 1; 0 if they do not compare.
pub(crate) fn cosine(one: &[u8], other: &[u8]) -> f32 {
    if one.len() != other.len() {
        return 0.0;
    }
    let (mut both, mut first, mut second) = (0_i64, 0_i64, 0_i64);
    for (one, other) in one.iter().zip(other) {
        let (one, other) = (i64::from(one.cast_signed()), i64::from(other.cast_signed()));
        both += one * other;
        first += one * one;
        second += other * other;
    }
    let length = (first as f32).sqrt() * (second as f32).sqrt();
    if length > 0.0 {
        both as f32 / length
    } else {
        0.0
    }
}

fn not_understood(path: &Path, why: &str) -> ModelError {
    ModelError::NotUnderstood {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}
