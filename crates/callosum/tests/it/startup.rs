//! What the loader has to do before the program, and so each hook, starts.

#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use callosum_testkit::fakes;

/// Most relocations of the program. It had 256 when this was written, nearly all for symbols of the C library, and some
/// 60,000 if it was linked to run at any address.
const MOST_RELOCATIONS: u64 = 400;

/// Types of sections whose entries are relocations (`elf.h`).
const WITH_ADDENDS: u32 = 4;
const PACKED: u32 = 19;

/// The flag of sections that are loaded.
const ALLOC: u64 = 2;

fn number<const N: usize>(file: &[u8], at: usize) -> u64 {
    let bytes = &file[at..at + N];
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns how many relocations the sections of a 64-bit little-endian ELF file name.
fn relocations(file: &[u8]) -> u64 {
    assert_eq!(
        &file[..6],
        b"\x7fELF\x02\x01",
        "a 64-bit little-endian ELF file"
    );
    let at = number::<8>(file, 0x28) as usize;
    let (size, count) = (
        number::<2>(file, 0x3a) as usize,
        number::<2>(file, 0x3c) as usize,
    );
    let headers = (0..count).map(|index| &file[at + index * size..at + (index + 1) * size]);
    let loaded = headers.filter(|header| number::<8>(header, 8) & ALLOC != 0);
    loaded
        .map(|header| {
            let (kind, bytes) = (number::<4>(header, 4) as u32, number::<8>(header, 32));
            match kind {
                WITH_ADDENDS => bytes / 24,
                // Each word of this packed form stands for up to 63.
                PACKED => bytes / 8 * 63,
                _ => 0,
            }
        })
        .sum()
}

#[test]
fn the_loader_has_few_addresses_to_fill_in_before_a_hook_starts() {
    let program = std::fs::read(fakes::program("callosum")).unwrap();
    let found = relocations(&program);
    assert!(
        (1..=MOST_RELOCATIONS).contains(&found),
        "{found} relocations, at most {MOST_RELOCATIONS}: is the program linked for a fixed address (build.rs)?"
    );
}
