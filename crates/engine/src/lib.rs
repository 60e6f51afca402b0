//! The graph representation, its plans and their execution.
