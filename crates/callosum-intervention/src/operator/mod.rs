//! Messages of the operator: a typed structure that templates fill and render (Seed CAKE §1).
