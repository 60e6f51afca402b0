//! Working on an image in overlapping tiles: where the tiles lie, and how their results become one image again.
//!
//! A net that sees `r` pixels around a pixel (its radius) gives wrong values within `r` of a border that the image itself
//! does not have. Neighbouring tiles therefore overlap: each is trusted up to the *seam*, a narrow band in the middle of
//! the overlap, and inside the seam one tile fades into the next.
//!
//! ```text
//!   tile 0  |==================~~~~xxxxx|
//!   tile 1             |xxxxx~~~~==================|      = trusted   ~ seam   x discarded
//! ```
//!
//! - Weights are 1 outside seams and sum to 1 inside, exactly: a pixel on which both tiles agree keeps its bits.
//! - With an overlap of at least `2 r`, seams lie where both tiles have their whole context, so the stitched image equals
//!   the untiled one everywhere. With less, they differ within `r` of the inner borders of the tiles at most.
//! - All tiles of a grid have one size, so that a net's plan for that size serves all of them.
//!
//! Positions and sizes count *cells*, the smallest step that a net can be moved by: a pixel for most nets, `f × f` pixels for
//! one that begins by folding such blocks into channels (pixel unshuffle).

mod grid;
mod stitch;

pub use grid::{Axis, Overlap, Tile, TileGrid};
pub use stitch::{FinishedBlock, Stitcher};
