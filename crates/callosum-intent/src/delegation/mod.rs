//! Decides where a call runs, and remembers the decision (Seed CCOS §3.b).
