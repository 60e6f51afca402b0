//! A graph as text, for snapshot tests and for people.
//!
//! One line a value: `%5 = conv2d(padding [1, 1]) %0 p0.0 p0.1 : [1, 64, 8, 8]`. Parameters stand where they are used.

use std::fmt;

use super::{Graph, Origin, ValueId};
use crate::DType;

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, value) in self.values.iter().enumerate() {
            let id = ValueId(i as u32);
            match &value.origin {
                Origin::Input => {
                    let name = self.inputs.iter().find(|(_, input)| *input == id).map_or("?", |(name, _)| name);
                    write!(f, "%{i} = input '{name}'")?;
                }
                Origin::Param(_) => continue,
                Origin::Op(op, operands) => {
                    write!(f, "%{i} = {op}")?;
                    for &operand in operands {
                        write!(f, " {}", Operand(self, operand))?;
                    }
                }
            }
            write!(f, " : {}", value.kind.shape)?;
            for cut in self.cuts.iter().filter(|cut| cut.value == id) {
                write!(f, " | cut {}", cut.group)?;
            }
            writeln!(f)?;
        }
        for (name, id) in &self.outputs {
            writeln!(f, "output '{name}' = {}", Operand(self, *id))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

struct Operand<'g>(&'g Graph, ValueId);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0.value(self.1);
        match value.origin {
            Origin::Param(id) if value.kind.dtype == DType::F32 => write!(f, "{id}"),
            Origin::Param(id) => write!(f, "{id}:{}", value.kind.dtype.name()),
            _ => write!(f, "%{}", self.1.0),
        }
    }
}
