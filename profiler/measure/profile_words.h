// profile_words.h -- internal to profiler/: texts about a profile for people: names that fit a
// column, and the certainty of its times.
#ifndef PROFILER_MEASURE_PROFILE_WORDS_H
#define PROFILER_MEASURE_PROFILE_WORDS_H

#include "profiler/base/text.h"
#include "profiler/measure/profile.h"

// True for the place of ops outside any layer; a model that is one layer has the path "(model)",
// too.
bool profile_is_outside(const ProfileLayer *layer);
// A layer's name in reports: its path; ops outside any layer are the optimizer's update.
Text profile_layer_title(const Profile *profile, const ProfileLayer *layer);
// "fc1 784->512" in at most `width` columns; a path that is too long is shortened: "l1.0.conv1" for
// "layer1.0.conv1".
Text profile_layer_label(const Profile *profile, const ProfileLayer *layer, int width);
// Writes "fc1, relu1, ..." into names, cut between two of them; "none" if there are none. size > 8.
void profile_layer_titles(const Profile *profile, char *names, size_t size);
// The layer farthest past its roof (roofline_is_past); NULL if none is.
const ProfileLayer *profile_past_its_roof(const Profile *profile);
// Writes "--explain fc1"; a path that is longer than `longest` or special to a shell or fnmatch is
// replaced by a pattern that matches it. longest < 96.
void profile_explain_flag(const char *path, int longest, char *text, size_t size);
// True if the times are too noisy to predict from: fewer than 6 samples, an IQR above 10 %, or
// layers that sum to more than the step.
bool profile_is_noise(const Profile *profile);
// True if other programs had the cores for so long that fractions of roofs and small differences of
// times say nothing about the network.
bool profile_is_busy(const Profile *profile);
// "compute", "memory L2", in at most 11 columns; "" if nothing was judged.
Text profile_bound_text(const Machine *machine, const Roofline *roofline);
const char *profile_kind_name(ProfileKind kind); // "training"

#endif
