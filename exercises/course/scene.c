// scene.c -- answers a worker's calls, and keeps the record that decides some values of its run.
#include "exercises/course/scene.h"

#include <string.h>

#include "exercises/scene/mock_queue.h"
#include "exercises/scene/timed_model.h"
#include "exercises/scene/virtual_time.h"
#include "exercises/support/model_line.h"
#include "exercises/support/reference.h"
#include "exercises/support/reference_roofline.h"
#include "exercises/support/remote.h"
#include "tensor/context.h"
#include "tensor/memory.h"

// Limits of a run, since a function that needs more may never end. Runs of the work in a row count
// at once, everything else step by step, a forward pass layer by layer.
enum { MOST_TIMES = 1 << 26, MOST_STEPS = 1 << 22 };

struct Scene {
    VirtualTime time;
    VirtualWork work;
    MockQueue queue;
    TimedModel timed;
    Context *context; // the model's context, on meta
    Layer *model;     // NULL: no model
    int64_t record[RECORDED_COUNT];
    int64_t runs_read; // runs of the work at the last clock reading
    // zero_grad was called since the last backward pass (zeroed), and before the forward pass.
    bool zeroed, forward_zeroed;
    int64_t steps;
};

// ---- making ------------------------------------------------------------------------------------
static Status add_model(Scene *scene, const char *text) {
    Shape input;
    scene->context = context_new();
    if (!scene->context) return error_status();
    context_push(scene->context);
    context_set_device(device_meta());
    scene->model = model_from_line(text, &input);
    if (scene->model) layer_train(scene->model, false);
    context_pop();
    return scene->model ? STATUS_OK : error_status();
}

Scene *scene_new(const CaseRun *run) {
    Scene *scene = memory_new(sizeof *scene);
    if (!scene) return NULL;
    const char *text = strstr(run->input, "model=");
    bool timed = run->scene[0] != '\0';
    scene->time = virtual_time_start(virtual_clock_read(run->scene));
    scene->work = virtual_work_read(run->scene);
    scene->queue.times = mock_times_read(run->scene);
    if (timed && text && add_model(scene, text + strlen("model="))) {
        scene_free(scene);
        return NULL;
    }
    timed_model_start(&scene->timed, scene->model, model_times_read(run->scene));
    return scene;
}

void scene_free(Scene *scene) {
    if (!scene) return;
    if (scene->context) {
        context_push(scene->context);
        layer_free(scene->model);
        context_pop();
        context_free(scene->context);
    }
    memory_free(scene);
}

int64_t scene_recorded(const Scene *scene, Recorded what) {
    switch (what) {
    case RECORDED_WORKS:
        return scene->work.runs;
    case RECORDED_READINGS:
        return scene->time.readings;
    case RECORDED_EVENTS_LEFT:
        return scene->queue.live;
    case RECORDED_EVENT_MISUSES:
        return scene->queue.misuses;
    case RECORDED_LAUNCHES:
        return scene->queue.launches;
    case RECORDED_WARM_UP_AWAITED:
        return mock_warm_up_awaited(&scene->queue);
    case RECORDED_QUEUE_ORDER:
        return scene->queue.awaited_order;
    default:
        return scene->record[what];
    }
}

// ---- notes -------------------------------------------------------------------------------------
static void forward(Scene *scene, int64_t number) {
    timed_model_forward(&scene->timed, number, &scene->time);
    scene->record[number == 0 ? RECORDED_FORWARDS : RECORDED_ROWS]++;
    if (number == 0) scene->forward_zeroed = scene->zeroed;
}

static void backward(Scene *scene) {
    if (!scene->forward_zeroed) scene->record[RECORDED_BACKWARDS_UNZEROED]++;
    scene->zeroed = scene->forward_zeroed = false;
    scene->record[RECORDED_BACKWARDS]++;
    timed_model_backward(&scene->timed, &scene->time);
}

static const int64_t microsecond = 1000000; // picoseconds

