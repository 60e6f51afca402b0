//! The `fresco` command.

fn main() {}
