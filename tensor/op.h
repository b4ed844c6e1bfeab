// op.h -- what an operation is. Read this page first: dispatch, tape, cost, kernels and observers
// all read an OpCall, and an op is one `const Op` beside its CPU kernel, in one file of ops/.
#ifndef TENSOR_OP_H
#define TENSOR_OP_H

#include "tensor/op_list.h"
#include "tensor/op_story.h"
#include "tensor/tensor.h"

RIDGEPOINT_API_BEGIN

enum { OP_MAX_OUTPUTS = 3, OP_MAX_DTYPES = 6 };

// A window that moves over an image; [0] along the height, [1] along the width. Tap t of output o
// reads input o * stride - before + t * dilation; indices outside [0, input) are padding.
typedef struct OpWindow {
    int32_t kernel[2], stride[2], dilation[2];
    int32_t before[2], after[2]; // padding: top and left, bottom and right
    int32_t input[2];            // size of the image
    int32_t groups;              // channel groups of a convolution
} OpWindow;

// Number of elements added before and after each dimension; negative numbers remove elements.
typedef struct OpPads {
    int32_t before[TENSOR_MAX_DIMS], after[TENSOR_MAX_DIMS];
} OpPads;

// Plain data that an op needs beside its inputs. The public function of each op says what it uses.
typedef struct OpParams {
    // No op needs two members of one union. (C++ has no nameless struct.) Every call copies all of
    // this, and gcc clears a literal of more than 80 bytes with a slow loop.
    union {
        Shape shape;     // a shape, or a permutation in its dims
        OpWindow window; // for a convolution or a pool
        OpPads pads;
    };
    __extension__ union {
        struct {
            int64_t begin, step; // for a slice; begin is also the diagonal that bounds a triangle
        };
        struct {
            uint64_t seed, offset; // OP_RANDOM: stored, so that a second run draws the same numbers
        };
        int64_t whole; // a scalar for int64 ops; value[0] holds it as a float
    };
    int64_t count;               // number of a slice's indices; OP_RANDOM: number of random numbers
    float value[4];              // scalars, epsilons
    int32_t dim;                 // a dimension, counted from 0
    uint32_t flags;              // flags that the op defines
    const struct Op *activation; // fused in behind the op; `value` then holds its parameters
} OpParams;

typedef struct OpCall { // one execution
    const struct Op *op;
    Tensor **in;
    int n_in;
    Tensor *out[OP_MAX_OUTPUTS]; // made by infer with op_output; preset ones are written into
    int n_out;
    bool adds;           // OP_ADDS: add to the values that out[0], which is preset, holds
    uint64_t needs_grad; // bit i: in[i] needs a gradient
    OpParams params;
    float *workspace; // temporary memory while the kernel runs; its size is the device's answer
} OpCall;

// The cost of one op, from its shapes alone; equal on every device (profiler/CONVENTIONS.md,
// section 1).
typedef struct OpCost {
    uint64_t macs;                      // multiply-adds of a contraction; flops = 2 * macs
    uint64_t bias_flops;                // one per output element that gets a bias
    uint64_t elementwise_flops;         // + - * / and comparisons of the declared formula
    uint64_t transcendental_flops;      // exp, log, tanh, erf, sqrt, rsqrt, pow: one each
    uint64_t bytes_read, bytes_written; // compulsory traffic: each distinct operand counts once
} OpCost;

typedef enum OpFlag {
    OP_VIEW = 1,         // the output shares in[0]'s storage; no kernel, no cost
    OP_RANDOM = 2,       // dispatch reserves params.count random numbers
    OP_STRIDED = 4,      // the kernel walks strides; other ops get contiguous inputs
    OP_UNATTRIBUTED = 8, // accumulation and broadcasting reductions: backward work that is neither
                         // input nor weight gradient
    OP_WORKSPACE = 16,   // a kernel may need temporary memory: dispatch asks the device how much
    OP_ADDS = 32,        // the kernels can add to the values in out[0], where OpCall.adds says so
} OpFlag;

// How a kernel's work divides into items. Any thread may do any item in any order, because no item
// reads what another writes. The device decides whether dividing pays.
typedef struct OpWork {
    int64_t items;
    double cost;      // cost of one item, in elements of a plain pass over memory (about 0.3 ns)
    int64_t together; // number of adjacent items better done by one thread; 0: no preference
} OpWork;
enum { WORK_MACS = 8 }; // number of a product's multiply-adds that take as long as one such element

// Total elements of all regions of an adaptive pool along one side; kernel[] is then the number of
// regions.
int64_t op_window_held(const OpWindow *window, int side);

// One allowed combination of input types; inputs beyond the last named one repeat its type.
typedef struct DTypeSignature {
    uint8_t n_in;
    uint8_t in[OP_MAX_DTYPES];
} DTypeSignature;

// A CPU kernel does items [begin, end) of a call. If Op.work defines the items, it may run in
// several threads, and then it cannot fail. Otherwise it is called once, for a single item, and may
// divide its work itself with cpu_parallel.
typedef Status (*CpuKernel)(const OpCall *call, int64_t begin, int64_t end);

