//! Properties of runs of plans, on a machine in memory.

mod caps;
mod ends;
mod kills;
mod machine;
mod persons;
mod seals;
