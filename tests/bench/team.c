// team.c -- threads that meet at a barrier of their own, then do their part and end.
#include "tests/bench/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/measure.h"

typedef struct Team {
    int members;
    TeamTask task;
    void *argument;
    atomic_int waiting; // members still missing
} Team;

typedef struct Member {
    Team *team;
    int number, processor; // processor -1: any
    double begin, end;
} Member;

static void take_processor(int processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
}

// Spins instead of sleeping: a sleeping thread would start late.
static void arrive(Team *team) {
    enum { LOOKS_PER_YIELD = 1024 };
    atomic_fetch_sub(&team->waiting, 1);
    for (int looks = 1; atomic_load(&team->waiting) > 0; looks++)
        if (looks % LOOKS_PER_YIELD == 0) sched_yield();
}

static void *work(void *argument) {
    Member *member = argument;
    Team *team = member->team;
    if (member->processor >= 0) take_processor(member->processor);
    arrive(team);
    member->begin = measure_now();
    team->task(team->argument, member->number);
    member->end = measure_now();
    return NULL;
}

// Assigns a processor to each member, or to none.
static void share_out(Member members[], int n) {
    cpu_set_t allowed;
    bool enough = sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == n;
    for (int i = 0, processor = -1; i < n; i++) {
        while (enough && !CPU_ISSET(++processor, &allowed)) continue;
        members[i].processor = enough && n > 1 ? processor : -1;
    }
}

double team_run(int members, TeamTask task, void *argument) {
    Team team = {members, task, argument, members};
    Member member[TEAM_MOST] = {0};
    pthread_t thread[TEAM_MOST];
    share_out(member, members);
    for (int i = 0; i < members; i++) {
        member[i].team = &team;
        member[i].number = i;
        if (pthread_create(&thread[i], NULL, work, &member[i])) {
            fprintf(stderr, "bench: no thread could be started\n");
            exit(1);
        }
    }
    for (int i = 0; i < members; i++) pthread_join(thread[i], NULL);
    double begin = member[0].begin, end = member[0].end;
    for (int i = 1; i < members; i++) {
        if (member[i].begin < begin) begin = member[i].begin;
        if (member[i].end > end) end = member[i].end;
    }
    return end - begin;
}
