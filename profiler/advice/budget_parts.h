// budget_parts.h -- internal to profiler/: shared by the functions of budget.h.
#ifndef PROFILER_ADVICE_BUDGET_PARTS_H
#define PROFILER_ADVICE_BUDGET_PARTS_H

#include "profiler/advice/budget.h"
#include "profiler/measure/profile_parts.h"

enum {
    BUDGET_MOST_POWER = 60
}; // bytes are at most 2 to this power, so that twice as many do not overflow

typedef struct Plan {
    Work work;        // as given; dry runs use modified copies
    Context *context; // a dry one for the labels; the caller's ledger is not affected
} Plan;

Status budget_plan_begin(const BudgetTask *task, Plan *plan);
void budget_plan_end(Plan *plan);
Status budget_check_bytes(int64_t bytes);

#endif
