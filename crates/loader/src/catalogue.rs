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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ggml::DType;

    fn catalogue(names: &[&str]) -> Catalogue {
        let mut catalogue = Catalogue::default();
        for (index, name) in (0..).zip(names) {
            let info = TensorInfo {
                dtype: DType::F32.into(),
                shape: vec![2, 3],
                file: FileId(0),
                offset: 24 * index,
                bytes: 24,
            };
            assert!(catalogue.insert((*name).to_owned(), info));
        }
        catalogue
    }

    #[test]
    fn tensors_come_in_name_order() {
        let catalogue = catalogue(&["b", "a", "c"]);
        assert_eq!(catalogue.names().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(catalogue.total_bytes(), 72);
        assert_eq!(catalogue.get("a").map(|info| info.offset), Some(24));
    }

    #[test]
    fn a_taken_name_changes_nothing() {
        let mut catalogue = catalogue(&["a"]);
        let other = TensorInfo { offset: 99, ..catalogue.get("a").unwrap().clone() };
        assert!(!catalogue.insert("a".to_owned(), other));
        assert_eq!(catalogue.get("a").unwrap().offset, 0);
    }

    #[test]
    fn a_table_renames_some_and_keeps_the_rest() {
        let renamed = catalogue(&["a", "b"]).renamed(|name| (name == "a").then(|| "z".to_owned())).unwrap();
        assert_eq!(renamed.names().collect::<Vec<_>>(), ["b", "z"]);
        assert_eq!(renamed.get("z").unwrap().offset, 0);
    }

    #[test]
    fn names_may_be_swapped_but_not_merged() {
        let swap = |name: &str| Some(if name == "a" { "b" } else { "a" }.to_owned());
        let swapped = catalogue(&["a", "b"]).renamed(swap).unwrap();
        assert_eq!(swapped.get("a").unwrap().offset, 24);

        let merge = |name: &str| (name == "b").then(|| "a".to_owned());
        match catalogue(&["a", "b"]).renamed(merge) {
            Err(Error::RenameCollision { name, first, second }) => {
                assert_eq!((name.as_str(), first.as_str(), second.as_str()), ("a", "a", "b"));
            }
            other => panic!("{other:?}"),
        }
    }
}
