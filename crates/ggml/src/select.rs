//! Choosing a device by name.

use crate::device::{Device, DeviceKind};

/// Why a name chooses no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No device has the name or begins with it.
    #[error("there is no device \"{name}\"; there are {}", available.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        available: Vec<String>,
    },
    /// Several devices begin with the name.
    #[error("device \"{name}\" could be {}", candidates.join(" or "))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// The devices that begin with it.
        candidates: Vec<String>,
    },
    /// A GPU was asked for.
    #[error("there is no GPU; there are {}", available.join(", "))]
    NoGpu {
        /// The names there are.
        available: Vec<String>,
    },
}

/// The device of a name: exactly, else the only one whose name begins with it; upper and lower case are alike.
///
/// `gpu` is the first GPU, discrete ones before integrated ones; `auto` is that or else the CPU.
pub fn select_device(devices: &[Device], name: &str) -> Result<Device, SelectError> {
    let choices: Vec<Choice<'_>> = devices.iter().map(|device| (device.name(), device.kind())).collect();
    select(&choices, name).map(|index| devices[index].clone())
}

/// Name and kind of a device.
type Choice<'a> = (&'a str, DeviceKind);

fn select(choices: &[Choice<'_>], name: &str) -> Result<usize, SelectError> {
    let first = |kind| choices.iter().position(|&(_, other)| other == kind);
    let gpu = || first(DeviceKind::DiscreteGpu).or_else(|| first(DeviceKind::IntegratedGpu));
    let names = |indices: &[usize]| indices.iter().map(|&index| choices[index].0.to_owned()).collect::<Vec<_>>();
    let all: Vec<usize> = (0..choices.len()).collect();
    let (wanted, name) = (name.trim().to_lowercase(), name.to_owned());
    let of_name = |fits: &dyn Fn(&str) -> bool| {
        all.iter().copied().filter(|&index| fits(&choices[index].0.to_lowercase())).collect::<Vec<_>>()
    };
    if let [index, ..] = of_name(&|name| name == wanted)[..] {
        return Ok(index);
    }
    match wanted.as_str() {
        "gpu" => return gpu().ok_or_else(|| SelectError::NoGpu { available: names(&all) }),
        "auto" => {
            let best = gpu().or_else(|| first(DeviceKind::Cpu));
            return best.ok_or_else(|| SelectError::Unknown { name, available: names(&all) });
        }
        "" => return Err(SelectError::Unknown { name, available: names(&all) }),
        _ => {}
    }
    match of_name(&|name| name.starts_with(&wanted))[..] {
        [index] => Ok(index),
        [] => Err(SelectError::Unknown { name, available: names(&all) }),
        ref several => Err(SelectError::Ambiguous { name, candidates: names(several) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: [Choice<'static>; 5] = [
        ("Vulkan0", DeviceKind::IntegratedGpu),
        ("Vulkan1", DeviceKind::DiscreteGpu),
        ("Vulkan10", DeviceKind::DiscreteGpu),
        ("BLAS", DeviceKind::Accelerator),
        ("CPU", DeviceKind::Cpu),
    ];

    fn chosen(name: &str) -> &'static str {
        MACHINE[select(&MACHINE, name).unwrap()].0
    }

    #[test]
    fn names_are_exact_or_unique_beginnings() {
        assert_eq!(chosen("cpu"), "CPU");
        assert_eq!(chosen("c"), "CPU");
        assert_eq!(chosen(" VULKAN1 "), "Vulkan1");
        assert_eq!(chosen("vulkan10"), "Vulkan10");
    }

    #[test]
    fn aliases_prefer_discrete_gpus() {
        assert_eq!(chosen("gpu"), "Vulkan1");
        assert_eq!(chosen("auto"), "Vulkan1");
        let cpu_only = &MACHINE[3..];
        assert_eq!(select(cpu_only, "auto"), Ok(1));
        let available = vec!["BLAS".to_owned(), "CPU".to_owned()];
        assert_eq!(select(cpu_only, "gpu"), Err(SelectError::NoGpu { available }));
    }

    #[test]
    fn errors_list_what_exists() {
        let error = select(&MACHINE, "vulkan").unwrap_err();
        assert_eq!(error.to_string(), "device \"vulkan\" could be Vulkan0 or Vulkan1 or Vulkan10");
        let error = select(&MACHINE, "cuda0").unwrap_err();
        let expected = "there is no device \"cuda0\"; there are Vulkan0, Vulkan1, Vulkan10, BLAS, CPU";
        assert_eq!(error.to_string(), expected);
        assert!(select(&MACHINE, "").is_err());
    }
}
