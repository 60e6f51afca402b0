//! Where each weight lives.
//!
//! A model declares its parameters against a source's catalogue ([`Declaration`]), the [`Residency`] registers them and
//! brings them to their device when they are first pinned, and the [`Ledger`] counts every byte held on each device.
//! Nothing outside this crate owns a weight's buffer; this crate runs no graph.

#![forbid(unsafe_code)]

mod declaration;
mod ledger;
mod param;
mod residency;
mod shape;

pub use declaration::{Declaration, LoadReport, Mismatch, ParamScope};
pub use fresco_loader as loader;
pub use ledger::{Account, Balance, Ledger, Purpose};
pub use loader::ggml;
pub use param::{ComponentId, Param, ParamId, ParamRole};
pub use residency::{ComponentOptions, Error, LoadProgress, Pins, Residency, Resident};
pub use shape::{MAX_RANK, Shape};
