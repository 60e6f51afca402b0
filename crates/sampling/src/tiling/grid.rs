//! Where tiles and seams lie.

use std::ops::Range;

/// How neighbouring tiles share cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// How many cells two neighbours share at least; at most half a tile takes part, however small the tile is.
    pub cells: u32,
    /// How far the net sees, in cells: what a tile holds closer than this to an inner border is wrong.
    pub radius: u32,
}

/// One direction of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    length: u32,
    tile: u32,
    starts: Vec<u32>,
    seams: Vec<Range<u32>>,
}

impl Axis {
    /// The fewest tiles of at most `max_tile` cells that cover `length` cells, all of the same size, spread evenly. A
    /// `max_tile` of 0 counts as 1.
    pub fn new(length: u32, max_tile: u32, overlap: Overlap) -> Self {
        let max_tile = max_tile.max(1);
        if length <= max_tile {
            return Self { length, tile: length, starts: vec![0], seams: Vec::new() };
        }
        let shared = overlap.cells.min(max_tile / 2);
        let n = (length - shared).div_ceil(max_tile - shared);
        let tile = even_tile(length, n, shared);
        let span = u64::from(length - tile);
        let starts: Vec<u32> = (0..u64::from(n)).map(|i| (i * span / u64::from(n - 1)) as u32).collect();
        let seams = starts.windows(2).map(|pair| seam(pair[0], pair[1], tile, overlap.radius)).collect();
        Self { length, tile, starts, seams }
    }

    /// How many cells the axis covers.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// The size of every tile.
    pub fn tile(&self) -> u32 {
        self.tile
    }

    /// Where each tile begins, ascending.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The seam between each tile and the next: where the one fades into the other. Seams never meet each other, and one
    /// may be empty: then the tiles abut.
    pub fn seams(&self) -> &[Range<u32>] {
        &self.seams
    }

    /// How many tiles there are.
    pub fn n_tiles(&self) -> usize {
        self.starts.len()
    }
}

/// The size of `n` equal tiles that cover `length` and share `shared` with their neighbours.
fn even_tile(length: u32, n: u32, shared: u32) -> u32 {
    let total = u64::from(length) + u64::from(n - 1) * u64::from(shared);
    // At most `length`, since `shared` is less than that.
    total.div_ceil(u64::from(n)) as u32
}

/// The seam of two neighbours: the middle of what they share, without what either of them has wrong. Where their wrong
/// margins leave nothing, the seam takes the middle quarter: the error of a net fades with the distance from the border.
fn seam(start: u32, next_start: u32, tile: u32, radius: u32) -> Range<u32> {
    let shared = start + tile - next_start;
    let margin = if radius <= shared / 2 { radius } else { shared / 4 + shared / 8 };
    // No longer than the step, or the seams of small steps would meet.
    let length = (shared - 2 * margin).min(next_start - start);
    let seam_start = next_start + (shared - length) / 2;
    seam_start..seam_start + length
}

/// Tiles in rows and columns over a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileGrid {
    /// The horizontal direction.
    pub columns: Axis,
    /// The vertical direction.
    pub rows: Axis,
}

/// One tile of a grid: its place among the tiles, and its first cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Index in the row of tiles.
    pub column: usize,
    /// Index of the row of tiles.
    pub row: usize,
    /// First cell from the left.
    pub x: u32,
    /// First cell from the top.
    pub y: u32,
}

impl TileGrid {
    /// The fewest tiles of at most `max_tile` × `max_tile` cells over a picture of `size` (width, height).
    pub fn new(size: [u32; 2], max_tile: u32, overlap: Overlap) -> Self {
        Self { columns: Axis::new(size[0], max_tile, overlap), rows: Axis::new(size[1], max_tile, overlap) }
    }

    /// The grid that computes the fewest cells among those whose tiles hold at most `max_area` cells; where no such tile
    /// can afford the whole overlap, square tiles with what overlap they can.
    pub fn with_tile_area(size: [u32; 2], max_area: u64, overlap: Overlap) -> Self {
        let widest = (max_area / u64::from(size[1].min(2 * overlap.cells)).max(1)).min(u64::from(size[0])) as u32;
        let affordable = |tile: u32, length: u32| tile == length || tile / 2 >= overlap.cells;
        let mut best: Option<(u64, Self)> = None;
        let mut max_width = widest;
        while max_width > 0 {
            let columns = Axis::new(size[0], max_width, overlap);
            if !affordable(columns.tile, size[0]) {
                break;
            }
            let max_height = (max_area / u64::from(columns.tile)).min(u64::from(size[1])) as u32;
            let rows = Axis::new(size[1], max_height, overlap);
            // The next narrower tile that takes one column more.
            max_width = columns.tile - 1;
            let grid = Self { columns, rows };
            if max_height > 0
                && affordable(grid.rows.tile, size[1])
                && best.as_ref().is_none_or(|(cells, _)| grid.n_computed_cells() < *cells)
            {
                best = Some((grid.n_computed_cells(), grid));
            }
        }
        best.map_or_else(
            || Self::new(size, max_area.isqrt().min(u64::from(u32::MAX)) as u32, overlap),
            |(_, grid)| grid,
        )
    }

    /// How many tiles there are.
    pub fn n_tiles(&self) -> usize {
        self.columns.n_tiles() * self.rows.n_tiles()
    }

    /// Width and height of every tile.
    pub fn tile_size(&self) -> [u32; 2] {
        [self.columns.tile, self.rows.tile]
    }