static void step(Scene *scene, RemoteNote note, int64_t subject) {
    switch (note) {
    case NOTE_SLEEP:
        virtual_time_wait(&scene->time, subject < INT64_MAX / 1000 ? 1000 * subject : INT64_MAX);
        break;
    case NOTE_COPY:
        mock_copy_on(&scene->queue, subject, &scene->time);
        break;
    case NOTE_COPY_OUT:
        mock_copy_out_on(&scene->queue, subject, &scene->time);
        break;
    case NOTE_EVENT_RECORD:
        mock_event_mark(&scene->queue, subject, &scene->time);
        break;
    case NOTE_EVENT_FREE:
        mock_event_drop(&scene->queue, subject);
        break;
    case NOTE_FORWARD:
        forward(scene, subject);
        break;
    case NOTE_ZERO_GRAD:
        scene->zeroed = true;
        virtual_time_work(&scene->time, scene->timed.times.zero_us * microsecond);
        break;
    case NOTE_LOSS:
        virtual_time_work(&scene->time, scene->timed.times.loss_us * microsecond);
        break;
    case NOTE_BACKWARD:
        backward(scene);
        break;
    case NOTE_OPTIMIZER:
        if (scene->zeroed) scene->record[RECORDED_STEPS_WITHOUT_BACKWARD]++;
        timed_model_optimizer(&scene->timed, &scene->time);
        break;
    default:
        break;
    }
}

// Runs without a device must not have its events, a clock that costs nothing and has no steps.
static bool has_device(const Scene *scene) { return scene->queue.times.kernel > 0; }

bool scene_note(Scene *scene, int64_t note, int64_t subject, int64_t times) {
    if (note < 0 || note >= NOTE_COUNT || times < 1 || times > MOST_TIMES) return false;
    bool of_device = note >= NOTE_LAUNCH && note <= NOTE_EVENT_FREE;
    if (of_device && !has_device(scene)) return false;
    if (note == NOTE_SLEEP && subject < 0) return false;
    if (note == NOTE_WORK || note == NOTE_LAUNCH) {
        if (scene->work.runs + scene->queue.launches + times > MOST_TIMES) return false;
        if (note == NOTE_WORK)
            virtual_work_run(&scene->work, times, &scene->time);
        else
            mock_launch_on(&scene->queue, times, &scene->time);
        return true;
    }
    scene->steps += times * (note == NOTE_FORWARD ? 1 + scene->timed.n_layers : 1);
    if (scene->steps > MOST_STEPS) return false;
    for (int64_t i = 0; i < times; i++) step(scene, (RemoteNote)note, subject);
    return true;
}

// ---- calls -------------------------------------------------------------------------------------
static void clock_was_read(Scene *scene) {
    int64_t *most = &scene->record[RECORDED_RUNS_TIMED], runs = scene->work.runs - scene->runs_read;
    if (scene->time.readings > 1 && runs > *most) *most = runs;
    scene->runs_read = scene->work.runs;
}

static Status clock_call(Scene *scene, bool read, int64_t id, int64_t *answer) {
    struct timespec time = {0};
    bool known =
        id == (clockid_t)id && (read ? virtual_time_read(&scene->time, (clockid_t)id, &time)
                                     : virtual_time_step(&scene->time, (clockid_t)id, &time));
    if (known && read) clock_was_read(scene);
    answer[1] = (int64_t)time.tv_sec;
    answer[2] = time.tv_nsec;
    return known ? STATUS_OK : STATUS_INVALID_ARGUMENT;
}

static Status event_call(Scene *scene, int64_t call, const int64_t *arguments, int64_t *answer) {
    double seconds = 0.0;
    Status status = STATUS_OK;
    switch (call) {
    case CALL_EVENT_NEW:
        answer[1] = mock_event_make(&scene->queue);
        return answer[1] < 0 ? STATUS_OUT_OF_MEMORY : STATUS_OK;
    case CALL_EVENT_WAIT:
        return mock_event_wait(&scene->queue, arguments[0], &scene->time);
    case CALL_EVENT_ELAPSED:
        status = mock_event_between(&scene->queue, arguments[0], arguments[1], &seconds);
        memcpy(&answer[1], &seconds, sizeof seconds);
        return status;
    case CALL_COPY_WAIT:
        mock_copy_on(&scene->queue, arguments[0], &scene->time);
        return mock_wait(&scene->queue, &scene->time);
    case CALL_COPY_OUT_WAIT:
        mock_copy_out_on(&scene->queue, arguments[0], &scene->time);
        return mock_wait(&scene->queue, &scene->time);
    default:
        return mock_wait(&scene->queue, &scene->time);
    }
}

