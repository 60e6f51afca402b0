//! The register of all components.

use crate::declaration::Declaration;
use crate::ggml::DType;
use crate::loader::Catalogue;
use crate::param::ComponentId;

/// Every registered weight.
#[derive(Default)]
pub struct Residency {
    n_declared: u32,
}

impl Residency {
    /// A register without components.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a component whose parameters are declared against `catalogue`; weights take the `wanted` type where given
    /// and their role allows it.
    pub fn declare<'c>(&mut self, catalogue: &'c Catalogue, wanted: Option<DType>) -> Declaration<'c> {
        let component = ComponentId(self.n_declared);
        self.n_declared += 1;
        Declaration::new(component, catalogue, wanted)
    }
}
