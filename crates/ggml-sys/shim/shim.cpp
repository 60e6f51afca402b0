// See shim.h.

#include "shim.h"

#include "ggml-backend-impl.h"

#include <cstdio>
#include <exception>
#include <new>

namespace {

// Why the running call of this thread is about to report failure, where ggml itself would say only that it did.
thread_local fresco_message failure;

void report(fresco_message * message, const char * text) {
    std::snprintf(message->text, sizeof(message->text), "%s", text);
}

// Runs `call`, which returns a `fresco_status`.
template <typename Call> fresco_status guarded(fresco_message * message, Call && call) {
    try {
        failure.text[0] = '\0';
        const fresco_status status = call();
        if (status == FRESCO_FAILED && failure.text[0] != '\0') {
            report(message, failure.text);
        }
        return status;
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

fresco_status status_of(bool success) {
    return success ? FRESCO_OK : FRESCO_FAILED;
}

fresco_status status_of(ggml_status status) {
    switch (status) {
        case GGML_STATUS_SUCCESS: return FRESCO_OK;
        case GGML_STATUS_ABORTED: return FRESCO_ABORTED;
        case GGML_STATUS_ALLOC_FAILED: report(&failure, "out of memory for work data"); return FRESCO_FAILED;
        default: return FRESCO_FAILED;
    }
}

// The base is a copy of the inner type with one function exchanged. Backends recognise their buffer types by the address
// of `get_name` and read `context` and `device`; a copy passes for the original where a wrapper would not.
struct metered_buffer_type {
    ggml_backend_buffer_type base;
    ggml_backend_buffer_type_t inner;
    fresco_acquire_t acquire;
    fresco_cancel_t cancel;
    void * user_data;
};

// Throws nothing: ggml's graph allocator holds a freed buffer while it calls this, and would free it again if an
// exception passed through.
ggml_backend_buffer_t metered_alloc_buffer(ggml_backend_buffer_type_t buft, size_t n_bytes) {
    const auto * metered = reinterpret_cast<metered_buffer_type *>(buft);
    if (!metered->acquire(metered->user_data, n_bytes)) {
        report(&failure, "the meter refused the allocation");
        return nullptr;
    }
    ggml_backend_buffer_t buffer = nullptr;
    fresco_message message{ "the device has no such buffer to give" };
    guarded_new(&message, &buffer, [&] { return metered->inner->iface.alloc_buffer(metered->inner, n_bytes); });
    if (buffer == nullptr) {
        metered->cancel(metered->user_data, n_bytes);
        report(&failure, message.text);
    }
    return buffer;
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
fresco_status fresco_buffer_from_host(ggml_backend_dev_t device, void * data, size_t n_bytes, size_t max_tensor_bytes, ggml_backend_buffer_t * buffer, fresco_message * message) {
    return guarded_new(message, buffer, [&] { return ggml_backend_dev_buffer_from_host_ptr(device, data, n_bytes, max_tensor_bytes); });
}
fresco_status fresco_buffer_clear(ggml_backend_buffer_t buffer, uint8_t value, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_buffer_clear(buffer, value); });
}
fresco_status fresco_buffer_free(ggml_backend_buffer_t buffer, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_buffer_free(buffer); });
}

// Tensors.

fresco_status fresco_tensor_alloc(ggml_backend_buffer_t buffer, ggml_tensor * tensor, void * address, fresco_message * message) {
    return guarded(message, [&] { return status_of(ggml_backend_tensor_alloc(buffer, tensor, address)); });
}
fresco_status fresco_tensor_view_init(ggml_tensor * tensor, fresco_message * message) {
    return guarded(message, [&] { return status_of(ggml_backend_view_init(tensor)); });
}
fresco_status fresco_tensor_set(ggml_tensor * tensor, const void * data, size_t offset, size_t n_bytes, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_tensor_set(tensor, data, offset, n_bytes); });
}
fresco_status fresco_tensor_get(const ggml_tensor * tensor, void * data, size_t offset, size_t n_bytes, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_tensor_get(tensor, data, offset, n_bytes); });
}
fresco_status fresco_tensor_memset(ggml_tensor * tensor, uint8_t value, size_t offset, size_t n_bytes, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_tensor_memset(tensor, value, offset, n_bytes); });
}
fresco_status fresco_tensor_copy(const ggml_tensor * source, ggml_tensor * destination, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_tensor_copy(source, destination); });
}
fresco_status fresco_tensor_set_async(ggml_backend_t backend, ggml_tensor * tensor, const void * data, size_t offset, size_t n_bytes, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_tensor_set_async(backend, tensor, data, offset, n_bytes); });
}
fresco_status fresco_tensor_get_async(ggml_backend_t backend, const ggml_tensor * tensor, void * data, size_t offset, size_t n_bytes, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_tensor_get_async(backend, tensor, data, offset, n_bytes); });
}
fresco_status fresco_tensor_copy_async(ggml_backend_t from, ggml_backend_t to, const ggml_tensor * source, ggml_tensor * destination, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_tensor_copy_async(from, to, source, destination); });
}

