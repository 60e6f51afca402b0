//! Every byte the program holds on each device, by purpose.
//!
//! Allocations pass through an [`Account`] before they happen, so that what the ledger says is what was taken. It is
//! shared: buffers give their bytes back from whichever thread drops them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ggml::{AllocationMeter, Device, Refused};

/// What device memory is held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Weights in buffers of their own.
    Weights,
    /// Files mapped into memory, each counted whole and once.
    Mapping,
    /// Values of running graphs.
    Workspace,
}

/// What is held on one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Bytes held now, by purpose.
    pub current_bytes: BTreeMap<Purpose, u64>,
    /// The most bytes held at once since the ledger began.
    pub peak_bytes: u64,
}

impl Balance {
    /// Bytes held now for all purposes.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.current_bytes.values().sum()
    }
}

/// The balances of all devices.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    balances: Arc<Mutex<BTreeMap<String, Balance>>>,
}

/// A line of the ledger, to which allocations on one device for one purpose go.
#[derive(Debug)]
pub struct Account {
    ledger: Ledger,
    device: String,
    purpose: Purpose,
}

impl Ledger {
    /// The account of `purpose` on `device`.
    #[must_use]
    pub fn account(&self, device: &Device, purpose: Purpose) -> Arc<dyn AllocationMeter> {
        Arc::new(Account { ledger: self.clone(), device: device.name().to_owned(), purpose })
    }

    /// What is held on the device of this name; nothing where it was never used.
    #[must_use]
    pub fn balance(&self, device: &str) -> Balance {
        self.lock().get(device).cloned().unwrap_or_default()
    }

    /// A balance is plain numbers and each change is one addition, so a panic elsewhere leaves it valid.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Balance>> {
        self.balances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AllocationMeter for Account {
    fn acquire(&self, bytes: u64) -> Result<(), Refused> {
        let mut balances = self.ledger.lock();
        let balance = balances.entry(self.device.clone()).or_default();
        *balance.current_bytes.entry(self.purpose).or_default() += bytes;
        balance.peak_bytes = balance.peak_bytes.max(balance.total_bytes());
        Ok(())
    }

    fn release(&self, bytes: u64) {
        if let Some(balance) = self.ledger.lock().get_mut(&self.device) {
            let held = balance.current_bytes.entry(self.purpose).or_default();
            *held = held.saturating_sub(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(ledger: &Ledger, purpose: Purpose) -> Account {
        Account { ledger: ledger.clone(), device: "CPU".into(), purpose }
    }

    #[test]
    fn counts_by_purpose_and_remembers_the_peak() {
        let ledger = Ledger::default();
        let (weights, workspace) = (account(&ledger, Purpose::Weights), account(&ledger, Purpose::Workspace));
        weights.acquire(100).unwrap();
        workspace.acquire(50).unwrap();
        workspace.release(50);
        workspace.acquire(20).unwrap();
        let balance = ledger.balance("CPU");
        assert_eq!(balance.current_bytes[&Purpose::Workspace], 20);
        assert_eq!((balance.total_bytes(), balance.peak_bytes), (120, 150));
        assert_eq!(ledger.balance("Vulkan0"), Balance::default());
    }
}
