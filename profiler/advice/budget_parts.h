// budget_parts.h -- internal to profiler/: what the questions of budget.h share.
#ifndef PROFILER_ADVICE_BUDGET_PARTS_H
#define PROFILER_ADVICE_BUDGET_PARTS_H

#include "profiler/advice/budget.h"
#include "profiler/measure/profile_parts.h"

enum {
    BUDGET_MOST_POWER = 60
}; // bytes are at most 2 to that, so that twice as many can be counted

typedef struct Plan {
    Work work;        // as given: dry runs of other steps differ from it
    Context *context; // a dry one, in which the labels live; the caller's ledger sees nothing
} Plan;

Status budget_plan_begin(const BudgetTask *task, Plan *plan);
void budget_plan_end(Plan *plan);
Status budget_check_bytes(int64_t bytes);

#endif
