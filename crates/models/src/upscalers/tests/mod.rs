//! Tests of all upscalers, on checkpoints and ncnn models made on the spot.

mod checkpoints;
mod detection;
mod forwards;
mod reach;
mod wiring;
