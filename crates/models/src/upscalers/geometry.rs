//! How an upscaler's output relates to its input: sizes, channels, and how far a pixel's value reaches.

/// What a caller must know to feed an upscaler and to work in tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Output pixels for each input pixel, along a side.
    pub scale: u64,
    /// Channels of the input.
    pub in_channels: u64,
    /// Channels of the output.
    pub out_channels: u64,
    /// The side of a *cell* in input pixels: 1, or the block that the net folds into channels first. Inputs are whole
    /// cells; an image that is not is extended on its right and bottom by reflection (see [`reflect`]), as the published
    /// inference code of these nets does, and the result is cropped.
    pub cell_px: u64,
    /// How far an output pixel sees: it depends on no cell farther away than this from its own, along either side.
    pub radius_cells: u64,
}

impl Geometry {
    /// The length of a side extended to whole cells, or `None` where it exceeds 64 bits.
    #[must_use]
    pub fn padded_px(&self, length_px: u64) -> Option<u64> {
        length_px.checked_next_multiple_of(self.cell_px)
    }
}

/// The pixel of a side of `length` that stands in for pixel `index`, which may lie beyond the end.
///
/// The image continues as its mirror image without repeating the edge (`a b c d` goes on as `c b a b c …`), as PyTorch's
/// reflection padding; unlike there the padding may be longer than the image, down to a single pixel, which repeats.
///
/// # Panics
/// For a length of 0, which has no pixels.
#[must_use]
pub fn reflect(index: u64, length: u64) -> u64 {
    assert!(length > 0, "an image without pixels cannot be extended");
    let period = 2 * (length - 1);
    if period == 0 {
        return 0;
    }
    let place = index % period;
    place.min(period - place)
}

/// The radius at the input of a nearest up-sampling by 2 that is `radius` at its output.
///
/// Output pixel `p` reads input pixel `⌊p / 2⌋`; `p ± radius` therefore read at most `⌈radius / 2⌉` away from it.
pub(super) fn radius_before_doubling(radius: u64) -> u64 {
    radius.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extended(length: u64, to: u64) -> Vec<u64> {
        (0..to).map(|index| reflect(index, length)).collect()
    }

    #[test]
    fn reflection_leaves_out_the_edge() {
        assert_eq!(extended(4, 7), [0, 1, 2, 3, 2, 1, 0]);
        assert_eq!(extended(5, 8), [0, 1, 2, 3, 4, 3, 2, 1]);
    }

    #[test]
    fn images_smaller_than_their_padding_go_back_and_forth() {
        assert_eq!(extended(1, 4), [0, 0, 0, 0]);
        assert_eq!(extended(2, 6), [0, 1, 0, 1, 0, 1]);
        assert_eq!(reflect(u64::MAX, u64::MAX / 2), 3);
    }

    #[test]
    fn sides_are_extended_to_whole_cells() {
        let geometry = Geometry { scale: 1, in_channels: 3, out_channels: 3, cell_px: 4, radius_cells: 1 };
        let padded: Vec<_> = [1, 4, 5, u64::MAX].map(|length| geometry.padded_px(length)).into();
        assert_eq!(padded, [Some(4), Some(4), Some(8), None]);
    }
}
