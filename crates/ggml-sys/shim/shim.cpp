// See shim.h.

#include "shim.h"

#include "ggml-backend-impl.h"

#include <cstdio>
#include <exception>

namespace {

void report(fresco_message * message, const char * text) {
    std::snprintf(message->text, sizeof(message->text), "%s", text);
}

// Runs `call`, which returns a `fresco_status`.
template <typename Call> fresco_status guarded(fresco_message * message, Call && call) {
    try {
        return call();
    } catch (const std::exception & exception) {
        report(message, exception.what());
    } catch (...) {
        report(message, "an exception of unknown type");
    }
    return FRESCO_THROWN;
}

template <typename Call> fresco_status guarded_void(fresco_message * message, Call && call) {
    return guarded(message, [&] {
        call();
        return FRESCO_OK;
    });
}

// For calls that return a pointer, null on failure.
template <typename Pointer, typename Call> fresco_status guarded_new(fresco_message * message, Pointer * result, Call && call) {
    return guarded(message, [&] {
        *result = call();
        return *result != nullptr ? FRESCO_OK : FRESCO_FAILED;
    });
}

// For calls that return a `ggml_status`.
template <typename Call> fresco_status guarded_status(fresco_message * message, Call && call) {
    return guarded(message, [&] {
        switch (call()) {
            case GGML_STATUS_SUCCESS: return FRESCO_OK;
            case GGML_STATUS_ABORTED: return FRESCO_ABORTED;
            case GGML_STATUS_ALLOC_FAILED: report(message, "out of memory for work data"); return FRESCO_FAILED;
            default: return FRESCO_FAILED;
        }
    });
}

} // namespace

// Devices and backends.

fresco_status fresco_devices_init(size_t * n_devices, fresco_message * message) {
    return guarded_void(message, [&] { *n_devices = ggml_backend_dev_count(); });
}
fresco_status fresco_device_props(ggml_backend_dev_t device, ggml_backend_dev_props * props, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_dev_get_props(device, props); });
}
fresco_status fresco_device_buffer_type(ggml_backend_dev_t device, ggml_backend_buffer_type_t * buft, fresco_message * message) {
    return guarded_new(message, buft, [&] { return ggml_backend_dev_buffer_type(device); });
}
fresco_status fresco_device_supports_op(ggml_backend_dev_t device, const ggml_tensor * node, bool * supported, fresco_message * message) {
    return guarded_void(message, [&] { *supported = ggml_backend_dev_supports_op(device, node); });
}
fresco_status fresco_backend_init(ggml_backend_dev_t device, ggml_backend_t * backend, fresco_message * message) {
    return guarded_new(message, backend, [&] { return ggml_backend_dev_init(device, nullptr); });
}
fresco_status fresco_backend_free(ggml_backend_t backend, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_free(backend); });
}
fresco_status fresco_backend_synchronize(ggml_backend_t backend, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_synchronize(backend); });
}

// Buffers.

fresco_status fresco_buffer_alloc(ggml_backend_buffer_type_t buft, size_t n_bytes, ggml_backend_buffer_t * buffer, fresco_message * message) {
    return guarded_new(message, buffer, [&] { return ggml_backend_buft_alloc_buffer(buft, n_bytes); });
}
fresco_status fresco_buffer_free(ggml_backend_buffer_t buffer, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_buffer_free(buffer); });
}

// Tensors.

fresco_status fresco_tensor_alloc(ggml_backend_buffer_t buffer, ggml_tensor * tensor, void * address, fresco_message * message) {
    return guarded_status(message, [&] { return ggml_backend_tensor_alloc(buffer, tensor, address); });
}
fresco_status fresco_tensor_view_init(ggml_tensor * tensor, fresco_message * message) {
    return guarded_status(message, [&] { return ggml_backend_view_init(tensor); });
}
fresco_status fresco_tensor_set(ggml_tensor * tensor, const void * data, size_t offset, size_t n_bytes, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_tensor_set(tensor, data, offset, n_bytes); });
}
fresco_status fresco_tensor_get(const ggml_tensor * tensor, void * data, size_t offset, size_t n_bytes, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_tensor_get(tensor, data, offset, n_bytes); });
}

// Graphs.

fresco_status fresco_graph_compute(ggml_backend_t backend, ggml_cgraph * graph, fresco_message * message) {
    return guarded_status(message, [&] { return ggml_backend_graph_compute(backend, graph); });
}
