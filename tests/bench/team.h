// team.h -- threads started by hand, outside the engine's pool, for independent measurements of all
// cores.
#ifndef TESTS_BENCH_TEAM_H
#define TESTS_BENCH_TEAM_H

enum { TEAM_MOST = 64 };

// The seconds in which `members` threads (1 to TEAM_MOST) do `task`, each once, from the first
// start to the last end. They start together; if there are enough processors, each has one of its
// own. Ends the program if a thread cannot be started.
typedef void (*TeamTask)(void *argument, int member);
double team_run(int members, TeamTask task, void *argument);

#endif
