// op.h -- what an operation is. Read this page first: dispatch, tape, cost, kernels and observers
// all read an OpCall, and an op is one `const Op` beside its CPU kernel, in one file of ops/.
#ifndef TENSOR_OP_H
#define TENSOR_OP_H

#include "tensor/op_list.h"
#include "tensor/op_story.h"
#include "tensor/tensor.h"

RIDGEPOINT_API_BEGIN

enum { OP_MAX_OUTPUTS = 3, OP_MAX_DTYPES = 6 };

// How a window moves over an image; [0] along the height, [1] along the width. Its tap t of output
// o reads input o * stride - before + t * dilation; what lies outside [0, input) is padding.
typedef struct OpWindow {
    int32_t kernel[2], stride[2], dilation[2];
    int32_t before[2], after[2]; // padding: top and left, bottom and right
    int32_t input[2];            // the image
    int32_t groups;              // of channels, in a convolution
} OpWindow;

// How many elements come before and after each dimension; below 0: go.
typedef struct OpPads {
    int32_t before[TENSOR_MAX_DIMS], after[TENSOR_MAX_DIMS];
} OpPads;

// Plain data that an op needs beside its inputs. Each op says at its public function what it uses.
typedef struct OpParams {
    // No op needs both of a union. (C++ has no nameless struct.) Every call copies all of this; and
    // a literal of more than 80 bytes gcc clears by a slow loop of its own.
    union {
        Shape shape;     // a shape; a permutation in its dims
        OpWindow window; // of a convolution or a pool
        OpPads pads;
    };
    __extension__ union {
        struct {
            int64_t begin, step; // of a slice; begin: which diagonal bounds a triangle
        };
        struct {
            uint64_t seed, offset; // OP_RANDOM: stored, so that running again gives the same
        };
        int64_t whole; // a scalar of whole numbers; value[0] is it as a float
    };
    int64_t count;               // of a slice's indices; OP_RANDOM: of random numbers
    float value[4];              // scalars, epsilons
    int32_t dim;                 // a dimension, counted from 0
    uint32_t flags;              // of the op
    const struct Op *activation; // fused in behind the op; value is then the activation's
} OpParams;

typedef struct OpCall { // one execution
    const struct Op *op;
    Tensor **in;
    int n_in;
    Tensor *out[OP_MAX_OUTPUTS]; // infer makes them with op_output; preset: written into
    int n_out;
    bool adds;           // OP_ADDS: to what out[0], which is preset, holds
    uint64_t needs_grad; // bit i: in[i] needs a gradient
    OpParams params;
    float *workspace; // temporary memory, while the kernel runs: what the device asked for
} OpCall;

// What one op costs, from its shapes alone; the same on every device
// (profiler/CONVENTIONS.md, section 1).
typedef struct OpCost {
    uint64_t macs;                      // multiply-adds of a contraction; flops = 2 * macs
    uint64_t bias_flops;                // one per output element that gets a bias
    uint64_t elementwise_flops;         // + - * / and comparisons of the declared formula
    uint64_t transcendental_flops;      // exp, log, tanh, erf, sqrt, rsqrt, pow: one each
    uint64_t bytes_read, bytes_written; // compulsory traffic: each distinct operand once
} OpCost;

typedef enum OpFlag {
    OP_VIEW = 1,         // the output looks at in[0]'s storage; no kernel, no cost
    OP_RANDOM = 2,       // dispatch reserves random numbers: params.count of them
    OP_STRIDED = 4,      // its kernel walks strides; others get contiguous inputs
    OP_UNATTRIBUTED = 8, // accumulation and broadcasting reductions: neither input nor weight
                         // gradient work, only backward
    OP_WORKSPACE = 16,   // a kernel may take temporary memory: dispatch asks the device how much
    OP_ADDS = 32,        // its kernels can add to what out[0] holds, where OpCall.adds says so
} OpFlag;

