//! The instruction sets that ggml's CPU code has kernels for: how the compiler is told of each, and how a running CPU
//! is asked. The build script and the library share this file, so that the two cannot disagree.
#![allow(dead_code, unreachable_pub, reason = "the build script reads the tables, the library exports the question")]

/// One instruction set extension.
pub(crate) struct CpuFeature {
    /// Its name in Rust's `target_feature` and feature detection.
    pub(crate) name: &'static str,
    /// The flag of GCC and Clang on x86, the `-march` suffix on ARM.
    pub(crate) flag: &'static str,
}

/// Declares one architecture's features and the function that asks the running CPU for them.
macro_rules! cpu_features {
    ($arch:literal, $table:ident, $detect:path, [$(($name:tt, $flag:literal)),+ $(,)?]) => {
        /// ggml's extensions on this architecture, each after what it builds on.
        pub(crate) const $table: &[CpuFeature] = &[$(CpuFeature { name: $name, flag: $flag }),+];

        /// Whether the running CPU and its operating system support the extension `name`.
        #[cfg(target_arch = $arch)]
        pub fn cpu_has(name: &str) -> bool {
            use $detect as detect;
            match name {
                $($name => detect!($name),)+
                _ => false,
            }
        }
    };
}

cpu_features!(
    "x86_64",
    X86_64,
    std::is_x86_feature_detected,
    [
        ("sse4.2", "-msse4.2"),
        ("avx", "-mavx"),
        ("f16c", "-mf16c"),
        ("fma", "-mfma"),
        ("bmi2", "-mbmi2"),
        ("avx2", "-mavx2"),
        ("avxvnni", "-mavxvnni"),
        ("avx512f", "-mavx512f"),
        ("avx512cd", "-mavx512cd"),
        ("avx512vl", "-mavx512vl"),
        ("avx512dq", "-mavx512dq"),
        ("avx512bw", "-mavx512bw"),
        ("avx512vbmi", "-mavx512vbmi"),
        ("avx512vnni", "-mavx512vnni"),
        ("avx512bf16", "-mavx512bf16"),
    ]
);

cpu_features!(
    "aarch64",
    AARCH64,
    std::arch::is_aarch64_feature_detected,
    [("dotprod", "+dotprod"), ("fp16", "+fp16"), ("sve", "+sve"), ("i8mm", "+i8mm"), ("sve2", "+sve2"),]
);

/// Whether the running CPU supports the extension `name`: none is known on this architecture.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn cpu_has(_name: &str) -> bool {
    false
}
