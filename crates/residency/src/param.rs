//! Parameters: the handles that layers hold, and the rule that decides the type each is stored in.

use std::fmt;

use crate::ggml::DType;
use crate::loader::StoredType;
use crate::shape::Shape;

/// A group of parameters that come from one source and belong to one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComponentId(pub(crate) u32);

/// A parameter's identity within a [`Residency`](crate::Residency).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId {
    /// The component it belongs to.
    pub component: ComponentId,
    /// Its place within the component.
    pub index: u32,
}

/// What a layer holds of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Which parameter.
    pub id: ParamId,
    /// Its shape, in PyTorch order.
    pub shape: Shape,
    /// The type it is stored in while resident.
    pub dtype: DType,
}

/// What a parameter does in its layer; with the file's type and the user's wish it decides the storage type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamRole {
    /// A convolution's kernel `[out, in / groups, KH, KW]`, stored as the matrix `[out, in / groups · KH · KW]`.
    ConvWeight,
    /// A vector that is added or multiplied per channel: a bias, a norm's scale, an activation's slope. Always f32.
    Vector,
}

impl ParamRole {
    /// The type in which a parameter of this role is kept.
    ///
    /// Vectors are f32. Weights take the `wanted` type; without one they keep the file's type where the engine computes
    /// with it, and become f32 otherwise. A quantised type whose blocks do not divide the rows gives way to f16.
    #[must_use]
    pub fn storage_type(self, shape: Shape, stored: &StoredType, wanted: Option<DType>) -> DType {
        match (self, wanted) {
            (Self::Vector, _) => DType::F32,
            (Self::ConvWeight, None) => kept_type(stored),
            (Self::ConvWeight, Some(dtype)) => {
                let divides = shape.as_matrix().is_some_and(|[_, row_len]| dtype.row_bytes(row_len).is_some());
                if divides { dtype } else { DType::F16 }
            }
        }
    }
}

/// The file's own type where weights may stay in it.
fn kept_type(stored: &StoredType) -> DType {
    match stored {
        StoredType::Ggml(dtype @ (DType::F16 | DType::BF16)) => *dtype,
        _ => DType::F32,
    }
}

impl fmt::Display for ParamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}.{}", self.component.0, self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convolution_weights_are_quantised_as_matrices() {
        let file = StoredType::Ggml(DType::F16);
        let dtype = |shape: [u64; 4]| ParamRole::ConvWeight.storage_type(shape.into(), &file, Some(DType::Q8_0));
        assert_eq!(dtype([64, 64, 3, 3]), DType::Q8_0);
        assert_eq!(dtype([64, 3, 3, 3]), DType::F16, "27 elements a row are no whole block");
    }

    #[test]
    fn weights_keep_the_type_of_the_file() {
        let shape = Shape::from([64, 64, 3, 3]);
        let dtype = |stored| ParamRole::ConvWeight.storage_type(shape, &stored, None);
        assert_eq!(dtype(StoredType::Ggml(DType::F16)), DType::F16);
        assert_eq!(dtype(StoredType::Ggml(DType::BF16)), DType::BF16);
        assert_eq!(dtype(StoredType::Ggml(DType::F32)), DType::F32);
        assert_eq!(dtype(StoredType::Ggml(DType::F64)), DType::F32);
    }

    #[test]
    fn vectors_are_always_f32() {
        let file = StoredType::Ggml(DType::F16);
        assert_eq!(ParamRole::Vector.storage_type(Shape::from([64]), &file, Some(DType::Q8_0)), DType::F32);
    }
}
