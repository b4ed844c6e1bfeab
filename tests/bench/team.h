// team.h -- threads started by hand, beside the engine's pool: what an independent measurement of
// all cores needs.
#ifndef TESTS_BENCH_TEAM_H
#define TESTS_BENCH_TEAM_H

enum { TEAM_MOST = 64 };

// The seconds in which `members` threads (1 to TEAM_MOST) do `task`, each once, from the first to
// begin until the last to end. They begin together; with one for each processor that this process
// may use, each has a processor of its own. Ends the program when a thread cannot be started.
typedef void (*TeamTask)(void *argument, int member);
double team_run(int members, TeamTask task, void *argument);

#endif
