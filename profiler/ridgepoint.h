// ridgepoint.h -- the whole public library: #include <ridgepoint/ridgepoint.h>.
//
// Threads: every function works in the calling thread's context (tensor/context.h), and the objects
// it creates stay in that context: one thread at a time uses a tensor, a layer, an optimizer, a
// loader or a profiler, in the context where it was made. Functions that take none of these (names,
// texts, statistics, schedules, verdicts, versions) may be called from any thread, which then has
// the error message, if any.
#ifndef PROFILER_RIDGEPOINT_H
#define PROFILER_RIDGEPOINT_H

#include "layers/attention.h"
#include "layers/containers.h"
#include "layers/cost.h"
#include "layers/files/checkpoint.h"
#include "layers/files/corpus.h"
#include "layers/files/idx.h"
#include "layers/files/model_text.h"
#include "layers/files/npy.h"
#include "layers/files/onnx.h"
#include "layers/files/safetensors.h"
#include "layers/init.h"
#include "layers/kv_cache.h"
#include "layers/layers1d.h"
#include "layers/layers2d.h"
#include "layers/models/models.h"
#include "layers/models/transformers.h"
#include "layers/models/zoo.h"
#include "layers/recurrent.h"
#include "layers/train/digits.h"
#include "layers/train/fit.h"
#include "layers/train/generate.h"
#include "layers/transformer.h"
#include "profiler/advice/advice.h"
#include "profiler/advice/budget.h"
#include "profiler/explain/explain.h"
#include "profiler/files/profile_file.h"
#include "profiler/files/trace.h"
#include "profiler/measure/generation.h"
#include "profiler/measure/rank.h"
#include "profiler/record/leak.h"
#include "profiler/report/layer_tree.h"
#include "profiler/report/memory_curve.h"
#include "profiler/report/preset.h"
#include "profiler/report/report.h"
#include "profiler/report/report_views.h"
#include "profiler/report/shrink.h"
#include "profiler/report/weights.h"
#include "profiler/session/profiler.h"
#include "tensor/plugin.h"
#include "tensor/version.h"

RIDGEPOINT_API_BEGIN
// the headers above declare everything
RIDGEPOINT_API_END

#endif
