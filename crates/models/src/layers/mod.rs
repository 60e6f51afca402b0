//! Layers that models are made of: one of each kind, whatever the type of its weights.
//!
//! A layer holds its parameters as declared and computes on graph values. Its documentation states the formula and the
//! shapes.

mod channel_norm;
mod conv2d;
mod prelu;

pub use channel_norm::ChannelNorm;
pub use conv2d::Conv2d;
pub use prelu::Prelu;