// How the work of a kernel divides: into items that anyone may do in any order, because none looks
// at what another writes. Whether dividing it pays is for the device to say.
typedef struct OpWork {
    int64_t items;
    double cost;      // of one item, in elements of a plain pass over memory (about 0.3 ns)
    int64_t together; // neighbours that are better done by one thread; 0: no matter
} OpWork;
enum { WORK_MACS = 8 }; // multiply-adds of a product that take as long as such an element

// How many elements the regions of an adaptive pool hold together along one side: kernel[] is then
// how many regions.
int64_t op_window_held(const OpWindow *window, int side);

// One allowed combination; inputs beyond the last named one repeat it.
typedef struct DTypeSignature {
    uint8_t n_in;
    uint8_t in[OP_MAX_DTYPES];
} DTypeSignature;

// A CPU kernel does items [begin, end) of a call. Where Op.work says what they are it may run in
// threads: then it cannot fail. Where it does not, it is called for the one item, and may divide
// its work itself, by cpu_parallel.
typedef Status (*CpuKernel)(const OpCall *call, int64_t begin, int64_t end);

typedef struct OpValue { // a parameter of an activation, and what it is where nobody says
    const char *name;    // PyTorch's: "negative_slope"
    float value;
} OpValue;
enum { OP_MAX_VALUES = 2 };

typedef struct Op {
    int id;           // OP_relu; 0: of somebody else's, and not in op_list.h
    const char *name; // "relu"
    unsigned flags;   // OpFlag
    int n_inputs;     // so many; 0: any number from least_inputs on
    int least_inputs;
    unsigned optional;            // bit i: in[i] may be NULL
    const DTypeSignature *dtypes; // NULL: float32 everywhere
    int n_dtypes;
    Status (*infer)(OpCall *call);      // makes the outputs with op_output, or leaves a message
    const OpStory *story;               // what it computes, and by which rules its counts follow
    OpCost (*cost)(const OpCall *call); // this op alone; NULL: by the story's rules, and unknown,
                                        // which is reported as uncounted, where there is none
    OpWork (*work)(const OpCall *call); // what its kernel's items are; NULL: there is one
    // How many ranges a kernel that divides its work itself hands to other threads: the sum of its
    // cpu_handoffs. NULL: `work` tells.
    int64_t (*handoffs)(const OpCall *call);
    // What only values tell, such as a label out of range: before the kernel, where the host can
    // read them. May be NULL.
    Status (*check)(const OpCall *call);
    // Calls ops to fill grad_in[i] for every i in needs_grad (OP_INTO writes where autograd wants
    // it); NULL there, or a buffer that no op wrote to, means zero. NULL function: not
    // differentiable.
    Status (*backward)(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]);
    // Which buffers backward may read: SAVE_IN(i) and SAVE_OUT(i) bits. NULL: none.
    unsigned (*saves)(const OpCall *call);
    // Is in[input] written in place? Asked where tensors are gone, too: it may look at params only.
    // NULL: none is.
    bool (*mutates)(const OpCall *call, int input);
    CpuKernel kernel; // the CPU's; of an op that has a row it may be NULL
    CpuKernel whole;  // the same for int64, of an op that takes float32 or int64: by in[0]
    int64_t (*workspace)(const OpCall *call); // OP_WORKSPACE: bytes that the CPU's kernel takes
    // An element-wise op of one input, y[i] = f(x[i]): what its kernel does with n neighbours.
    // Its items are elements, whatever Op.work says. x and y may be the same place. A product calls
    // it while its result is still in cache.
    void (*row)(const float *x, float *y, int64_t n, const OpParams *params);
    // An activation: what PyTorch calls the layer that is this op ("ReLU"), and its parameters,
    // which are the first of params.value. NULL: it is none, and nothing can fuse it.
    const char *module;
    // As PyTorch prints that layer, %g being its first parameter; NULL: its name, and them by name.
    const char *printed;
    OpValue values[OP_MAX_VALUES];
} Op;

// What a descriptor says about costs. An engine that is not to know them (the workers of the
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