typedef struct OpValue { // a parameter of an activation and its default
    const char *name;    // PyTorch's name: "negative_slope"
    float value;
} OpValue;
enum { OP_MAX_VALUES = 2 };

typedef struct Op {
    int id;           // OP_relu; 0: an op from outside, not in op_list.h
    const char *name; // "relu"
    unsigned flags;   // OpFlag
    int n_inputs;     // exact number of inputs; 0: any number from least_inputs on
    int least_inputs;
    unsigned optional;            // bit i: in[i] may be NULL
    const DTypeSignature *dtypes; // NULL: float32 everywhere
    int n_dtypes;
    Status (*infer)(OpCall *call);      // makes the outputs with op_output, or sets an error
    const OpStory *story;               // the formula, and the rules that give its counts
    OpCost (*cost)(const OpCall *call); // cost of this op alone; NULL: by the story's rules;
                                        // without a story the op is reported as uncounted
    OpWork (*work)(const OpCall *call); // the kernel's items; NULL: a single one
    // Number of ranges that a kernel which divides its work itself hands to other threads: the sum
    // of its cpu_handoffs. NULL: `work` tells.
    int64_t (*handoffs)(const OpCall *call);
    // Checks what only values tell, such as a label out of range; runs before the kernel, if the
    // host can read them. May be NULL.
    Status (*check)(const OpCall *call);
    // Calls ops to fill grad_in[i] for every i in needs_grad (OP_INTO writes to the place that
    // autograd wants). A NULL grad_in[i], or a buffer that no op wrote to, means zero. A NULL
    // function means not differentiable.
    Status (*backward)(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]);
    // Buffers that backward may read: SAVE_IN(i) and SAVE_OUT(i) bits. NULL: none.
    unsigned (*saves)(const OpCall *call);
    // Whether in[input] is written in place. Also called when tensors are gone, so it may read only
    // params. NULL: no input is.
    bool (*mutates)(const OpCall *call, int input);
    CpuKernel kernel; // the CPU's kernel; may be NULL for an op that has `row`
    CpuKernel whole;  // the int64 kernel of an op that takes float32 or int64, chosen by in[0]
    int64_t (*workspace)(const OpCall *call); // OP_WORKSPACE: bytes that the CPU's kernel needs
    // For an element-wise op of one input, y[i] = f(x[i]): the kernel's work on n adjacent
    // elements. Its items are elements, whatever Op.work says. x and y may be equal. A product
    // calls it while its result is still in cache.
    void (*row)(const float *x, float *y, int64_t n, const OpParams *params);
    // For an activation: PyTorch's name of this layer ("ReLU"). Its parameters come first in
    // params.value. NULL: not an activation, so nothing can fuse it.
    const char *module;
    // PyTorch's printed form of the layer, %g being its first parameter; NULL: name and parameters.
    const char *printed;
    OpValue values[OP_MAX_VALUES];
} Op;

// Marks what a descriptor says about costs. An engine that must not know them (the workers of the
// exercises, whose students count for themselves) is built without.
#ifdef ENGINE_WITHOUT_COSTS
#define COUNTED(what) (0 ? (what) : NULL)
#else
#define COUNTED(what) what
#endif
#define STORY(...) COUNTED((&(const OpStory){__VA_ARGS__}))

#define SAVE_IN(i) ((i) < 16 ? 1u << (i) : 0u) // no op saves an input beyond the 16th
#define SAVE_OUT(i) (1u << (16 + (i)))
#define GIVEN_SUM (1u << 31)

const Op *op_by_id(int id);                        // NULL: no op has this id
const Op *op_activation_at(int index);             // in the list's order; NULL: past the last
const Op *op_activation_by_name(const char *name); // "relu"; NULL: no such activation

// ---- calling ---------------------------------------------------------------------------------
// Runs one op: checks, infers, allocates, executes, records, observes. On failure every output is
// NULL, the error is pending, and nothing changed.
Status op_dispatch(OpCall *call);
// For a profiler: repeats the kernel of a call that has just run, over the same operands. The run
// is not observed, recorded or counted. Updates in place happen again.
Status op_run_again(const OpCall *call);
// The first output, owned by the innermost scope. NULL with an error pending. `params` may be NULL.
Tensor *op_run(const Op *op, const OpParams *params, Tensor *const in[], int n_in);
// As op_run, but writes into *slot if it holds a tensor of the right shape; the result ends up in
// *slot. That tensor must not share storage with an input, unless the op is element-wise and both
// have the same layout; while recording it must not need a gradient. Backward rules pass
// &grad_in[i]; this tells input gradient work from weight gradient work.
Status op_run_into(Tensor **slot, const Op *op, const OpParams *params, Tensor *const in[],
                   int n_in);
// As op_run_into, for the first n_slots outputs: output i goes to slots[i]. slots[0] decides
// between input and weight gradient work.
Status op_run_into_each(Tensor **const slots[], int n_slots, const Op *op, const OpParams *params,
                        Tensor *const in[], int n_in);
