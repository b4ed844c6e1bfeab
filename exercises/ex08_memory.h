// ex08_memory.h -- exercise 08: where do the bytes go?
//
// WHY    Training ends with "out of memory" long before the parameters alone fill the machine. They
//        are the smaller part: each has a gradient, Adam keeps two more numbers per parameter, and
//        everything that the backward pass will read stays in memory from the forward pass on, for
//        every sample of the batch. With these four terms you can tell in advance whether a model
//        fits, and what helps: a smaller batch shrinks one of them, another optimizer a second. And
//        from a list of allocations you can tell the peak (the memory a machine must have) from the
//        total (all that was ever allocated), and find the blocks that were never freed.
//
// ---- first half: memory_use --------------------------------------------------------------------
//
// TODO   Write memory_use in exercises/ex08_memory.c: replay a list of allocations and frees.
//
// APPROACH (a number in brackets is a clause, which is graded on its own)
//   1. Keep the live bytes, in total and per category. An allocation adds to both. The total after
//      the last event is `live` [1].
//   2. A free gives only the id, as free() gets only an address; its other fields mean nothing,
//      whatever they hold [2]. To find the block's size and category, look back for the last event
//      with that id; the free takes away what that allocation added. Any int64_t may be an id, and
//      may be used again for another block once it was freed [3].
//   3. A list that cannot have happened is STATUS_INVALID_ARGUMENT, wherever in the list it shows:
//      a free of an id that is not live (never allocated, freed before, or allocated only later),
//      an allocation of an id that is live, bytes < 0 [4].
//   4. Whenever live exceeds the highest so far, that is the new peak [5], and the live bytes of
//      each category are copied: the composition when the peak was FIRST reached [6]. It adds up to
//      the peak. Copying them at the end is too late.
//   5. total counts every allocated byte once, freed or not [7].
//   6. Blocks of ACTIVATION and WORKSPACE that are live at the end are leaks. Blocks of the other
//      three categories stay for the next step, and are no leaks [8].
//   7. A block of 0 bytes is a block: it is live until it is freed, and may be a leak [9].
//
// EXAMPLE                                              live    peak   total
//   allocate id 1, 400 bytes, PARAMETER                 400     400     400
//   allocate id 2, 300 bytes, ACTIVATION                700     700     700
//   allocate id 3, 200 bytes, WORKSPACE                 900     900     900
//   free id 3                                           700     900     900
//   allocate id 3, 100 bytes, ACTIVATION                800     900    1000
//   free id 2                                           500     900    1000
//       live 500, peak 900, total 1000; at the peak: PARAMETER 400, ACTIVATION 300, WORKSPACE 200;
//       leaked: 1 block of 100 bytes (id 3, an activation; the parameter is none)
//
// ---- second half: training_memory --------------------------------------------------------------
//
// TODO   Write training_memory in the same file: the bytes of a training step, from the model.
//
// APPROACH
//   1. parameter_bytes: 4 bytes (float32) per element of every parameter of the tree, frozen or not
//      [12]. (No two layers share one here; exercise 01 is about those.)
//   2. gradient_bytes: the same again, but only for parameters that want a gradient: a frozen one
//      (TENSOR_LEAF_GRAD is not set in tensor->flags) has none. The weight of a layer may be frozen
//      while its bias is not [13].
//   3. optimizer_bytes: for each parameter with a gradient, SGD keeps nothing, momentum one more
//      number, Adam and AdamW two [14].
//   4. activation_bytes: the buffers that the backward pass will read, for the whole batch [15].
//      Walk the layers in the order in which they run, with the current shape (batch first):
//        Linear                   keeps its input   (the weight's gradient needs it: a Linear with
//                                 a frozen weight has no such gradient, and keeps nothing) [16]
//        ReLU, Sigmoid, Tanh      keep their output (their slope follows from it) [17]
//        GELU                     keeps its input [17]
//      A buffer that two layers keep counts once: a ReLU's output is also the next Linear's input
//      [18]. The model's own input is the caller's data, and does not count, whichever layer keeps
//      it [19]. A layer keeps nothing if no parameter in it or before it wants a gradient: the
//      backward pass never gets there [20].
//   5. total_bytes: the sum of the four [21].
//
// EXAMPLE  Linear(784, 512) ReLU Linear(512, 10) @ 64 x 784, Adam
//   parameters  784 * 512 + 512 + 512 * 10 + 10 = 407,050       -> 1,628,200 bytes
//   gradients   the same                                        -> 1,628,200
//   optimizer   2 * 4 bytes per parameter                       -> 3,256,400
//   activations Linear's input is data; ReLU keeps 64 x 512; the second Linear keeps the same
//               buffer; no layer keeps its output, the result:           64 * 512 * 4 = 131,072
//   total                                                           6,643,872 bytes
//   A model of 125,000,000 parameters: 500 MB, and with gradients and Adam 2,000 MB, before the
//   first activation.
//
// HINTS
//   * int64_t throughout: 50,000 x 50,000 floats are 10,000,000,000 bytes [22].
//   * layer->type->name is the kind of a layer, layer_attribute(layer, "out_features", &value) a
//     size (layers/layer.h); "Sequential" runs its children in order, may nest, may be empty [23].
//   * While you walk, two facts about the current buffer are enough: whether it is kept already,
//     and whether any parameter so far wants a gradient.
//   * A Linear changes the last dimension, an activation none [15]. Any other layer, wherever it
//     is, gives STATUS_UNKNOWN_OP, as does a container other than Sequential [24].
#ifndef EXERCISES_EX08_MEMORY_H
#define EXERCISES_EX08_MEMORY_H

#include <stdint.h>

#include "layers/train/optimizer.h"

typedef enum MemoryKind {
    MEMORY_PARAMETER,
    MEMORY_GRADIENT,
    MEMORY_OPTIMIZER,
    MEMORY_ACTIVATION,
    MEMORY_WORKSPACE,
    MEMORY_KINDS
} MemoryKind;

typedef struct AllocationEvent {
    bool is_free;    // false: an allocation
    int64_t id;      // identifies the block, as an address does; any number
    int64_t bytes;   // size of an allocation, at least 0; meaningless for a free
    MemoryKind kind; // category of an allocation; meaningless for a free
} AllocationEvent;

typedef struct MemorySummary {     // sizes in bytes
    int64_t live;                  // live bytes after the last event
    int64_t peak, total;           // highest live bytes; sum of all allocations
    int64_t at_peak[MEMORY_KINDS]; // live bytes when the peak was first reached
    int64_t leaked_blocks, leaked_bytes;
} MemorySummary;

// Replays the events in order. Returns STATUS_OK, or STATUS_INVALID_ARGUMENT as said above; then
// *summary means nothing. Without events all is zero, and `events` may be NULL; read only events[0]
// to events[count - 1] [10]. Neither function needs malloc. If you use it all the same, free the
// memory on every way out, and return STATUS_OUT_OF_MEMORY where malloc gives NULL [11].
Status memory_use(const AllocationEvent *events, int64_t count, MemorySummary *summary);

typedef struct TrainingMemory { // bytes
    int64_t parameter_bytes, gradient_bytes, optimizer_bytes, activation_bytes, total_bytes;
} TrainingMemory;

// Stores the bytes that a training step of `model` needs for a batch of shape `input`, before the
// loss. STATUS_UNKNOWN_OP: a layer is not in the list above; *memory then means nothing.
Status training_memory(const Layer *model, Shape input, OptimizerKind optimizer,
                       TrainingMemory *memory);

#endif
