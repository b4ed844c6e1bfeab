// scene.h -- what a run of an exercise is set against: its clock, its work, its device, its model's
// times, and the record of what a student's code did with them. The grader holds it and answers a
// worker's calls from it; nothing of it is in the worker.
#ifndef EXERCISES_COURSE_SCENE_H
#define EXERCISES_COURSE_SCENE_H

#include "exercises/course/exercise.h"

typedef struct Scene Scene;

// Of a run: its `scene` line (clock, work, device, times), and the model of its input, if any.
// NULL with an error pending.
Scene *scene_new(const CaseRun *run);
void scene_free(Scene *scene);

// What a worker tells, so often in a row, and asks (support/remote.h); false: no worker would.
bool scene_note(Scene *scene, int64_t note, int64_t subject, int64_t times);
bool scene_call(Scene *scene, int64_t call, const int64_t *arguments, int count, int64_t *answer);

int64_t scene_recorded(const Scene *scene, Recorded what);

#endif