// For a backward rule, with `slot` = &grad_in[i], which the rule then leaves alone. As op_run_into,
// but an OP_ADDS op adds to the gradient that has arrived for in[i] so far, so that no second
// gradient is ever alive. If none has arrived, or others look at it, a new one is written.
Status op_run_adding(Tensor **slot, const Op *op, const OpParams *params, Tensor *const in[],
                     int n_in);

#ifdef __cplusplus
extern "C++" {
template <unsigned long n> struct OpInputs { Tensor *in[n]; };
template <typename... T> char (&op_inputs_counted(T...))[sizeof...(T)]; // never called
}
#define OP_INPUTS(...)                                                                             \
    OpInputs<sizeof(op_inputs_counted(__VA_ARGS__))>{{__VA_ARGS__}}.in,                            \
        (int)sizeof(op_inputs_counted(__VA_ARGS__))
#else
#define OP_INPUTS(...)                                                                             \
    (Tensor *[]){__VA_ARGS__}, (int)(sizeof((Tensor *[]){__VA_ARGS__}) / sizeof(Tensor *))
#endif
#define OP_RUN(op, params, ...) op_run(&(op), params, OP_INPUTS(__VA_ARGS__))
#define OP_INTO(slot, op, params, ...) op_run_into(slot, &(op), params, OP_INPUTS(__VA_ARGS__))
#define OP_ADDING(slot, op, params, ...) op_run_adding(slot, &(op), params, OP_INPUTS(__VA_ARGS__))

// ---- for infer, cost and kernels -------------------------------------------------------------
Status op_output(OpCall *call, int index, DType dtype, Shape shape);
Status op_output_of(OpCall *call, int index, DType dtype, const Shape *shape); // copies less
Status op_output_like(OpCall *call, int index, const Tensor *like); // same dtype and shape

Status op_infer_same(OpCall *call);  // one output like in[0]
Status op_infer_shape(OpCall *call); // one float32 output of shape params.shape

// As error_set, with the op's name and inputs' shapes in front: "matmul: shapes (2, 3) and ...".
Status op_error(const OpCall *call, Status status, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

OpCost op_cost(const OpCall *call); // zero for views and for ops without a known cost
// Adds cost to *sum, the total of all ops so far. Fails if it exceeds 64 bits, because some count
// may then have wrapped around.
Status op_cost_check(OpCost cost, double *sum);
bool op_is_counted(const Op *op, const OpParams *params); // whether its cost is known
// SAVE_IN and SAVE_OUT bits of the tensors that are present, and GIVEN_SUM if the call adds.
unsigned op_given(const OpCall *call);
// For Op.cost: traffic alone (every distinct input read once, every output written once), and
// traffic with the FLOPs of the story's rules.
OpCost op_cost_traffic(const OpCall *call);
OpCost op_cost_by_rules(const OpCall *call);

// The part of the FLOPs on which a processor takes several times as long. They are not counted
// apart, but give a floor of the time.
typedef struct OpSlow {
    uint64_t roots, divisions;
} OpSlow;
OpSlow op_slow(const OpCall *call);

static inline uint64_t op_cost_total_flops(OpCost c) {
    return 2 * c.macs + c.bias_flops + c.elementwise_flops + c.transcendental_flops;
}
static inline bool call_needs(const OpCall *call, int input) {
    return input < 64 && (call->needs_grad >> input & 1) != 0;
}
extern const uint8_t dtype_sizes[DTYPE_COUNT];
// NULL on the meta device. An empty tensor also has an address, so that kernels can count from it;
// it is never read or written.
static inline char *tensor_raw(const Tensor *t) {
    static const char nothing[8] = {0};
    char *data = (char *)t->storage->data;
    if (!data) return t->storage->bytes == 0 ? (char *)nothing : NULL;
    return data + t->offset * dtype_sizes[t->dtype];
}
static inline float *call_in(const OpCall *call, int i) { return (float *)tensor_raw(call->in[i]); }
static inline float *call_out(const OpCall *call, int i) {
    return (float *)tensor_raw(call->out[i]);
}
static inline int64_t call_numel(const OpCall *call) { return call->out[0]->numel; }

// Common answers for Op.work: the elements of out[0]; the rows of in[0] along its last dimension.
OpWork op_work_elements(const OpCall *call);
OpWork op_work_rows(const OpCall *call);

// Does all items on the context's threads, waking as many as pays. For kernels of a single item
// that divide their own work.
void cpu_parallel(OpWork work, void (*task)(void *, int64_t, int64_t), void *argument);
bool cpu_pays(double cost); // whether cpu_parallel would divide work of this cost
// Number of ranges that cpu_parallel hands to other threads of the context; and the number for a
// whole call: it depends on shapes and threads only, so the tensors may be on the meta device.
int64_t cpu_handoffs(OpWork work);
int64_t op_handoffs(const OpCall *call);

extern const DTypeSignature dtypes_any[DTYPE_COUNT]; // all inputs of one dtype
// The dtype combinations that the op takes; *n is their number.
static inline const DTypeSignature *op_dtypes(const Op *op, int *n) {
    *n = op->dtypes ? op->n_dtypes : 1;
    return op->dtypes ? op->dtypes : dtypes_any; // its first entry is float32
}

RIDGEPOINT_API_END

#endif