// Graphs.

fresco_status fresco_graph_compute(ggml_backend_t backend, ggml_cgraph * graph, fresco_message * message) {
    return guarded(message, [&] { return status_of(ggml_backend_graph_compute(backend, graph)); });
}
fresco_status fresco_graph_compute_async(ggml_backend_t backend, ggml_cgraph * graph, fresco_message * message) {
    return guarded(message, [&] { return status_of(ggml_backend_graph_compute_async(backend, graph)); });
}
fresco_status fresco_gallocr_reserve(ggml_gallocr_t allocator, ggml_cgraph * graph, fresco_message * message) {
    return guarded(message, [&] { return status_of(ggml_gallocr_reserve(allocator, graph)); });
}
fresco_status fresco_gallocr_alloc_graph(ggml_gallocr_t allocator, ggml_cgraph * graph, fresco_message * message) {
    return guarded(message, [&] { return status_of(ggml_gallocr_alloc_graph(allocator, graph)); });
}
fresco_status fresco_gallocr_free(ggml_gallocr_t allocator, fresco_message * message) {
    return guarded_void(message, [&] { ggml_gallocr_free(allocator); });
}

// The scheduler.

fresco_status fresco_sched_new(ggml_backend_t * backends, ggml_backend_buffer_type_t * bufts, int n_backends, size_t graph_size, bool parallel, bool op_offload, ggml_backend_sched_t * sched, fresco_message * message) {
    return guarded_new(message, sched, [&] { return ggml_backend_sched_new(backends, bufts, n_backends, graph_size, parallel, op_offload); });
}
fresco_status fresco_sched_reserve(ggml_backend_sched_t sched, ggml_cgraph * graph, fresco_message * message) {
    return guarded(message, [&] { return status_of(ggml_backend_sched_reserve(sched, graph)); });
}
fresco_status fresco_sched_alloc_graph(ggml_backend_sched_t sched, ggml_cgraph * graph, fresco_message * message) {
    return guarded(message, [&] { return status_of(ggml_backend_sched_alloc_graph(sched, graph)); });
}
fresco_status fresco_sched_graph_compute(ggml_backend_sched_t sched, ggml_cgraph * graph, fresco_message * message) {
    return guarded(message, [&] { return status_of(ggml_backend_sched_graph_compute(sched, graph)); });
}
fresco_status fresco_sched_free(ggml_backend_sched_t sched, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_sched_free(sched); });
}

// Events.

fresco_status fresco_event_new(ggml_backend_dev_t device, ggml_backend_event_t * event, fresco_message * message) {
    return guarded_new(message, event, [&] { return ggml_backend_event_new(device); });
}
fresco_status fresco_event_record(ggml_backend_event_t event, ggml_backend_t backend, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_event_record(event, backend); });
}
fresco_status fresco_event_wait(ggml_backend_t backend, ggml_backend_event_t event, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_event_wait(backend, event); });
}
fresco_status fresco_event_synchronize(ggml_backend_event_t event, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_event_synchronize(event); });
}
fresco_status fresco_event_free(ggml_backend_event_t event, fresco_message * message) {
    return guarded_void(message, [&] { ggml_backend_event_free(event); });
}

// The metered buffer type.

ggml_backend_buffer_type_t fresco_metered_buft_new(ggml_backend_buffer_type_t inner, fresco_acquire_t acquire, fresco_cancel_t cancel, void * user_data) {
    auto * metered = new (std::nothrow) metered_buffer_type{ *inner, inner, acquire, cancel, user_data };
    if (metered == nullptr) {
        return nullptr;
    }
    metered->base.iface.alloc_buffer = metered_alloc_buffer;
    // Without these, ggml takes several tensors together through `alloc_buffer`, which the meter sees.
    metered->base.iface.alloc_buffer_n = nullptr;
    metered->base.iface.get_alloc_size_n = nullptr;
    return &metered->base;
}

void fresco_metered_buft_free(ggml_backend_buffer_type_t metered) {
    delete reinterpret_cast<metered_buffer_type *>(metered);
}
