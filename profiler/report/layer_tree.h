// layer_tree.h -- a model as a tree of layers with outputs, parameters and multiply-adds.
// Containers sum their contents. Not here: one row per call site (report_views.h), times.
#ifndef PROFILER_REPORT_LAYER_TREE_H
#define PROFILER_REPORT_LAYER_TREE_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

enum { LAYER_TREE_DEPTH = 3 }; // default number of levels below the model

// Prints a row for each layer of the profiled model, down to `depth` >= 0 levels below the model.
// Neighbours equal in all but their names share one row, with their number and the figures of one.
// A parameter shared by several layers counts at its first. An output shape is that of the last
// forward op in a layer, if it runs any. Totals follow. 80 columns. STATUS_OUT_OF_MEMORY, and
// STATUS_INVALID_ARGUMENT for a depth below 0; nothing is printed then.
Status layer_tree_print(const Profile *profile, const Layer *model, int depth, FILE *file);

RIDGEPOINT_API_END

#endif
