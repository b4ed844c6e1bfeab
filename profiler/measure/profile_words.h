// profile_words.h -- internal to profiler/: what is said of a profile wherever people read: names
// that fit a column, and whether its times are sure.
#ifndef PROFILER_MEASURE_PROFILE_WORDS_H
#define PROFILER_MEASURE_PROFILE_WORDS_H

#include "profiler/base/text.h"
#include "profiler/measure/profile.h"

// What a report calls a layer: its path; the ops outside any layer are the optimizer's update.
Text profile_layer_title(const Profile *profile, const ProfileLayer *layer);
// "fc1 784->512" in at most so many columns; of a path that is too long, "l1.0.conv1" for
// "layer1.0.conv1".
Text profile_layer_label(const Profile *profile, const ProfileLayer *layer, int width);
// "fc1, relu1, ..." into names, cut between two of them; "none" where there are none. size > 8.
void profile_layer_titles(const Profile *profile, char *names, size_t size);
// The one that is farthest past its roof (roofline_is_past); NULL where none is.
const ProfileLayer *profile_past_its_roof(const Profile *profile);
// "--explain fc1"; of a path longer than that, or that a shell or fnmatch would read otherwise, a
// pattern that matches it. longest < 96.
void profile_explain_flag(const char *path, int longest, char *text, size_t size);
// Are the times too unsure to predict from? Fewer than 6 samples, an IQR
// above 10 %, or layers that come to more than the step.
bool profile_is_noise(const Profile *profile);
// Had other programs the cores for so long that fractions of roofs, and small differences between
// times, say nothing of the network?
bool profile_is_busy(const Profile *profile);
// "compute", "memory L2", in at most 11 columns; "" where nothing was judged.
Text profile_bound_text(const Machine *machine, const Roofline *roofline);
const char *profile_kind_name(ProfileKind kind); // "training"

#endif