static Status count_call(Scene *scene, int64_t call, const int64_t *arguments, int count,
                         int64_t *answer) {
    const Layer *layer = timed_model_layer(&scene->timed, arguments[0]);
    Shape input = {.ndim = count - 1};
    if (!layer || count < 2 || count - 1 > TENSOR_MAX_DIMS) return STATUS_INVALID_ARGUMENT;
    const int64_t most = INT64_C(1) << 40; // elements: more than in any case, without overflow
    for (int64_t i = 1, all = 1; i < count; i++) {
        bool fits = arguments[i] >= 0 && !__builtin_mul_overflow(all, arguments[i], &all);
        if (!fits || all > most || arguments[i] > most) return STATUS_SHAPE;
        input.dims[i - 1] = arguments[i];
    }
    if (call == CALL_FLOPS) return reference_count_flops(layer, input, &answer[1]);
    Traffic traffic = {0, 0};
    Status status = reference_count_bytes(layer, input, &traffic);
    answer[1] = traffic.bytes_read;
    answer[2] = traffic.bytes_written;
    return status;
}

static Status roofline_call(const int64_t *arguments, int64_t *answer) {
    RooflineInput input = {.flops = arguments[0], .bytes = arguments[1]};
    RooflineResult result = {.bound = COMPUTE_BOUND};
    memcpy(&input.peak_flops_per_second, &arguments[2], sizeof(double));
    memcpy(&input.bytes_per_second, &arguments[3], sizeof(double));
    memcpy(&input.measured_seconds, &arguments[4], sizeof(double));
    Status status = reference_roofline(&input, &result);
    const double reals[] = {result.intensity, result.ridge, result.roof_seconds,
                            result.roof_fraction};
    memcpy(&answer[1], reals, sizeof reals);
    answer[5] = result.bound;
    return status;
}

bool scene_call(Scene *scene, int64_t call, const int64_t *arguments, int count, int64_t *answer) {
    static const int wanted[] = {
        [CALL_CLOCK_READ] = 1, [CALL_CLOCK_STEP] = 1,    [CALL_SYNCHRONIZE] = 0,
        [CALL_COPY_WAIT] = 1,  [CALL_COPY_OUT_WAIT] = 1, [CALL_EVENT_NEW] = 0,
        [CALL_EVENT_WAIT] = 1, [CALL_EVENT_ELAPSED] = 2, [CALL_FLOPS] = -1,
        [CALL_BYTES] = -1,     [CALL_ROOFLINE] = 5};
    if (call < 0 || call >= CALL_COUNT) return false;
    if (wanted[call] >= 0 ? count != wanted[call] : count < 1) return false;
    // Answers of earlier exercises are for exercises that build on them, which all have a model.
    if (call >= CALL_FLOPS && !scene->model) return false;
    if (call >= CALL_SYNCHRONIZE && call < CALL_FLOPS && !has_device(scene)) return false;
    if (call >= CALL_FLOPS)
        virtual_time_work(&scene->time, scene->timed.times.count_us * microsecond);
    Status status;
    if (call == CALL_CLOCK_READ || call == CALL_CLOCK_STEP)
        status = clock_call(scene, call == CALL_CLOCK_READ, arguments[0], answer);
    else if (call == CALL_FLOPS || call == CALL_BYTES)
        status = count_call(scene, call, arguments, count, answer);
    else if (call == CALL_ROOFLINE)
        status = roofline_call(arguments, answer);
    else
        status = event_call(scene, call, arguments, answer);
    error_clear(); // the student's code gets the status
    answer[0] = status;
    return true;
}
