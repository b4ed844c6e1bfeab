// options_take.h -- internal to profiler/: how flags take their arguments, for their table. Each is
// false after one line on standard error; `text` is NULL where an optional argument was left out.
#ifndef PROFILER_PROGRAM_OPTIONS_TAKE_H
#define PROFILER_PROGRAM_OPTIONS_TAKE_H

#include "profiler/program/options_table.h"

// What is at flag->offset: a switch, a text, a whole number from flag->least to flag->most, a size
// in bytes, a part of a training.
typedef bool FlagTake(Options *options, const Flag *flag, const char *text);
FlagTake take_switch, take_text, take_count, take_size, take_length;
// All others have their own.
FlagTake take_layers, take_activation, take_optimizer, take_learning_rate, take_schedule,
    take_factor, take_prune, take_device, take_temperature, take_prompt, take_dtype, take_image,
    take_input, take_open_size, take_inference, take_train, take_freeze, take_config, take_against,
    take_output, take_threshold, take_undecided, take_sweep, take_peaks, take_help, take_explain,
    take_by, take_top, take_layer, take_preset, take_time, take_time_limit, take_completion,
    take_svg;

#endif
