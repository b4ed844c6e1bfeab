// mlp.cpp -- mlp.c's guest in ISO C++17: what C++ has in other words (SHAPE, OP_RUN,
// PROFILE_KERNEL) does the same, and names link as C.
#include <ridgepoint/ridgepoint.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {
struct Free {
    void operator()(Layer *layer) const { layer_free(layer); }
    void operator()(Tensor *tensor) const { tensor_free(tensor); }
    void operator()(Optimizer *optimizer) const { optimizer_free(optimizer); }
    void operator()(Profiler *profiler) const { profiler_free(profiler); }
};
template <typename T> using Owned = std::unique_ptr<T, Free>;

void expect(bool holds, const char *what) {
    if (!holds) throw std::runtime_error(std::string(what) + ": " + error_message());
}

struct Scoped { // closed on any way out
    Scope *scope = scope_open();
    ~Scoped() { scope_close(scope); }
};

double train(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels) {
    Scoped scoped;
    optimizer_zero_grad(optimizer);
    Tensor *loss = loss_cross_entropy(layer_forward(model, x), labels);
    autograd_backward(loss);
    optimizer_step(optimizer);
    return tensor_item(loss);
}

void ops_by_descriptor(Tensor *x) {
    Scoped scoped;
    Tensor *sum = OP_RUN(op_add, nullptr, x, x), *same = tensor_mul_scalar(x, -2.0f);
    Tensor *negative = nullptr;
    expect(OP_INTO(&negative, op_neg, NULL, sum) == STATUS_OK, "OP_INTO");
    // An absent bias is a NULL among the inputs.
    Tensor *weight = tensor_reshape(tensor_slice(x, 0, 0, 1, 1), SHAPE(1, 4));
    expect(OP_RUN(op_linear, nullptr, x, weight, NULL) != nullptr, "an absent input");
    expect(shape_equal(tensor_shape(negative), tensor_shape(same)), "shapes");
    expect(std::memcmp(tensor_data(negative), tensor_data(same), tensor_bytes(same)) == 0, "ops");
}

void run() {
    const std::vector<int64_t> sizes = {4, 8, 3};
    std::vector<int64_t> classes(16);
    for (size_t i = 0; i < classes.size(); i++) classes[i] = static_cast<int64_t>(i % 3);
    Owned<Tensor> x(tensor_normal_new(SHAPE(classes.size(), 4), 0.0f, 1.0f));
    Owned<Tensor> labels(tensor_from_labels_new(SHAPE(classes.size()), classes.data()));
    Owned<Tensor> scalar(tensor_zeros_new(SHAPE_SCALAR));
    Owned<Layer> model(mlp_new(sizes.data(), 3, mlp_defaults()));
    Owned<Optimizer> optimizer(optimizer_new(model.get(), optimizer_defaults(OPTIMIZER_ADAM)));
    expect(optimizer && tensor_shape(scalar.get()).ndim == 0, "making things");
    expect(shape_equal(tensor_shape(x.get()), SHAPE(16, 4)), "shape");
    ops_by_descriptor(x.get());

    Owned<Profiler> profiler(profiler_new(profiler_defaults()));
    profiler_start(profiler.get());
    double first = train(model.get(), optimizer.get(), x.get(), labels.get()), last = first;
    int left = 0;
    for (int i = 1; i < 50; i++) {
        PROFILE_SCOPE("step") { last = train(model.get(), optimizer.get(), x.get(), labels.get()); }
        PROFILE_KERNEL("nothing", 1, 4) {}
        try { // an exception closes a scope, too
            PROFILE_SCOPE("thrown") { throw i; }
        } catch (int) {
            left++;
        }
        profiler_step(profiler.get());
    }
    profiler_stop(profiler.get());
    expect(context_current()->site == -1 && left == 49, "scopes left open");
    expect(last < first, "the loss does not fall");
    ProfilerSummary summary;
    expect(profiler_summarise(profiler.get(), &summary) == STATUS_OK, "summary");
    int kernels = 0;
    for (int i = 0; i < summary.n_rows; i++)
        if (std::strcmp(summary.rows[i].name, "nothing") == 0)
            kernels += static_cast<int>(summary.rows[i].calls);
    profiler_summary_free(&summary);
    expect(kernels == 49, "kernels in the table");
    expect(profiler_print(profiler.get(), stdout) == STATUS_OK, "table");
}
} // namespace

int main() {
    try {
        run();
        // A thread has a context of its own, error included.
        bool clean = false;
        std::thread other([&clean] {
            error_set(STATUS_STATE, "of the other thread");
            clean = error_pending();
            context_release_thread();
        });
        other.join();
        expect(clean && !error_pending(), "contexts of threads");
    } catch (const std::exception &error) {
        std::printf("wrong: %s\n", error.what());
        return 1;
    }
    context_release_thread();
    std::printf("fine\n");
    return 0;
}