    /// The tiles, row by row from the top, each row from the left.
    pub fn tiles(&self) -> impl Iterator<Item = Tile> + '_ {
        self.rows.starts.iter().enumerate().flat_map(move |(row, &y)| {
            self.columns.starts.iter().enumerate().map(move |(column, &x)| Tile { column, row, x, y })
        })
    }

    /// How many cells all tiles hold together: the work, in which shared cells count once a tile.
    pub fn n_computed_cells(&self) -> u64 {
        let [width, height] = self.tile_size();
        self.n_tiles() as u64 * u64::from(width) * u64::from(height)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn overlap(cells: u32, radius: u32) -> Overlap {
        Overlap { cells, radius }
    }

    /// What every axis must hold, whatever its parameters.
    fn check(axis: &Axis, length: u32, max_tile: u32, overlap: Overlap) {
        assert!(axis.tile <= max_tile.max(1) && axis.tile <= length);
        assert_eq!(axis.starts[0], 0);
        assert_eq!(axis.starts[axis.n_tiles() - 1] + axis.tile, length, "the last tile ends at the image's end");
        assert_eq!(axis.seams.len(), axis.n_tiles() - 1);
        let mut free_from = 0;
        for (pair, seam) in axis.starts.windows(2).zip(&axis.seams) {
            let shared = (pair[0] + axis.tile).checked_sub(pair[1]).expect("no gap");
            assert!(pair[1] > pair[0], "tiles move forward");
            assert!(shared >= overlap.cells.min(max_tile / 2));
            assert!(seam.start >= free_from && seam.start <= seam.end, "seams neither meet nor run backwards");
            assert!(seam.start >= pair[1] && seam.end <= pair[0] + axis.tile, "both tiles cover their seam");
            if shared >= 2 * overlap.radius {
                assert!(seam.start >= pair[1] + overlap.radius && seam.end + overlap.radius <= pair[0] + axis.tile);
            }
            free_from = seam.end;
        }
    }

    #[test]
    fn awkward_sizes_are_covered() {
        for length in [1, 2, 3, 127, 128, 129, 130, 255, 256, 257, 300, 513, 520, 4096] {
            for max_tile in [0, 1, 2, 3, 16, 127, 128, 129, 5000] {
                for overlap in [overlap(0, 0), overlap(32, 351), overlap(36, 18), overlap(1, 1), overlap(5000, 1)] {
                    check(&Axis::new(length, max_tile, overlap), length, max_tile, overlap);
                }
            }
        }
    }

    #[test]
    fn a_picture_within_one_tile_is_one_tile() {
        let grid = TileGrid::new([1, 300], 300, overlap(32, 10));
        assert_eq!(grid.tile_size(), [1, 300]);
        assert_eq!(grid.tiles().collect::<Vec<_>>(), [Tile { column: 0, row: 0, x: 0, y: 0 }]);
    }

    #[test]
    fn tiles_shrink_to_what_their_number_needs() {
        // Two tiles of 128 would share 126 of 130 cells; two of 81 share the wanted 32.
        let axis = Axis::new(130, 128, overlap(32, 16));
        assert_eq!((axis.tile, axis.starts.as_slice()), (81, [0, 49].as_slice()));
        assert_eq!(axis.seams[0], 65..65);
    }

    #[test]
    fn a_seam_keeps_to_the_middle_where_no_cell_has_its_whole_context() {
        assert_eq!(Axis::new(224, 128, overlap(32, 351)).seams[0], 108..116);
    }

    #[test]
    fn the_cheapest_grid_within_an_area_is_found() {
        // The photo in one piece, in two, and in tiles that the area allows.
        let size = [640, 427];
        assert_eq!(TileGrid::with_tile_area(size, 640 * 427, overlap(32, 100)).n_tiles(), 1);
        assert_eq!(TileGrid::with_tile_area(size, 640 * 427 - 1, overlap(32, 100)).tile_size(), [336, 427]);
        let grid = TileGrid::with_tile_area(size, 128 * 128, overlap(32, 100));
        assert!(grid.n_computed_cells() <= TileGrid::new(size, 128, overlap(32, 100)).n_computed_cells());
    }

    #[test]
    fn an_area_too_small_for_the_overlap_gives_square_tiles() {
        assert_eq!(TileGrid::with_tile_area([100, 100], 16, overlap(32, 100)).tile_size(), [4, 4]);
        assert_eq!(TileGrid::with_tile_area([3, 2], 0, overlap(32, 100)).tile_size(), [1, 1]);
    }

    proptest! {
        #[test]
        fn an_axis_is_covered(length in 1u32..3000, max_tile in 0u32..400, cells in 0u32..200, radius in 0u32..400) {
            check(&Axis::new(length, max_tile, overlap(cells, radius)), length, max_tile, overlap(cells, radius));
        }

        #[test]
        fn an_area_is_kept(size in [1u32..2000, 1u32..2000], area in 1u64..100_000, cells in 0u32..64, radius in 0u32..64) {
            let grid = TileGrid::with_tile_area(size, area, overlap(cells, radius));
            let [width, height] = grid.tile_size();
            prop_assert!(u64::from(width) * u64::from(height) <= area);
            check(&grid.columns, size[0], width, overlap(cells.min(width / 2), radius));
            check(&grid.rows, size[1], height, overlap(cells.min(height / 2), radius));
        }
    }
}
