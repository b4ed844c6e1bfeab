// debugger.h -- ./lab check NN --gdb: the worker of one exercise, with a student's function in it,
// run by gdb with the input of one case. Nothing contains it: it is the student's own machine.
#ifndef EXERCISES_LAB_DEBUGGER_H
#define EXERCISES_LAB_DEBUGGER_H

#include "exercises/lab/command.h"

// The case of --case, or the first that is not asked by hand. Exit status.
int debugger_run(Lab *lab, const Exercise *exercise);

#endif
