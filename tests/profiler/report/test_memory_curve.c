// test_memory_curve.c -- memory over one step: every point, share and peak of the curve compared
// with the ledger itself, with real steps of other optimizers, and with steps made by hand.
#include <string.h>

#include "profiler/measure/profile_parts.h"
#include "profiler/report/memory_curve.h"
#include "tests/helpers/expect.h"
#include "tests/profiler/report/profile_kinds.h"

enum { NETS = 24 };

static void freeze(const NetTask *task) {
    if (task->model->n_children == 1) return; // backward would have nothing to do
    tensor_requires_grad(task->model->children[0]->parameters[0].tensor, false);
}

static MemoryCurve curve_of(const Profile *profile) {
    MemoryCurve curve;
    ck_assert_int_eq(memory_curve_new(profile, &curve), STATUS_OK);
    return curve;
}

// ---- the ledger as witness -------------------------------------------------------------------
enum { MOST = 4000 };

typedef struct Witness { // watches the ledger itself while a step runs
    Observer observer;   // must be first
    MemoryUse now[MOST]; // highest use since the previous op ended, per op; [n_ops]: after the last
    int64_t n_ops, top;  // top: highest total
    int64_t bystanders;  // live data outside the profile: labels that it does not use
    const Storage *live[MOST]; // allocated in the step
    Storage at_peak[MOST];     // copies from that moment
    int n_live, n_peak;
} Witness;

static MemoryUse live_now(const Witness *witness) {
    MemoryUse live = context_current()->ledger->live;
    live.category[MEM_DATA] -= witness->bystanders;
    live.total -= witness->bystanders;
    return live;
}

static void look(Witness *witness) {
    MemoryUse live = live_now(witness);
    if (live.total > witness->now[witness->n_ops].total) witness->now[witness->n_ops] = live;
}

static void on_storage(Observer *self, const Storage *storage, int64_t delta) {
    Witness *witness = (Witness *)self;
    for (int i = 0; delta <= 0 && i < witness->n_live; i++)
        if (witness->live[i] == storage) witness->live[i] = witness->live[--witness->n_live];
    if (delta <= 0) return;
    ck_assert_int_lt(witness->n_live, MOST);
    witness->live[witness->n_live++] = storage;
    look(witness);
    if (live_now(witness).total <= witness->top) return;
    witness->top = live_now(witness).total;
    witness->n_peak = witness->n_live;
    for (int i = 0; i < witness->n_live; i++) witness->at_peak[i] = *witness->live[i];
}

static void on_op_end(Observer *self, const OpCall *call) {
    Witness *witness = (Witness *)self;
    (void)call;
    look(witness);
    ck_assert_int_lt(++witness->n_ops, MOST);
}

// Watches the third of three steps like the profile's.
static void witness_step(Witness *witness, const Net *net, const NetTask *task, ProfileKind kind) {
    StepTimes times;
    Work work = {.kind = kind, .model = task->model, .x = task->x};
    if (kind == PROFILE_TRAINING) work.labels = task->labels;
    layer_train(task->model, kind != PROFILE_INFERENCE);
    int64_t classes = net->sizes[net->n_sizes - 1];
    ck_assert_int_eq(
        work_begin(&work, optimizer_defaults(net->optimizer), SHAPE(net->batch, classes)), 0);
    for (int i = 0; i < 3; i++) {
        if (i == 2) {
            *witness = (Witness){.observer = {.storage = on_storage, .op_end = on_op_end}};
            if (kind != PROFILE_TRAINING) witness->bystanders = task->labels->storage->bytes;
            look(witness); // at the step's start
            witness->top = witness->now[0].total;
            observer_add(&witness->observer);
        }
        work_step(&work, &times);
    }
    look(witness);
    observer_remove(&witness->observer);
    work_end(&work);
    expect_no_error();
}

static void check_points(const Profile *profile, const MemoryCurve *curve, const Witness *witness) {
    ck_assert_int_eq(witness->n_ops, profile->n_ops);
    ck_assert_int_eq(curve->n_points, profile->n_ops + 1);
    for (int64_t i = 0; i < curve->n_points; i++) {
        const MemoryPoint *point = &curve->points[i];
        ck_assert_int_eq(point->op, i);
        ck_assert_msg(memcmp(&point->live, &witness->now[i], sizeof(MemoryUse)) == 0,
                      "op %lld: %lld bytes, the ledger held %lld", (long long)i,
                      (long long)point->live.total, (long long)witness->now[i].total);
        ck_assert_int_ge(point->in_backward, 0);
        ck_assert_int_le(point->in_backward, point->live.category[MEM_ACTIVATION]);
        bool forward = i < profile->n_ops && point->phase == PHASE_FORWARD;
        ck_assert(!forward || point->in_backward == 0);
    }
}

