//! Builds the GPU backends whose features are on, as static libraries, through ggml's own CMake project, and links them
//! with what each needs from its vendor.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::source;

/// A backend that ggml's CMake project builds.
struct Gpu {
    /// ggml's name in lower case; also the name of the feature.
    name: &'static str,
    /// What tells ggml's registry to start it.
    define: &'static str,
    /// Libraries on Windows, on Apple systems (frameworks) and elsewhere.
    windows: &'static [&'static str],
    apple: &'static [&'static str],
    unix: &'static [&'static str],
    /// Variables that name the vendor's installation, and where it is by default.
    roots: &'static [&'static str],
    default_root: &'static str,
}

const GPUS: &[Gpu] = &[
    Gpu {
        name: "vulkan",
        define: "GGML_USE_VULKAN",
        windows: &["vulkan-1"],
        apple: &[],
        unix: &["vulkan"],
        roots: &["VULKAN_SDK"],
        default_root: "",
    },
    Gpu {
        name: "cuda",
        define: "GGML_USE_CUDA",
        windows: &["cudart", "cublas"],
        apple: &[],
        unix: &["cudart", "cublas"],
        roots: &["CUDAToolkit_ROOT", "CUDA_PATH", "CUDA_HOME"],
        default_root: "/usr/local/cuda",
    },
    Gpu {
        name: "metal",
        define: "GGML_USE_METAL",
        windows: &[],
        apple: &["Foundation", "Metal", "MetalKit"],
        unix: &[],
        roots: &[],
        default_root: "",
    },
    Gpu {
        name: "hip",
        define: "GGML_USE_CUDA",
        windows: &["amdhip64", "hipblas", "rocblas"],
        apple: &[],
        unix: &["amdhip64", "hipblas", "rocblas"],
        roots: &["ROCM_PATH"],
        default_root: "/opt/rocm",
    },
    Gpu {
        name: "sycl",
        define: "GGML_USE_SYCL",
        windows: &["sycl", "mkl_sycl_blas", "mkl_intel_ilp64", "mkl_tbb_thread", "mkl_core"],
        apple: &[],
        unix: &["sycl", "mkl_sycl_blas", "mkl_intel_ilp64", "mkl_tbb_thread", "mkl_core", "tbb"],
        roots: &["MKLROOT", "CMPLR_ROOT"],
        default_root: "/opt/intel/oneapi/mkl/latest",
    },
    Gpu {
        name: "opencl",
        define: "GGML_USE_OPENCL",
        windows: &["OpenCL"],
        apple: &["OpenCL"],
        unix: &["OpenCL"],
        roots: &["OPENCL_ROOT"],
        default_root: "",
    },
];

/// A built backend: what the registry must be told, and the library to link after it.
pub(crate) struct Built {
    pub(crate) define: &'static str,
    library: String,
    gpu: &'static Gpu,
    dir: PathBuf,
}

/// Builds the backends whose features are on.
pub(crate) fn build(ggml: &Path, out_dir: &Path) -> Vec<Built> {
    let is_on = |gpu: &&Gpu| env::var_os(format!("CARGO_FEATURE_{}", gpu.name.to_uppercase())).is_some();
    let gpus: Vec<&Gpu> = GPUS.iter().filter(is_on).collect();
    let n_cuda = gpus.iter().filter(|gpu| gpu.define == "GGML_USE_CUDA").count();
    assert!(
        n_cuda < 2,
        "`cuda` and `hip` compile the same code and cannot both be linked in; load one of them instead"
    );
    gpus.into_iter().map(|gpu| build_one(gpu, ggml, out_dir)).collect()
}

fn build_one(gpu: &'static Gpu, ggml: &Path, out_dir: &Path) -> Built {
    let library = format!("ggml-{}", gpu.name);
    println!("cargo:rerun-if-changed=cmake");
    for variable in gpu.roots.iter().chain(&["CUDAARCHS", "CUDACXX"]) {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let mut config = cmake::Config::new("cmake");
    config
        .profile("Release")
        .out_dir(out_dir.join(gpu.name))
        .define("GGML_DIR", ggml)
        .define("FRESCO_BACKEND", gpu.name)
        .build_target(&library);
    if let Some(root) = root(gpu) {
        // Named again for CMake, which knows the toolchain that this workspace keeps by this variable alone.
        if let Some(variable) = gpu.roots.first() {
            config.env(variable, root);
        }
    }
    let dir = config.build().join("build/out");
    Built { define: gpu.define, library, gpu, dir }
}

/// Links the backend and its vendor's libraries; to be called before what they use is linked.
pub(crate) fn link(built: &Built) {
    println!("cargo:rustc-link-search=native={}", built.dir.display());
    println!("cargo:rustc-link-lib=static={}", built.library);
    for lib in ["lib64", "lib/x64", "lib"] {
        let dir = root(built.gpu).map(|root| root.join(lib)).filter(|dir| dir.is_dir());
        if let Some(dir) = dir {
            println!("cargo:rustc-link-search=native={}", dir.display());
        }
    }
    let (kind, libraries) = match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("windows") => ("dylib", built.gpu.windows),
        Ok("macos" | "ios") => ("framework", built.gpu.apple),
        _ => ("dylib", built.gpu.unix),
    };
    for library in libraries {
        println!("cargo:rustc-link-lib={kind}={library}");
    }
}

/// Where the vendor's headers and libraries are, if not where the compiler looks by itself.
fn root(gpu: &Gpu) -> Option<PathBuf> {
    let named = gpu.roots.iter().find_map(|variable| env::var_os(variable).map(PathBuf::from));
    let fetched = source::vendor_of_checkout().map(|vendor| vendor.join("toolchains").join(gpu.name));
    named.or_else(|| fetched.into_iter().chain([PathBuf::from(gpu.default_root)]).find(|root| root.is_dir()))
}
