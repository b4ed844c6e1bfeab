// layer_tree.h -- a model as a tree of layers: what each gives, holds and multiplies. Containers
// sum what is in them. Not here: one row per call site (report_views.h), times.
#ifndef PROFILER_REPORT_LAYER_TREE_H
#define PROFILER_REPORT_LAYER_TREE_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

enum { LAYER_TREE_DEPTH = 3 }; // levels below the model, where nobody says

// `profile` is of that model. A row for each layer down to `depth` >= 0 levels below the model; of
// neighbours alike in all but their names one row, which says how many they are and has the numbers
// of one. A parameter that several layers have counts where it first stands. Output shapes are of
// the last forward op in a layer; a layer that runs none has none. Then totals. 80 columns.
// STATUS_OUT_OF_MEMORY, and STATUS_INVALID_ARGUMENT for a depth below 0; nothing is then printed.
Status layer_tree_print(const Profile *profile, const Layer *model, int depth, FILE *file);

RIDGEPOINT_API_END

#endif
