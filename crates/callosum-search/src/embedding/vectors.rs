//! [`Matrix`]: the vectors of a model, in a `safetensors` file.
//!
//! The file has the length of its head, the head in JSON, and numbers. Rows are read one by one,
//! since a query needs a few of them, until a caller asks for [`all`](Matrix::hold).

use std::{collections::HashMap, sync::OnceLock};

use callosum_host::disk::DiskFile;
use serde::Deserialize;

/// Longest head that is read, in bytes.
const LONGEST_HEAD: u64 = 1 << 20;

/// Most numbers that a vector has.
const WIDEST: usize = 4096;

/// Names of the vectors in a model: Model2Vec, and WordLlama.
const NAMES: [&str; 2] = ["embeddings", "embedding.weight"];

#[derive(Clone, Debug, Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

/// The encoding of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Double,
    Single,
    Half,
    Byte,
    Long,
    Int,
}

impl Number {
    fn of(dtype: &str) -> Option<Self> {
        Some(match dtype {
            "F64" => Self::Double,
            "F32" => Self::Single,
            "F16" => Self::Half,
            "I8" => Self::Byte,
            "I64" => Self::Long,
            "I32" => Self::Int,
            _ => return None,
        })
    }

    const fn bytes(self) -> usize {
        match self {
            Self::Double | Self::Long => 8,
            Self::Single | Self::Int => 4,
            Self::Half => 2,
            Self::Byte => 1,
        }
    }

    /// The number in as many bytes as it has.
    fn read(self, bytes: &[u8]) -> f64 {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        let low = u64::from_le_bytes(all);
        match self {
            Self::Double => f64::from_bits(low),
            Self::Long => low.cast_signed() as f64,
            Self::Single => f64::from(f32::from_bits(low as u32)),
            Self::Int => f64::from((low as u32).cast_signed()),
            Self::Half => f64::from(half(low as u16)),
            Self::Byte => f64::from((low as u8).cast_signed()),
        }
    }
}

/// A number of IEEE 754 in 16 bits.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from((bits >> 10) & 0x1f);
    let fraction = f32::from(bits & 0x3ff);
    sign * match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2.0_f32.powi(exponent - 25),
    }
}

/// The vectors of pieces.
#[derive(Debug)]
pub(super) struct Matrix {
    file: DiskFile,
    begins: u64,
    number: Number,
    rows: usize,
    width: usize,
    /// The weight of each piece, if the model has them.
    weights: Option<Vec<f32>>,
    /// The row of each piece, if several share one.
    row_of: Option<Vec<u32>>,
    held: OnceLock<Vec<u8>>,
}

impl Matrix {
    /// Reads the head of a file; the error is the part that is not understood.
    pub(super) fn open(file: DiskFile) -> Result<Self, String> {
        let size = file.size().map_err(|error| error.to_string())?;
        let read = |at: u64, length: usize| {
            let bytes = file.read_range(at, length);
            bytes.map_err(|error| error.to_string())
        };
        let length = read(0, 8)?;
        let length = <[u8; 8]>::try_from(length.as_slice()).map(u64::from_le_bytes);
        let length = length.map_err(|_| "it has no header".to_owned())?;
        if length > LONGEST_HEAD || length + 8 > size {
            return Err("it has no matching header".to_owned());
        }
        let head: HashMap<String, serde_json::Value> =
            serde_json::from_slice(&read(8, length as usize)?)
                .map_err(|error| error.to_string())?;
        let begins = length + 8;
        let tensor = |name: &str| {
            let tensor = head.get(name)?;
            serde_json::from_value::<Tensor>(tensor.clone()).ok()
        };
        let vectors = NAMES.iter().find_map(|name| tensor(name));
        let vectors = vectors.ok_or_else(|| format!("it lacks {}", NAMES.join(", ")))?;
        let number = Number::of(&vectors.dtype)
            .ok_or_else(|| format!("its numbers are {}", vectors.dtype))?;
        let &[rows, width] = vectors.shape.as_slice() else {
            return Err("its vectors are not a table".to_owned());
        };
        let of_rows = rows.checked_mul(width * number.bytes());
        let (first, last) = vectors.data_offsets;
        let is_whole = last.checked_sub(first) == of_rows.map(|bytes| bytes as u64)
            && begins.checked_add(last).is_some_and(|end| end <= size);
        if !is_whole || width == 0 || width > WIDEST {
            return Err("its table is incomplete".to_owned());
        }
        let list = |name: &str| {
            let Some(list) = tensor(name) else {
                return Ok(None);
            };
            let number = Number::of(&list.dtype).ok_or("an unknown number")?;
            let (first, last) = list.data_offsets;
            if last < first || begins.checked_add(last).is_none_or(|end| end > size) {
                return Err(format!("its {name} are not whole"));
            }
            let bytes = read(begins + first, (last - first) as usize)?;
            let numbers = bytes.chunks_exact(number.bytes());
            Ok(Some(
                numbers.map(|bytes| number.read(bytes)).collect::<Vec<_>>(),
            ))
        };
        let weights = list("weights")?;
        let row_of = list("mapping")?;
        Ok(Self {
            begins: begins + first,
            number,
            rows,
            width,
            weights: weights.map(|all| all.into_iter().map(|it| it as f32).collect()),
            row_of: row_of.map(|all| all.into_iter().map(|it| it as u32).collect()),
            held: OnceLock::new(),
            file,
        })
    }

    /// Number of components of a vector.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Number of pieces with a vector.
    pub(super) fn pieces(&self) -> usize {
        self.row_of.as_ref().map_or(self.rows, Vec::len)
    }

    /// Reads all vectors at once, for those who need many.
    pub(super) fn hold(&self) -> Result<(), String> {
        if self.held.get().is_none() {
            let all = self.rows * self.width * self.number.bytes();
            let read = self.file.read_range(self.begins, all);
            let bytes = read.map_err(|error| error.to_string())?;
            // Another thread may have been first, with the same.
            drop(self.held.set(bytes));
        }
        Ok(())
    }

    /// Adds the vector of a piece to `sum`; nothing if there is none.
    pub(super) fn add(&self, piece: u32, sum: &mut [f32]) {
        let piece = piece as usize;
        let row = match &self.row_of {
            Some(row_of) => row_of.get(piece).map(|row| *row as usize),
            None => Some(piece),
        };
        let Some(row) = row.filter(|row| *row < self.rows) else {
            return;
        };
        let weight = self.weights.as_ref().and_then(|all| all.get(piece));
        let weight = weight.copied().unwrap_or(1.0);
        let bytes = self.width * self.number.bytes();
        let mut add = |bytes: &[u8]| {
            for (at, number) in bytes.chunks_exact(self.number.bytes()).enumerate() {
                sum[at] += weight * self.number.read(number) as f32;
            }
        };
        if let Some(held) = self.held.get() {
            add(held.get(row * bytes..(row + 1) * bytes).unwrap_or_default());
        } else {
            let read = self
                .file
                .read_range(self.begins + (row * bytes) as u64, bytes);
            add(&read.unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_read() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x0001, 5.960_464_5e-8),
            (0x7bff, 65504.0),
        ] {
            assert!(
                (half(bits) - number).abs() <= f32::EPSILON * number.abs(),
                "{bits:x}"
            );
        }
        assert!(half(0x7c00).is_nan());
    }
}
