// file.c -- decodes an ONNX file into protobuf-c's tree, whose memory is bounded by the file's
// size. It does not interpret the tree.
#include <string.h>

#include "layers/files/input_file.h"
#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

// A message of two bytes becomes a struct of about a hundred: a file of only those may take this
// many times its size, and a file of numbers about its own size.
enum { MOST_TIMES = 128, MOST_MORE = 1 << 16 };

struct Arena {
    ProtobufCAllocator allocator;
    size_t left;
    bool exceeded;
    Onnx__Model *model;
};

static void *arena_new(void *of, size_t bytes) {
    struct Arena *arena = of;
    if (bytes > arena->left) {
        arena->exceeded = true;
        return NULL;
    }
    arena->left -= bytes;
    return memory_new(bytes ? bytes : 1);
}

static void arena_free(void *of, void *block) {
    (void)of;
    memory_free(block);
}

static Status read_bytes(const char *path, uint8_t **bytes, size_t *size) {
    InputFile file;
    Status status = input_open("onnx", path, &file);
    if (status) return status;
    *size = (size_t)file.size;
    *bytes = memory_new(*size + 1);
    status = *bytes ? input_read(&file, 0, *bytes, *size) : error_status();
    input_close(&file);
    return status;
}

static Status unpack(Import *import, const uint8_t *bytes, size_t size) {
    struct Arena *arena = memory_new(sizeof *arena);
    if (!arena) return error_status();
    import->arena = arena;
    arena->allocator =
        (ProtobufCAllocator){.alloc = arena_new, .free = arena_free, .allocator_data = arena};
    arena->left = size * MOST_TIMES + MOST_MORE;
    arena->model = onnx__model__unpack(&arena->allocator, size, bytes);
    if (error_pending()) return error_status();
    if (arena->exceeded)
        return error_set(STATUS_FORMAT, "onnx: %s: it wants more than %d times its size of memory",
                         import->path, MOST_TIMES);
    if (arena->model && arena->model->graph && arena->model->graph->n_node > 0 &&
        arena->model->graph->n_output == 0)
        return error_set(STATUS_FORMAT, "onnx: %s: its graph has no output", import->path);
    if (!arena->model || !arena->model->graph || arena->model->graph->n_output == 0)
        return error_set(STATUS_FORMAT,
                         "onnx: %s: this is no ONNX model, or it is cut off. HINT: "
                         "torch.onnx.export(model, inputs, \"model.onnx\") writes one",
                         import->path);
    import->model = arena->model;
    import->graph = arena->model->graph;
    return STATUS_OK;
}

Status onnx_file_read(Import *import) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (!import->path || !import->path[0])
        return error_set(STATUS_INVALID_ARGUMENT, "onnx_load: there is no path");
    Status status = read_bytes(import->path, &bytes, &size);
    if (!status) status = unpack(import, bytes, size);
    memory_free(bytes);
    if (!status) import_scope(import, import->model->opset_import, import->model->n_opset_import);
    return status;
}

void onnx_file_free(Import *import) {
    struct Arena *arena = import->arena;
    if (arena && arena->model) onnx__model__free_unpacked(arena->model, &arena->allocator);
    memory_free(arena);
    import->arena = NULL;
}