static void check_peak(const Profile *profile, const MemoryCurve *curve) {
    const ProfileMemory *memory = &profile->measured;
    const MemoryPoint *peak = &curve->points[curve->peak];
    ck_assert_mem_eq(&peak->live, &memory->peak, sizeof memory->peak);
    ck_assert_mem_eq(&peak->live, &profile->predicted.peak, sizeof memory->peak);
    const ProfileOp *op = &profile->ops[peak->op];
    char name[200];
    snprintf(name, sizeof name, "%s in %s (%s)", op->record.op->name,
             profile->layers[op->layer].path, phase_name(op->record.phase));
    ck_assert_str_eq(name, memory->peak_op);
}

static int64_t of_witness(const Witness *witness, const Profile *profile,
                          const MemoryShare *share) {
    int64_t bytes = 0;
    char path[96];
    for (int i = 0; i < witness->n_peak; i++) {
        const Storage *s = &witness->at_peak[i];
        site_path(context_current(), s->site, path, sizeof path);
        if (s->category == share->category && s->phase == (int)share->phase &&
            strcmp(path, profile->layers[share->layer].path) == 0)
            bytes += s->bytes;
    }
    return bytes;
}

static void check_shares(const Profile *profile, const MemoryCurve *curve, const Witness *witness) {
    MemoryUse sum = {0}, resident = {0};
    int64_t saved = 0;
    for (int i = 0; i < curve->n_shares; i++) {
        const MemoryShare *share = &curve->shares[i];
        MemoryUse *to = share->resident ? &resident : &sum;
        to->category[share->category] += share->bytes;
        to->total += share->bytes;
        ck_assert(share->bytes > 0 && (i == 0 || share[-1].bytes >= share->bytes));
        ck_assert_int_eq(share->layer < 0, share->resident);
        if (!share->resident) ck_assert_int_eq(share->bytes, of_witness(witness, profile, share));
    }
    ck_assert_mem_eq(&resident, &profile->measured.start, sizeof resident);
    ck_assert_int_eq(curve->resident, resident.total);
    ck_assert_int_eq(sum.total + resident.total, profile->measured.peak.total);
    for (int c = 0; c < MEM_COUNT; c++)
        ck_assert_int_eq(sum.category[c] + resident.category[c],
                         profile->measured.peak.category[c]);
    for (int i = 0; i < profile->n_layers; i++) saved += profile->layers[i].saved_bytes;
    ck_assert_int_eq(saved, profile->measured.saved_bytes);
}

START_TEST(points_peak_and_shares_are_what_the_ledger_held) {
    Net net = net_random(_i);
    static Witness witness;
    for (int kind = 0; kind < PROFILE_KINDS; kind++)
        for (int meta = 0; meta < 2; meta++) {
            context_set_device(meta ? device_meta() : device_cpu());
            NetTask task = net_task_new(&net);
            if (_i % 5 == 4) tensor_requires_grad(task.x, true);
            if (_i % 7 == 6) freeze(&task);
            Profile profile = profile_task(&net, &task, (ProfileKind)kind);
            MemoryCurve curve = curve_of(&profile);
            witness_step(&witness, &net, &task, (ProfileKind)kind);
            check_points(&profile, &curve, &witness);
            check_peak(&profile, &curve);
            check_shares(&profile, &curve, &witness);
            memory_curve_free(&curve);
            ck_assert_ptr_null(curve.points);
            profile_free(&profile);
            net_task_free(&task);
            ck_assert_int_eq(expect_live_bytes(), 0);
        }
}
END_TEST

// ---- optimizers ------------------------------------------------------------------------------
START_TEST(the_peak_with_another_optimizer_is_what_a_step_with_it_measures) {
    Net net = net_random(_i);
    if (_i % 3 == 2) context_set_device(device_meta());
    int64_t real[OPTIMIZER_COUNT], kept[OPTIMIZER_COUNT];
    for (int pass = 0; pass < 2; pass++)
        for (int kind = 0; kind < OPTIMIZER_COUNT; kind++) {
            net.optimizer = (OptimizerKind)kind;
            NetTask task = net_task_new(&net);
            if (_i % 4 == 3) freeze(&task);
            Profile profile = profile_task(&net, &task, PROFILE_TRAINING);
            MemoryCurve curve = curve_of(&profile);
            const int64_t *live = profile.measured.peak.category;
            real[kind] = profile.measured.peak.total;
            kept[kind] = live[MEM_OPTIMIZER] + live[MEM_STAGING];
            for (int other = 0; pass == 1 && other < OPTIMIZER_COUNT; other++) {
                OptimizerKind as = (OptimizerKind)other;
                ck_assert_int_eq(memory_optimizer_peak(&profile, &curve, as), real[other]);
                ck_assert_int_eq(memory_optimizer_bytes(&profile, as), kept[other]);
            }
            memory_curve_free(&curve);
            profile_free(&profile);
            net_task_free(&task);
        }
}
END_TEST

