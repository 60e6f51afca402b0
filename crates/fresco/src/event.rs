//! What long work tells while it runs.

use std::ops::ControlFlow;

/// Something that happened during a call. It goes to the closure that the caller lent to it, on the caller's thread; the
/// closure answers whether to go on, and [`ControlFlow::Break`] ends the call with
/// [`Error::Cancelled`](crate::Error::Cancelled).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A part of the work begins.
    Phase(Phase),
    /// Weights were brought to the device.
    Weights {
        /// Bytes there so far.
        done_bytes: u64,
        /// Bytes in the end.
        total_bytes: u64,
    },
    /// A tile was upscaled.
    Tile {
        /// Tiles done so far in this call.
        done: u64,
        /// Tiles of the whole call: of colour and alpha, of all repeats.
        total: u64,
    },
}

/// A part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The model's file is read.
    Loading,
    /// The image is upscaled for the first, second, … time.
    Upscaling {
        /// Which time, counted from 1.
        repeat: u32,
        /// How many times in all.
        n_repeats: u32,
    },
}

/// Hears every event and goes on.
///
/// ```
/// let events: &mut dyn FnMut(fresco::Event) -> std::ops::ControlFlow<()> = &mut fresco::ignore_events;
/// ```
pub fn ignore_events(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