const Op *op_by_id(int id);                        // NULL: there is none
const Op *op_activation_at(int index);             // in the list's order; NULL: behind the last
const Op *op_activation_by_name(const char *name); // "relu"; NULL: no activation is called so

// ---- calling ---------------------------------------------------------------------------------
// Runs one op: checks, infers, allocates, executes, records, observes. On failure every output is
// NULL, the error is pending, and nothing changed.
Status op_dispatch(OpCall *call);
// For a profiler: the kernel of a call that has just run, once more over the same operands. Nobody
// observes, records or counts it. What it updates in place is updated again.
Status op_run_again(const OpCall *call);
// The first output; the innermost scope owns it. NULL with an error pending. `params` may be NULL.
Tensor *op_run(const Op *op, const OpParams *params, Tensor *const in[], int n_in);
// As op_run, but writes into *slot when it holds a tensor of the right shape; leaves the result
// there. What it holds must not share storage with an input, unless the op is element-wise and both
// have the same layout; while recording it must not need a gradient itself. Backward rules give it
// &grad_in[i]; so the work is known as input or weight gradient.
Status op_run_into(Tensor **slot, const Op *op, const OpParams *params, Tensor *const in[],
                   int n_in);
// The same for the first n_slots outputs: slots[i] is where the i-th goes. The work is known as
// what slots[0] is for.
Status op_run_into_each(Tensor **const slots[], int n_slots, const Op *op, const OpParams *params,
                        Tensor *const in[], int n_in);
// For a backward rule, `slot` being &grad_in[i], which it leaves alone from then on: as
// op_run_into, but an op that is OP_ADDS adds to the gradient that has arrived for in[i] so far,
// and no second one is alive at any time. Where nothing has, or others look at it, it is written as
// ever.
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
Status op_infer_shape(OpCall *call); // one of float32, of shape params.shape

// "matmul: shapes (2, 3) and (4, 5) ...": error_set with the op's name and inputs' shapes in front.
Status op_error(const OpCall *call, Status status, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

OpCost op_cost(const OpCall *call); // zero for views, and where it is unknown
// Adds it to *sum, of all ops so far, and refuses what 64 bits do not count: then some count of it
// may stand for a larger one.
Status op_cost_check(OpCost cost, double *sum);
bool op_is_counted(const Op *op, const OpParams *params); // is it known?
// SAVE_IN and SAVE_OUT bits of the tensors that are there, and GIVEN_SUM where the call adds.
unsigned op_given(const OpCall *call);
// For Op.cost: every distinct input read once and every output written once; and with the FLOPs
// that the story's rules come to.
OpCost op_cost_traffic(const OpCall *call);
OpCost op_cost_by_rules(const OpCall *call);

// Of its FLOPs, those that a processor takes several times as long for: no counts of their own, but
// a floor of the time.
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
// NULL on the meta device. What is empty has an address as well, for kernels to count from: it is
// never read nor written.
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

// The usual answers for Op.work: the elements of out[0]; the rows of in[0], along its last
// dimension.
OpWork op_work_elements(const OpCall *call);
OpWork op_work_rows(const OpCall *call);

// Does all items on the context's threads, as many as it pays to wake. For kernels of one item that
// divide their own work.
void cpu_parallel(OpWork work, void (*task)(void *, int64_t, int64_t), void *argument);
bool cpu_pays(double cost); // would it be divided?
// How many ranges cpu_parallel hands to other threads, of as many as the context has. The second:
// in a whole call, whose tensors may lie on the meta device, because shapes and threads decide it.
int64_t cpu_handoffs(OpWork work);
int64_t op_handoffs(const OpCall *call);

extern const DTypeSignature dtypes_any[DTYPE_COUNT]; // all inputs of one dtype
// What the op takes, and how many signatures that is.
static inline const DTypeSignature *op_dtypes(const Op *op, int *n) {
    *n = op->dtypes ? op->n_dtypes : 1;
    return op->dtypes ? op->dtypes : dtypes_any; // of which float32 is the first
}

RIDGEPOINT_API_END

#endif
