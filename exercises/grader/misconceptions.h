// misconceptions.h -- known mistakes: name, and what a student is told, in at most 120 characters.
// Each has a page, explain/<name>.md. In alphabetical order.
#ifndef EXERCISES_GRADER_MISCONCEPTIONS_H
#define EXERCISES_GRADER_MISCONCEPTIONS_H

#define MISCONCEPTION_LIST(X)                                                                      \
    X(activation_free,                                                                             \
      "an activation costs, too: one FLOP for each element, and its input and output move")        \
    X(activation_in_products, "here only products count (Linear, Conv2d): an activation has none") \
    X(activation_of_batch, "the result is per sample: an activation counts the elements of one "   \
                           "sample, not of the batch")                                             \
    X(activations_forgotten,                                                                       \
      "what forward keeps for backward is memory, too: often the largest part")                    \
    X(activations_per_sample, "activations are kept for every sample: multiply by the batch")      \
    X(adam_one_state,                                                                              \
      "Adam keeps two numbers per parameter, first and second moment: 8 bytes, not 4")             \
    X(allocation_in_loop,                                                                          \
      "allocate all samples before the first run: malloc between runs is in your numbers")         \
    X(amdahl_inverse_share,                                                                        \
      "the limit is 1 / (1 - share), what is left; 1 / share is another number")                   \
    X(amdahl_remaining, "that is the part of the time that is left; the limit is 1 over it")       \
    X(amdahl_twice_as_fast, "the limit is for a row that takes no time at all, not half of it")    \
    X(backward_twice_forward,                                                                      \
      "backward is not 2 * forward: count its products, and measure its time")                     \
    X(bad_list_accepted,                                                                           \
      "freeing what is not live, or allocating what is, is STATUS_INVALID_ARGUMENT")               \
    X(bad_options_accepted,                                                                        \
      "options that make no sense are STATUS_INVALID_ARGUMENT, before anything is measured")       \
    X(batch_counted_twice, "the batch is in that number already: multiply by it once")             \
    X(batch_forgotten, "the question is about the whole batch: all of its samples go through")     \
    X(batch_multiplied,                                                                            \
      "the result is per sample; multiply by the batch only in profile_forward_pass")              \
    X(best_for_knee, "the knee is the first batch with 80 % of the best, not the best itself")     \
    X(bias_as_one, "a bias is one number for each output, not one for the layer")                  \
    X(bias_counted, "biases are not counted here: one addition beside thousands of multiply-adds") \
    X(bias_forgotten, "a layer with a bias owns it beside the weight: out more numbers")           \
    X(bias_per_input,                                                                              \
      "a bias is added to the outputs: it has out_features numbers, not in_features")              \
    X(blocks_forgotten, "that is one block; the model has several of them")                        \
    X(bound_from_efficiency,                                                                       \
      "low FLOP/s does not mean memory-bound: compare intensity and ridge, not times")             \
    X(bound_swapped, "intensity at or above the ridge is compute-bound, below it memory-bound")    \
    X(buffer_counted_twice,                                                                        \
      "two layers may keep the same buffer: a ReLU's output is the next Linear's input")           \
    X(bytes_for_elements, "asked is how many numbers there are, not how many bytes they take")     \
    X(bytes_for_megabytes, "asked are megabytes: a million bytes each")                            \
    X(category_at_end,                                                                             \
      "asked is the composition at the moment of the peak: copy it whenever the peak rises")       \
    X(category_own_peak,                                                                           \
      "each category's own highest is at another moment: they do not add up to the peak")          \
    X(category_total,                                                                              \
      "that is all that each category ever allocated; asked is what was live at the peak")         \
    X(ceiling_unchecked,                                                                           \
      "a ceiling that is not above 0 makes every quotient meaningless: refuse it first")           \
    X(children_ignored, "a Sequential owns nothing itself: what it holds is in its children")      \
    X(container_counted,                                                                           \
      "a Sequential is no row: its time is that of its children, measured once more")              \
    X(copies_included, "the copies are in that time: put events between copies and kernels")       \
    X(copy_not_awaited,                                                                            \
      "an _async copy returns at once: its time is between two events, not around the call")       \
    X(copy_one_way, "data goes to the device and comes back: add both copies")                     \
    X(cpu_clock,                                                                                   \
      "a CPU clock stands still while the program waits; elapsed time is CLOCK_MONOTONIC")         \
    X(device_error_ignored,                                                                        \
      "a kernel fails when nobody is waiting: give back the status of mock_synchronize")           \
    X(dilation_ignored,                                                                            \
      "a dilated kernel reaches dilation * (k - 1) + 1 far, so it fits less often")                \
    X(double_precision, "the numbers are float32: 4 bytes each, not 8")                            \
    X(elements_for_bytes, "asked are bytes: each float32 number takes 4")                          \
    X(equal_shapes_merged,                                                                         \
      "two tensors of one shape are not one tensor: only the same address is shared")              \
    X(error_ignored, "look at every status, and for NULL: what failed has no profile")             \
    X(even_median,                                                                                 \
      "with an even number of samples the median is half-way between the two in the middle")       \
    X(events_not_freed, "free every event that you made, on every way out")                        \
    X(events_read_early, "wait before you read events: mock_synchronize, then mock_event_elapsed") \
    X(every_output,                                                                                \
      "not every output is kept: only what some backward will read, each buffer once")             \
    X(every_use_read, "compulsory traffic reads each operand once, however often it is used")      \
    X(first_launch_included,                                                                       \
      "launch once and wait before you measure: the first launch loads the kernel")                \
    X(first_layer_input_gradient,                                                                  \
      "nobody wants the gradient of the data: the first layer has no such product")                \
    X(flops_depend_on_batch, "FLOPs of one sample are the same in every batch")                    \
    X(flops_per_sample,                                                                            \
      "one sample's FLOPs over the whole batch's time: multiply by the batch first")               \
    X(footprint_for_traffic,                                                                       \
      "traffic is not footprint: what one layer writes, the next one reads again")                 \
    X(forward_in_backward, "forward ran before: backward is the two gradients alone")              \
    X(fraction_inverted,                                                                           \
      "roof_fraction is roof / measured: at most 1, and 1 is as fast as can be")                   \
    X(fraction_of_peak,                                                                            \
      "the fraction is of the roof that limits the work, not always of the peak FLOP/s")           \
    X(free_size_guessed,                                                                           \
      "a free knows only the id: look back for the allocation, and take its size and category")    \
    X(frees_ignored, "a free takes bytes away: subtract what its allocation added")                \
    X(frozen_has_gradient,                                                                         \
      "a frozen parameter has no gradient, hence no optimizer state: count the others only")       \
    X(frozen_skipped, "a frozen parameter is not trained, but it is a parameter: it counts")       \
    X(gain_of_seconds, "the gain is of samples a second, not of the seconds of a batch")           \
    X(gflop_for_flop, "1 GFLOP is 1e9 FLOP: bring both sides of a quotient to the same unit")      \
    X(gradient_forgotten,                                                                          \
      "backward has two products: for the weight's gradient, and for the input's")                 \
    X(gradients_forgotten,                                                                         \
      "each trained parameter has a gradient of its own size: as many bytes again")                \
    X(groups_ignored,                                                                              \
      "with groups, an output channel sees in_channels / groups input channels only")              \
    X(host_clock_for_kernel,                                                                       \
      "the program's clock also measures launch and wake-up; the device's events do not")          \
    X(input_channels_forgotten, "each tap of a kernel reads every input channel (of its group)")   \
    X(input_counted,                                                                               \
      "the model's input is the caller's data, there with or without training: not an activation") \
    X(integer_division, "7 / 2 is 3 between integers: convert to double before you divide")        \
    X(integer_overflow, "that does not fit 32 bits: use int64_t from the first product on")        \
    X(intensity_inverted, "intensity is FLOPs per byte, not bytes per FLOP")                       \
    X(intensity_of_batch,                                                                          \
      "FLOPs grow with the batch, the bytes of the weights do not: intensity rises")               \
    X(kernel_for_launch,                                                                           \
      "that is the kernel, on the device; a launch is what the call costs your program")           \
    X(kernel_not_squared, "a k x k kernel has k * k taps: kernel_h * kernel_w")                    \
    X(kernels_included,                                                                            \
      "the kernels ran between the copies: add up the two copies, not the time around all")        \
    X(knee_by_latency, "that batch takes the shortest time; the knee is about samples a second")   \
    X(knee_for_best, "that is what the knee reaches; asked is the largest in the column")          \
    X(knee_misexplained,                                                                           \
      "below the knee few samples share the reading of the weights; above it arithmetic is left")  \
    X(knee_no_batch, "the sweep has batches of 1, 2, 4, 8 ... 1024: choose one of them")           \
    X(knee_too_early, "that batch does not yet reach 80 % of the best: take the next one")         \
    X(known_layers_only,                                                                           \
      "parameters are listed in every layer; do not ask which kind of layer it is")                \
    X(last_for_best, "the largest batch need not be the best: look for the largest number")        \
    X(launch_includes_wait, "read the clock right after the last launch, before you wait")         \
    X(launches_not_divided, "that is the time of all launches together: divide by work->launches") \
    X(leak_missed,                                                                                 \
      "activations and workspace that are live at the end were forgotten: count them")             \
    X(live_for_peak,                                                                               \
      "the peak is the highest that was live at any moment, not what is live at the end")          \
    X(live_for_total,                                                                              \
      "a free does not take back that something was allocated: total never shrinks")               \
    X(mac_vs_flop, "a multiply-add is two FLOPs, a multiplication and an addition, and one MAC")   \
    X(mean_divided_by_warmup_too,                                                                  \
      "divide by the number of samples; the warm-up runs are not in the sum")                      \
    X(mean_for_median,                                                                             \
      "the median is the middle sample, not the average: one interrupted run moves the mean")      \
    X(mebibytes_for_megabytes, "MB is 10^6 bytes; 2^20 bytes are a MiB, 4.9 % more")               \
    X(megabytes_for_bytes, "results are bytes, exactly; MB (10^6) and MiB (2^20) are for people")  \
    X(microseconds_for_seconds,                                                                    \
      "that is in microseconds: 1e6 to the second; results are in seconds")                        \
    X(milliseconds_for_seconds,                                                                    \
      "times are in seconds here; convert where you print, not where you compute")                 \
    X(minimum_for_median,                                                                          \
      "the minimum is the best run, the median the typical one; asked is the median")              \
    X(nanoseconds_for_seconds, "that is in nanoseconds: multiply by 1e-9; results are in seconds") \
    X(nanoseconds_only,                                                                            \
      "tv_nsec is only what lies beyond the whole seconds: add the difference of tv_sec")          \
    X(nested_ignored, "a child may have children of its own, to any depth: recurse")               \
    X(no_synchronisation,                                                                          \
      "a launch returns at once: that is the time of launching, not of the kernel")                \
    X(on_the_ridge, "exactly on the ridge is compute-bound: >=, not >")                            \
    X(optimizer_ignored,                                                                           \
      "it depends on the optimizer: SGD keeps nothing, momentum one number, Adam two")             \
    X(optimizer_in_backward, "the optimizer is a part of the step, not of backward")               \
    X(optimizer_left_out, "a training step ends with the optimizer: it takes time, too")           \
    X(optimizer_state_forgotten,                                                                   \
      "the optimizer keeps numbers of its own: momentum 4, Adam 8 bytes per parameter")            \
    X(output_channels_forgotten, "the kernel is applied once for every output channel")            \
    X(output_in_over_stride,                                                                       \
      "the kernel has to fit: (h + padding - k) / stride + 1 windows, not h / stride")             \
    X(output_only,                                                                                 \
      "every layer inside keeps something; the model's output itself is nobody's to keep")         \
    X(padding_ignored, "padding makes the input larger before the kernel slides over it")          \
    X(padding_on_one_side, "padding is put on both sides: padding_top and padding_bottom")         \
    X(parameters_only,                                                                             \
      "parameters are a quarter of it with Adam: gradients, state and activations come on top")    \
    X(parameters_per_sample,                                                                       \
      "parameters and gradients are there once, whatever the batch; only activations grow")        \
    X(peak_for_total,                                                                              \
      "total counts every allocation once, freed or not; the peak is the most at one time")        \
    X(percent_for_fraction,                                                                        \
      "a fraction is between 0 and 1; percent is for the reader of a report")                      \
    X(percentile_rule, "p95 is the nearest rank, sorted sample number ceil(0.95 n) from 1: a "     \
                       "latency that occurred")                                                    \
    X(percentile_too_few,                                                                          \
      "p95 needs 90 samples: with fewer the tail may not have been seen at all; store NAN")        \
    X(percentile_unavailable, "90 samples are enough for p95: NAN is only for fewer")              \
    X(persistent_called_leak,                                                                      \
      "parameters, gradients and optimizer state live on to the next step: that is no leak")       \
    X(plus_one_forgotten, "the first window counts, too: (h + padding - k) / stride, plus 1")      \
    X(prediction_missing, "first fill in predicted_knee and measured_knee: this compares them")    \
    X(prediction_turned, "predicted below measured is too_low; above it, too_high")                \
    X(quartile_for_iqr, "that is the upper quartile; the IQR is its distance from the lower one")  \
    X(quartile_rule,                                                                               \
      "here a quantile is at position (n - 1) q of the sorted samples from 0, interpolated")       \
    X(range_for_iqr, "that is max - min; the IQR is the width of the middle half only")            \
    X(rates_added, "rates neither add up nor average: total FLOPs / total seconds")                \
    X(ratio_inverted, "the ratio is backward / forward: above 1 when backward takes longer")       \
    X(ratio_of_flops, "that is the ratio of the FLOPs; asked is the ratio of measured seconds")    \
    X(read_written_swapped, "a layer reads its input and parameters, and writes its output")       \
    X(repeats_not_divided,                                                                         \
      "that is the time of all runs together: divide by how often the work ran")                   \
    X(resolution_assumed,                                                                          \
      "do not assume a step of 1 ns: ask clock_getres for the step of the clock you read")         \
    X(resolution_ignored,                                                                          \
      "the clock advances in steps: run the work more often until 100 steps have passed")          \
    X(ridge_inverted, "the ridge is peak FLOP/s over bytes/s: FLOP per byte, as intensity is")     \
    X(roof_added,                                                                                  \
      "arithmetic and traffic go on at the same time: the longer of both, not their sum")          \
    X(roof_lower, "the roof time is the longer of the two times: the slower one is the limit")     \
    X(rows_ignored,                                                                                \
      "every row of a sample is multiplied: (7, 5, 4) is 5 rows for each of 7 samples")            \
    X(samples_not_freed, "give the samples back: every malloc has its free, on every way out")     \
    X(samples_off_by_one,                                                                          \
      "one run too few or too many: warmup runs, then exactly iterations samples")                 \
    X(seconds_for_milliseconds, "asked are milliseconds: a thousand to the second")                \
    X(seconds_only,                                                                                \
      "tv_sec alone is cut off at whole seconds: add the difference of tv_nsec times 1e-9")        \
    X(shape_not_propagated, "each layer gets what the one before it gave, not the model's input")  \
    X(shape_unchecked,                                                                             \
      "an input that does not fit is STATUS_SHAPE; a count of it would mean nothing")              \
    X(share_for_seconds, "that is the unattributed part as a share; asked are its seconds")        \
    X(share_of_wrong_total,                                                                        \
      "a share is of the whole that contains it, not of a part of the whole")                      \
    X(slowest_by_flops, "the row with most FLOPs need not take the longest: compare seconds")      \
    X(stddev_for_iqr,                                                                              \
      "the IQR is quantile 3/4 minus quantile 1/4; a standard deviation is ruled by outliers")     \
    X(steps_for_samples, "those are batches a second; every batch has many samples")               \
    X(stride_ignored, "with stride s the kernel takes every s-th place: divide by it")             \
    X(sum_overwritten, "that is the last part only: add it to the total with +=")                  \
    X(sweep_unreadable, "sweep.csv is not as ./lab sweep writes it: write it anew, and leave it")  \
    X(tensors_counted, "a tensor is many numbers: count its elements, numel")                      \
    X(throughput_inverted,                                                                         \
      "that is seconds for a batch or a sample; throughput is samples per second")                 \
    X(tied_counted_twice, "a tensor that two layers share is one tensor: it counts once")          \
    X(tied_read_once, "a shared weight is stored once, but each layer that uses it reads it")      \
    X(timer_not_restarted, "that time begins too early: read the clock right before each part")    \
    X(total_for_peak, "that is all that was ever allocated; the peak is the most at one time")     \
    X(unattributed_time,                                                                           \
      "the whole is measured, not added up from rows: it takes more than they do")                 \
    X(unknown_is_zero,                                                                             \
      "unknown is not zero: a layer that you have no rule for is STATUS_UNKNOWN_OP")               \
    X(unmeasured_divided, "without a measured time there is no fraction: NaN")                     \
    X(unmeasured_is_zero, "0 would say infinitely slow; what was not measured is NaN")             \
    X(unsorted_median, "sort the samples before you take the middle one")                          \
    X(view_judged, "no FLOPs and no bytes: a view is on no roofline, its bound is NEITHER")        \
    X(views_counted, "a view moves and computes nothing: the same numbers, seen in another shape") \
    X(waiting_each_launch,                                                                         \
      "waiting after each launch adds launch and wake-up to every kernel: wait once, at the end")  \
    X(wall_clock,                                                                                  \
      "CLOCK_REALTIME, time and gettimeofday are set while you measure; read CLOCK_MONOTONIC")     \
    X(warmup_counted,                                                                              \
      "warm-up runs are no samples: n is options.iterations, and statistics are of these alone")   \
    X(warmup_missing, "call run options.warmup times first, and throw those times away")           \
    X(warmup_taken_from_samples,                                                                   \
      "iterations is the number of samples; warm-up runs come before them, not out of them")       \
    X(weights_forgotten, "a layer reads its parameters, too, not only its input")                  \
    X(weights_per_sample, "the weights are read once for the whole batch, however large it is")

#endif
