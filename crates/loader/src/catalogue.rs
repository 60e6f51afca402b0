//! The catalogue: which tensors a source has, and where their bytes lie.

use std::collections::BTreeMap;

use crate::{Error, StoredType};

/// The number of a file within its [`ModelSource`](crate::ModelSource).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// What is known about a tensor without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// The type of its elements in the file.
    pub dtype: StoredType,
    /// Its shape in PyTorch order, outermost dimension first; empty for a scalar.
    pub shape: Vec<u64>,
    /// The file that holds its data.
    pub file: FileId,
    /// Where the data begins, counted from the start of the file.
    pub offset: u64,
    /// How long the data is in the file.
    pub bytes: u64,
}

impl TensorInfo {
    /// The number of elements: 1 for a scalar, 0 when any dimension is 0.
    ///
    /// The parsers have checked that it fits 64 bits.
    pub fn n_elements(&self) -> u64 {
        self.shape.iter().product()
    }
}

/// The tensors of a source in name order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    tensors: BTreeMap<String, TensorInfo>,
}

impl Catalogue {
    /// The tensor of that exact name.
    pub fn get(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.get(name)
    }

    /// Whether there is a tensor of that exact name.
    pub fn contains(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// All tensors in name order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &TensorInfo)> {
        self.tensors.iter().map(|(name, info)| (name.as_str(), info))
    }

    /// All names in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there is no tensor.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// The bytes of all tensors as stored.
    pub fn total_bytes(&self) -> u64 {
        self.tensors.values().map(|info| info.bytes).sum()
    }

    /// The same tensors under other names: where `table` gives a name, that one, else the old one.
    ///
    /// # Errors
    /// [`Error::RenameCollision`] when two tensors end up with one name.
    pub fn renamed(&self, mut table: impl FnMut(&str) -> Option<String>) -> Result<Self, Error> {
        let mut renamed = BTreeMap::new();
        for (old, info) in &self.tensors {
            let new = table(old).unwrap_or_else(|| old.clone());
            if let Some((first, _)) = renamed.insert(new.clone(), (old, info)) {
                return Err(Error::RenameCollision { name: new, first: first.clone(), second: old.clone() });
            }
        }
        Ok(Self { tensors: renamed.into_iter().map(|(name, (_, info))| (name, info.clone())).collect() })
    }

    /// Adds a tensor; false, and nothing changes, when the name is taken.
    #[must_use]
    pub(crate) fn insert(&mut self, name: String, info: TensorInfo) -> bool {
        match self.tensors.entry(name) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(info);
                true
            }
            std::collections::btree_map::Entry::Occupied(_) => false,
        }
    }
}
