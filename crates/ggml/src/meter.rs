//! Accounting of device memory: every allocation asks a meter first.

use std::sync::atomic::{AtomicU64, Ordering};

pub use crate::error::Refused;

/// Hears of every byte that buffers and allocators take on a device, before they take it.
///
/// A refusal makes the allocation fail with a typed error and nothing is taken. What was acquired is released when the
/// memory is freed.
pub trait AllocationMeter: Send + Sync {
    /// Asks for `bytes` about to be allocated.
    fn acquire(&self, bytes: u64) -> Result<(), Refused>;

    /// Gives back `bytes` that were acquired: their memory is free again, or its allocation failed.
    fn release(&self, bytes: u64);
}

/// Counts what is held and the most that ever was, and refuses nothing.
#[derive(Debug, Default)]
pub struct CountingMeter {
    held_bytes: AtomicU64,
    peak_bytes: AtomicU64,
}

impl CountingMeter {
    /// A meter that counts from zero.
    pub fn new() -> CountingMeter {
        CountingMeter::default()
    }

    /// Bytes held now.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }

    /// The most bytes held at once.
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes.load(Ordering::Relaxed)
    }
}

impl AllocationMeter for CountingMeter {
    fn acquire(&self, bytes: u64) -> Result<(), Refused> {
        let held = self.held_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak_bytes.fetch_max(held, Ordering::Relaxed);
        Ok(())
    }

    fn release(&self, bytes: u64) {
        self.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}
