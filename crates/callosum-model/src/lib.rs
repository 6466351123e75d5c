//! Asks models: one trait for executors, servers and scripted models.

#![forbid(unsafe_code)]
