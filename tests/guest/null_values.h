// null_values.h -- the other arguments for the calls of null_calls.h: for a parameter of type `T *`
// value_T, or value_T_name if that parameter needs its own; for a `T **` value_each_T; for a T that
// is no pointer plain_T. tests/tools/null_calls.awk reads the names here.
#ifndef TESTS_GUEST_NULL_VALUES_H
#define TESTS_GUEST_NULL_VALUES_H

#include "profiler/ridgepoint.h"
#include "tests/guest/null_calls.h"

#define OR_NULL(index, type, value)                                                                \
    (absent == (index) || absent == NULL_CALL_ALL ? (type)NULL : (type)(value))

bool value_is_said(Status status);                        // true if it is the pending one
bool value_is_read(const volatile void *bytes, size_t n); // reads a whole answer; true
void *value_zeros(size_t size);                           // 64 zeroed items of this size

// ---- objects that only the library makes -------------------------------------------------------
Tensor *value_Tensor(void); // (2, 3)
Tensor *value_Tensor_labels(void);
Tensor *value_Tensor_indices(void);
Tensor **value_each_Tensor(void);
Tensor ***value_slots_Tensor(void);
Scope *value_Scope(void);
Storage *value_Storage(void);
Ledger *value_Ledger(void);
Context *value_Context(void);
Device *value_Device(void);
const Op *value_Op(void);
OpCall *value_OpCall(void);
Layer *value_Layer(void);
Layer *value_Layer_child(void);
const LayerType *value_LayerType(void);
Optimizer *value_Optimizer(void);
Dataset *value_Dataset(void);
Loader *value_Loader(void);
Corpus *value_Corpus(void);
KvCache *value_KvCache(void);
Safetensors *value_Safetensors(void);
Checkpoint *value_Checkpoint(void);
Machine *value_Machine(void);
Profile *value_Profile(void);
OpTraffic *value_OpTraffic(void);
Roofline *value_Roofline(void);
Profiler *value_Profiler(void);
Timeline *value_Timeline(void);
Reuse *value_Reuse(void);
LeakTest *value_LeakTest(void);
BudgetTask *value_BudgetTask(void);
const ZooModel *value_ZooModel(void);

// ---- plain data --------------------------------------------------------------------------------
char *value_char(void);         // "a", with room after it
char *value_char_pattern(void); // "*"
char *value_char_path(void);    // a new file in the current folder
FILE *value_FILE(void);         // discards everything
Shape plain_Shape(void);        // (2, 3)
LoaderOptions plain_LoaderOptions(void);
OptimizerConfig plain_OptimizerConfig(void);
ProfileOptions plain_ProfileOptions(void);
ProfilerOptions plain_ProfilerOptions(void);
TimelineOptions plain_TimelineOptions(void);
GenerationOptions plain_GenerationOptions(void);
FitOptions plain_FitOptions(void);
GradcheckOptions plain_GradcheckOptions(void);

// ---- functions ---------------------------------------------------------------------------------
LossFunction plain_LossFunction(void);
GradcheckFunction plain_GradcheckFunction(void);
void value_task(void *argument, int64_t begin, int64_t end);
void value_function(void *argument);

#endif
