//! The voice gate: checks that a message has the operator's form, words and content (Seed CAKE §1).
