// Every call of ggml that can throw a C++ exception, wrapped so that none crosses into Rust. Which calls: those that a
// backend implements (ggml's Vulkan backend throws `vk::SystemError` from most of its own, all backends
// `std::bad_alloc`).

#pragma once

#include "ggml-backend.h"
#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fresco_status {
    FRESCO_OK = 0,
    // The call reported a failure of its own: it returned null, false or a bad `ggml_status`.
    FRESCO_FAILED = 1,
    // The call threw. What it worked on is in an unknown state: free the backend and start a new one.
    FRESCO_THROWN = 2,
    // The computation was stopped by the abort callback.
    FRESCO_ABORTED = 3,
};

// What went wrong, as text that ends with a zero byte. Untouched on success and where ggml gave no reason; never null.
struct fresco_message {
    char text[512];
};

// Devices and backends. `fresco_devices_init` starts all backends that are linked in, which finds their devices.
enum fresco_status fresco_devices_init(size_t * n_devices, struct fresco_message * message);
enum fresco_status fresco_device_props(ggml_backend_dev_t device, struct ggml_backend_dev_props * props, struct fresco_message * message);
// A device's type of buffers, for whose sake a backend may start the device.
enum fresco_status fresco_device_buffer_type(ggml_backend_dev_t device, ggml_backend_buffer_type_t * buft, struct fresco_message * message);
enum fresco_status fresco_device_supports_op(ggml_backend_dev_t device, const struct ggml_tensor * node, bool * supported, struct fresco_message * message);
enum fresco_status fresco_backend_init(ggml_backend_dev_t device, ggml_backend_t * backend, struct fresco_message * message);
enum fresco_status fresco_backend_free(ggml_backend_t backend, struct fresco_message * message);
enum fresco_status fresco_backend_synchronize(ggml_backend_t backend, struct fresco_message * message);
// Loads a backend that `cargo xtask backend` built, for good, and adds its devices to ggml's list. There only with the
// feature `dynamic-backends`.
enum fresco_status fresco_backend_load(const char * path, ggml_backend_reg_t * reg, struct fresco_message * message);

// Buffers.
enum fresco_status fresco_buffer_alloc(ggml_backend_buffer_type_t buft, size_t n_bytes, ggml_backend_buffer_t * buffer, struct fresco_message * message);
enum fresco_status fresco_buffer_free(ggml_backend_buffer_t buffer, struct fresco_message * message);

// Tensors in buffers.
enum fresco_status fresco_tensor_alloc(ggml_backend_buffer_t buffer, struct ggml_tensor * tensor, void * address, struct fresco_message * message);
enum fresco_status fresco_tensor_view_init(struct ggml_tensor * tensor, struct fresco_message * message);
enum fresco_status fresco_tensor_set(struct ggml_tensor * tensor, const void * data, size_t offset, size_t n_bytes, struct fresco_message * message);
enum fresco_status fresco_tensor_get(const struct ggml_tensor * tensor, void * data, size_t offset, size_t n_bytes, struct fresco_message * message);

// Graphs.
enum fresco_status fresco_graph_compute(ggml_backend_t backend, struct ggml_cgraph * graph, struct fresco_message * message);

#ifdef __cplusplus
}
#endif
