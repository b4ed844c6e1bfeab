// scene.h -- the surroundings of a run: its clock, its work, its device, its model's times, and the
// record of what a student's code did with them. The grader holds the scene and answers a worker's
// calls from it; the worker has no part of it.
#ifndef EXERCISES_COURSE_SCENE_H
#define EXERCISES_COURSE_SCENE_H

#include "exercises/course/exercise.h"

typedef struct Scene Scene;

// Makes the scene of a run from its `scene` line (clock, work, device, times) and the model of its
// input, if any. NULL with an error pending.
Scene *scene_new(const CaseRun *run);
void scene_free(Scene *scene);

// Handle a worker's reports and questions (support/remote.h); false: no proper worker sends this.
bool scene_note(Scene *scene, int64_t note, int64_t subject, int64_t times);
bool scene_call(Scene *scene, int64_t call, const int64_t *arguments, int count, int64_t *answer);

int64_t scene_recorded(const Scene *scene, Recorded what);

#endif