START_TEST(a_step_without_an_optimizer_has_no_peak_with_another) {
    Net net = net_random(3);
    NetTask task = net_task_new(&net);
    Profile profile = profile_task(&net, &task, _i ? PROFILE_BACKWARD : PROFILE_INFERENCE);
    MemoryCurve curve = curve_of(&profile);
    for (int kind = 0; kind < OPTIMIZER_COUNT; kind++)
        ck_assert_int_eq(memory_optimizer_peak(&profile, &curve, (OptimizerKind)kind), -1);
    memory_curve_free(&curve);
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

// ---- by hand ---------------------------------------------------------------------------------
static ProfileMemoryEvent event(int64_t op, int layer, MemoryCategory category, int64_t delta) {
    return (ProfileMemoryEvent){{.delta = delta, .op = op, .category = category}, layer};
}

START_TEST(what_was_live_before_may_go_in_the_step) {
    ProfileOp ops[3] = {{.record.phase = PHASE_FORWARD}, {.record.phase = PHASE_BACKWARD_INPUT}};
    ops[2].record.phase = PHASE_OPTIMIZER;
    ProfileMemoryEvent events[] = {
        event(0, 0, MEM_ACTIVATION, 100),  // the first op takes 100 and,
        event(0, 0, MEM_WORKSPACE, 50),    // while it runs, 50
        event(0, 0, MEM_WORKSPACE, -50),   //
        event(1, 0, MEM_ACTIVATION, -300), // 300 go that the step did not take
        event(1, 1, MEM_ACTIVATION, 900),  // the second takes 900
        event(2, -1, MEM_DATA, 7),         // 7 are taken outside all ops
        event(2, 0, MEM_ACTIVATION, -100), // before the third op 100 go
        event(3, 1, MEM_ACTIVATION, -900), // and after the last op 900
    };
    Profile profile = {.ops = ops, .n_ops = 3, .memory_events = events, .n_layers = 2};
    profile.n_memory_events = sizeof events / sizeof events[0];
    profile.measured.start = (MemoryUse){{[MEM_ACTIVATION] = 300, [MEM_PARAMETER] = 40}, 340};
    MemoryCurve curve = curve_of(&profile);
    const int64_t totals[] = {490, 1040, 1047, 47};
    for (int i = 0; i < 4; i++) ck_assert_int_eq(curve.points[i].live.total, totals[i]);
    ck_assert_int_eq(curve.points[3].phase, PHASE_OPTIMIZER);
    ck_assert_int_eq(curve.peak, 2);
    const MemoryShare wanted[] = {{1, false, MEM_ACTIVATION, PHASE_FORWARD, 900},
                                  {0, false, MEM_ACTIVATION, PHASE_FORWARD, 100},
                                  {-1, true, MEM_PARAMETER, PHASE_FORWARD, 40},
                                  {-1, false, MEM_DATA, PHASE_FORWARD, 7}};
    ck_assert_int_eq(curve.n_shares, 4);
    for (int i = 0; i < 4; i++) {
        const MemoryShare *a = &curve.shares[i], *b = &wanted[i];
        ck_assert(a->layer == b->layer && a->resident == b->resident && a->bytes == b->bytes &&
                  a->category == b->category && a->phase == b->phase);
    }
    ck_assert_int_eq(curve.resident, 40);
    memory_curve_free(&curve);
}
END_TEST

START_TEST(a_step_that_only_gives_back_has_its_peak_at_the_start) {
    ProfileOp ops[2] = {{.layer = 0}};
    ProfileMemoryEvent events[] = {event(0, 0, MEM_DATA, -30), event(1, 0, MEM_DATA, 30)};
    Profile profile = {.ops = ops, .n_ops = 2, .memory_events = events, .n_layers = 1};
    profile.n_memory_events = _i;
    profile.measured.start = (MemoryUse){{[MEM_DATA] = 30}, 30};
    MemoryCurve curve = curve_of(&profile);
    ck_assert_int_eq(curve.peak, 0);
    ck_assert_int_eq(curve.points[0].live.total, 30);
    ck_assert_int_eq(curve.points[1].live.total, _i == 1 ? 0 : 30);
    ck_assert_int_eq(curve.n_shares, 1);
    ck_assert(curve.shares[0].resident && curve.shares[0].bytes == 30);
    memory_curve_free(&curve);
}
END_TEST

START_TEST(a_step_of_no_ops_is_one_point) {
    Profile profile = {0};
    MemoryCurve curve = curve_of(&profile);
    ck_assert_int_eq(curve.n_points, 1);
    ck_assert_int_eq(curve.peak, 0);
    ck_assert_int_eq(curve.n_shares, 0);
    ck_assert_int_eq(curve.points[0].live.total, 0);
    memory_curve_free(&curve);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {points_peak_and_shares_are_what_the_ledger_held, NETS},
        {the_peak_with_another_optimizer_is_what_a_step_with_it_measures, NETS},
        {a_step_without_an_optimizer_has_no_peak_with_another, 2},
        {what_was_live_before_may_go_in_the_step, 0},
        {a_step_that_only_gives_back_has_its_peak_at_the_start, 3},
        {a_step_of_no_ops_is_one_point, 0},
        {NULL, 0},
    };
    return harness_main("memory_curve", tests);
}
