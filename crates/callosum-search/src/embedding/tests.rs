//! Models of a few words, made here.

use std::path::Path;

use callosum_host::{Disk, OpenHow};
use proptest::prelude::*;
use serde_json::json;

use super::{model::cosine, vectors::Matrix, wordpiece::Tokenizer, *};

/// Lays a model of whole words, each with its vector, into a folder.
pub(crate) fn lay(disk: &Disk, folder: &Path, words: &[(&str, [f32; 3])]) {
    let vocabulary: serde_json::Map<String, serde_json::Value> = words
        .iter()
        .enumerate()
        .map(|(number, (word, _))| ((*word).to_owned(), json!(number)))
        .collect();
    let pieces = json!({"version": "1.0", "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "?"}});
    let numbers: Vec<u8> = words
        .iter()
        .flat_map(|(_, vector)| vector.iter().flat_map(|number| number.to_le_bytes()))
        .collect();
    let head = json!({"embeddings": {"dtype": "F32", "shape": [words.len(), 3], "data_offsets": [0, numbers.len()]}});
    disk.create_dir_all(folder).unwrap();
    let file = tensors(&head, &numbers);
    disk.replace(&folder.join("model.safetensors"), &file, 0o644)
        .unwrap();
    let text = pieces.to_string();
    disk.replace(&folder.join("tokenizer.json"), text.as_bytes(), 0o644)
        .unwrap();
}

fn tensors(head: &serde_json::Value, numbers: &[u8]) -> Vec<u8> {
    let head = head.to_string();
    let mut file = (head.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(head.as_bytes());
    file.extend_from_slice(numbers);
    file
}

fn matrix(file: &[u8]) -> Result<Matrix, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let disk = Disk::real();
    disk.replace_unsynced(&path, file, 0o644).unwrap();
    Matrix::open(disk.open(&path, OpenHow::READ).unwrap())
}

fn row(matrix: &Matrix, piece: u32) -> Vec<f32> {
    let mut sum = vec![0.0; matrix.width()];
    matrix.add(piece, &mut sum);
    sum
}

fn pieces(model: &serde_json::Value, word: &str) -> Vec<u32> {
    let read = Tokenizer::read(json!({ "model": model }).to_string().as_bytes());
    read.unwrap().of(word)
}

#[test]
fn words_are_cut_as_their_vocabulary_says() {
    let longest = json!({"type": "WordPiece", "unk_token": "?", "vocab": {"un": 0, "##able": 1, "##a": 2, "unab": 3, "##le": 4}});
    assert_eq!(pieces(&longest, "unable"), [3, 4]);
    assert_eq!(pieces(&longest, "una"), [0, 2]);
    assert_eq!(pieces(&longest, "unx"), [0_u32; 0]);
    let merged = json!({"type": "BPE", "byte_fallback": true, "merges": [], "vocab": {
        "\u{2581}": 9, "l": 10, "o": 11, "w": 12, "e": 13, "r": 14, "lo": 1, "er": 2, "low": 3, "\u{2581}low": 4
    }});
    assert_eq!(pieces(&merged, "lower"), [4, 2]);
    assert_eq!(pieces(&merged, "lowé"), [4]);
    assert_eq!(pieces(&merged, &"l".repeat(100)), [0_u32; 0]);
    let whole = json!({"type": "WordLevel", "vocab": {"low": 7}, "unk_token": "?"});
    assert_eq!(pieces(&whole, "low"), [7]);
    assert_eq!(pieces(&whole, "lower"), [0_u32; 0]);
}

#[test]
fn what_is_not_understood_is_named() {
    let read = |text: &str| Tokenizer::read(text.as_bytes()).unwrap_err();
    assert!(read("{}").contains("model"));
    assert!(read(r#"{"model":{"type":"Unigram","vocab":[["a",-1.5]]}}"#).contains("Unigram"));
    assert!(read(r#"{"model":{"type":"BPE","vocab":{},"merges":[]}}"#).contains("bytes"));
    let head = |dtype: &str, shape: &[usize], end: usize| json!({"embeddings": {"dtype": dtype, "shape": shape, "data_offsets": [0, end]}});
    let refused = |head: &serde_json::Value, bytes: usize| {
        matrix(&tensors(head, &vec![0; bytes])).unwrap_err()
    };
    assert!(refused(&json!({}), 0).contains("embeddings"));
    assert!(refused(&head("BF16", &[1, 2], 4), 4).contains("BF16"));
    assert!(refused(&head("F32", &[2], 8), 8).contains("table"));
    assert!(refused(&head("F32", &[2, 2], 16), 15).contains("incomplete"));
    assert!(refused(&head("F32", &[usize::MAX, 2], 16), 16).contains("incomplete"));
    assert!(refused(&head("F32", &[0, 100_000], 0), 0).contains("incomplete"));
    assert!(matrix(b"").unwrap_err().contains("head"));
    assert!(matrix(&[0xff; 64]).unwrap_err().contains("head"));
}

#[test]
fn numbers_of_each_kind_are_read_with_weights_and_shared_rows() {
    let head = json!({
        "embeddings": {"dtype": "I8", "shape": [2, 2], "data_offsets": [0, 4]},
        "weights": {"dtype": "F32", "shape": [3], "data_offsets": [4, 16]},
        "mapping": {"dtype": "I64", "shape": [3], "data_offsets": [16, 40]},
    });
    let mut numbers = vec![1_u8, 255, 3, 4];
    for weight in [1.0_f32, 0.5, 2.0] {
        numbers.extend(weight.to_le_bytes());
    }
    for row in [1_i64, 0, 0] {
        numbers.extend(row.to_le_bytes());
    }
    let read = matrix(&tensors(&head, &numbers)).unwrap();
    let rows = [vec![3.0, 4.0], vec![0.5, -0.5], vec![2.0, -2.0]];
    for (piece, expected) in rows.iter().enumerate() {
        assert_eq!(&row(&read, piece as u32), expected);
    }
    assert_eq!(row(&read, 3), [0.0, 0.0]);
    read.hold().unwrap();
    assert_eq!(row(&read, 2), rows[2]);
}

#[test]
fn texts_of_like_words_point_the_same_way() {
    let (disk, folder) = (Disk::real(), tempfile::tempdir().unwrap());
    let words = [
        ("wait", [1.0, 0.0, 0.1]),
        ("sleep", [0.9, 0.1, 0.0]),
        ("paint", [0.0, 1.0, 0.0]),
    ];
    assert!(Model::open(&disk, folder.path()).unwrap().is_none());
    lay(&disk, folder.path(), &words);
    let model = Model::open(&disk, folder.path()).unwrap().unwrap();
    let of = |text: &str| model.direction(text.split(' '), &mut std::collections::HashMap::new());
    assert!(cosine(&of("wait"), &of("sleep unknown")) > 0.9);
    assert!(cosine(&of("wait"), &of("paint")) < 0.3);
    assert_eq!(of("unknown"), [0_u8; 0]);
    disk.remove_file(&folder.path().join("tokenizer.json"))
        .unwrap();
    assert!(matches!(
        Model::open(&disk, folder.path()),
        Err(ModelError::Disk(_))
    ));
}

proptest! {
    /// Any file is refused or read within its bounds, regardless of its header.
    #[test]
    fn no_file_leads_beyond_itself(
        shape in proptest::collection::vec(0_usize..9, 0..4),
        ends in (0_u64..40, 0_u64..40),
        dtype in prop_oneof![Just("F32"), Just("F16"), Just("I8"), Just("X")],
        numbers in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let head = json!({"embeddings": {"dtype": dtype, "shape": shape, "data_offsets": [ends.0, ends.1]}});
        if let Ok(read) = matrix(&tensors(&head, &numbers)) {
            for piece in 0..12 {
                row(&read, piece);
            }
        }
    }
}
