//! Host mathematics on plain slices: tiling geometry.
