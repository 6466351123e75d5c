//! Runs a program under a pseudo-terminal or pipes, passes its bytes on unchanged, and shows them to a reader.
//!
//! What is deliberately not here: reading errors, and deciding anything about what the program prints.

#![forbid(unsafe_code)]
