//! Whether an error needs a message: severity, confidence, repeats and cooldown (Seed CAKE §2).
