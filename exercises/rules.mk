# exercises/rules.mk -- ./lab, the program of the exercises, and what it builds students' code with.
.PHONY: lab-parts lab-profile exercises tour

# What the exercises stand on, their cases, the grader, and ./lab; what students write and what calls
# it (lab-parts), and programs are apart.
EXERCISE_SOURCES := $(filter-out $(addprefix exercises/support/,worker.c remote_%.c ledger.c) \
    exercises/lab/lab.c exercises/lab/profile_%.c %_call.c,\
    $(wildcard $(addprefix exercises/,support/*.c scene/*.c course/*.c grader/*.c lab/*.c)))
SOURCES += $(EXERCISE_SOURCES) exercises/lab/lab.c $(wildcard exercises/lab/profile_*.c)
EXERCISES := $(BUILD)/exercises/libexercises.a
$(EXERCISES): $(call objects,$(EXERCISE_SOURCES)) $(BUILD)/exercises/pages.o $(BUILD)/sources

LAB_PROGRAM := $(PROGRAM_FOLDER)lab
LAB := build/lab
SKELETONS := $(patsubst exercises/%,exercises/.lab/skeletons/%,$(wildcard exercises/ex*.c \
    exercises/predict.txt exercises/answers.txt exercises/by_hand.txt))

# ./lab, what it runs students' code in (build/lab), and the skeletons as they were handed out.
$(LAB_PROGRAM): $(BUILD)/exercises/lab/lab.o $(EXERCISES) $(LIBRARY) | lab-parts $(SKELETONS)
	$(call link,$(LIBS))

# Hints and pages as C; the folder itself is newer when a file came or went.
$(BUILD)/exercises/pages.c: exercises/pages/pages.awk $(sort $(wildcard exercises/pages/ex*.md)) \
    exercises/pages
	@mkdir -p $(@D)
	@awk -f $< $(filter %.md,$^) >$@
$(BUILD)/exercises/pages.o: $(BUILD)/exercises/pages.c exercises/lab/pages.h $(BUILD)/command
	$(call compile,$(COMPILE))

lab: $(filter-out lab,$(LAB_PROGRAM)) ## build ./lab, the program of the exercises
exercises: $(LAB_PROGRAM) $(PROGRAMS) ## check every exercise; NN=02 only that one
	@./$< check $(NN)
check-NN: ## one exercise, as in make check-02; watch-02: whenever it is saved
	@echo "check-NN: name an exercise, as in make check-02"; exit 2
check-%: $(LAB_PROGRAM)
	@./$< check $*
watch-%: $(LAB_PROGRAM)
	@./$< watch $*

# What ./lab profile runs: real times, so nothing stands between. A student's file that does not
# compile is left out, as are 07, which wants the grader's device, and 10; of the others only the
# functions that are asked for can be seen.
STUDENT_FILES ?= exercises
PROFILE_OBJECTS := $(call objects,$(wildcard exercises/lab/profile_*.c))
PROFILE_FUNCTIONS := count_parameters count_flops count_bytes roofline clock_elapsed \
    measure_latency training_memory profile_forward_pass
lab-profile: $(PROFILE_OBJECTS) $(EXERCISES) $(LIBRARY)
	@mkdir -p $(LAB)/yours && rm -f $(LAB)/yours/*.o
	@for file in '$(STUDENT_FILES)'/ex0[1-689]_*.c; do \
	    object=$(LAB)/yours/$$(basename "$$file" .c).o; \
	    $(LAB_COMPILE) -w -c -o "$$object" "$$file" 2>/dev/null && \
	        objcopy $(PROFILE_FUNCTIONS:%=-G %) "$$object" || rm -f "$$object"; \
	done
	@$(LINK) -o $(LAB)/profile $(PROFILE_OBJECTS) $$(find $(LAB)/yours -name '*.o') \
	    $(EXERCISES) $(LIBRARY) $(LIBS)

# For ./lab reset and submit. Taken once, of what git has where there is git, else of the file
# before anybody has touched it; again only when the contract changes. Not in build/, so that make
# clean does not lose what nobody could bring back.
keep_skeleton = mkdir -p $(@D) && { git show HEAD:./exercises/$(@F) >$@.new 2>/dev/null || \
    cp exercises/$(@F) $@.new; } && mv $@.new $@
exercises/.lab/skeletons/%.c: exercises/%.h
	@$(keep_skeleton)
exercises/.lab/skeletons/%.txt:
	@$(keep_skeleton)

# ---- the tour ----------------------------------------------------------------------------------
# Five programs as anybody's own are: they see what the public headers declare.
TOUR := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard exercises/tour/*.c)))
$(TOUR): $(BUILD)/%: %.c $(LIBRARY) $(HEADERS)
	@mkdir -p $(@D)
	@$(STEP) 'compile $<' $(CC) -std=c11 -pedantic -O2 $(WARNINGS) \
	    -I$(HEADERS:%/ridgepoint/ridgepoint.h=%) -o $@ $< $(LIBRARY) $(LIBS) -pthread
tour: $(TOUR) ## run five small programs: a scalar engine, an op, a layer, a training, a profile
	@for program in $^; do \
	    echo "==== exercises/tour/$${program##*/}.c"; ./$$program || exit 1; \
	done

# ---- what the grader builds student code with --------------------------------------------------
# One relocatable object per exercise: worker.c, the call file, exercises/support and an engine that
# does not know costs: descriptors without them, no layers/cost.c, nothing of profiler/, and autograd
# only where a training step is asked for. Over plain loops, because a worker starts for every case,
# and OpenBLAS takes longer to start than that. Of all its names only those are seen that a student
# may call or that the link needs. One for all variants.
LAB_COMPILE = $(CC) -std=c11 -D_GNU_SOURCE -I. -O2 $(FLOATING_POINT) -pthread $(WARNINGS)
LAB_PARTS_COMPILE = $(LAB_COMPILE) -DENGINE_WITHOUT_COSTS -ffunction-sections -fdata-sections \
    -fstack-protector-strong
lab_objects = $(patsubst %.c,$(LAB)/object/%.o,$(1))
LAB_ENGINE := $(call lab_objects,$(filter-out layers/cost.c $(BLAS_SOURCES),\
    $(wildcard tensor/*.c tensor/ops/*.c layers/*.c layers/files/model_text*.c)) tensor/blas_plain.c \
    autograd/leaf.c \
    $(filter-out %/remote_training.c,$(wildcard exercises/support/*.c)))
LAB_TRAINING := $(call lab_objects,$(filter-out autograd/leaf.c,$(wildcard autograd/*.c)) layers/train/loss.c \
    $(wildcard layers/train/optimizer*.c) exercises/support/remote_training.c)
LAB_CALLS := $(wildcard exercises/course/ex*_call.c)
LAB_WORKERS := $(LAB_CALLS:exercises/course/%_call.c=$(LAB)/worker/%.o)
LAB_SEEN := main __stack_chk_fail *_call lab_* mock_* reference_* tensor_* scope_* error_* status_* \
    dtype_* shape_* no_grad_* layer_forward layer_forward_many layer_attribute layer_output_shape \
    optimizer_name optimizer_flag
# All that student code may include of ours.
LAB_HEADERS := $(patsubst %,$(LAB)/include/%,\
    $(filter-out layers/cost.h $(addprefix exercises/support/,filter.h remote.h worker.h),\
    $(wildcard exercises/ex*.h exercises/support/*.h tensor/*.h autograd/*.h layers/*.h layers/train/*.h)))

lab-parts: $(LAB)/tools $(LAB_WORKERS) $(LAB_HEADERS)

$(LAB)/command: FORCE
	$(call keep,$(LAB_PARTS_COMPILE) $(LAB_ENGINE) $(LAB_TRAINING) $(LAB_SEEN))
$(LAB)/object/%.o: %.c $(LAB)/command
	$(call compile,$(LAB_PARTS_COMPILE), for workers)
# All of it, because only the linker of a student's file knows what that calls.
define link_worker
@mkdir -p $(@D)
@$(STEP) 'link    $@' ld -r -o $@.all $(filter %.o,$^)
@objcopy -w $(LAB_SEEN:%='--keep-global-symbol=%') $@.all $@ && rm -f $@.all
endef
$(filter $(LAB)/worker/ex10%,$(LAB_WORKERS)): $(LAB_TRAINING)
$(LAB_WORKERS): $(LAB)/worker/%.o: $(LAB)/object/exercises/course/%_call.o $(LAB_ENGINE)
	$(link_worker)
$(LAB_HEADERS): $(LAB)/include/%: %
	@mkdir -p $(@D)
	@cp $< $@

# The compiler itself: one that answers for it from a cache (ccache, distcc, which some systems put
# first in PATH under the compiler's name) has a folder to write to, and here none may be.
LAB_CC = $(firstword $(filter-out %cache %distcc,$(CC)))
define find_compiler
IFS=:; for folder in $$PATH; do \
    file=$$folder/$(notdir $(LAB_CC)); \
    case $$(readlink -f "$$file") in *cache | *distcc) continue ;; esac; \
    [ ! -x "$$file" ] || { echo "$$file"; exit; }; \
done; \
echo "no compiler $(notdir $(LAB_CC)) in PATH, but for caches of one" >&2; exit 1
endef
# The third line is a flag that gcc alone knows: clang, whatever its name, would tell a student of it.
$(LAB)/tools: $(LAB)/command exercises/rules.mk
	@( $(if $(findstring /,$(LAB_CC)),echo '$(LAB_CC)',$(find_compiler)) ) >$@.new && \
	    command -v objcopy >>$@.new && mv $@.new $@
	@flag=-Wno-old-style-declaration; \
	    ! $(LAB_CC) -Werror $$flag -fsyntax-only -x c /dev/null 2>/dev/null || echo $$flag >>$@

-include $(shell [ -d $(LAB)/object ] && find $(LAB)/object -name '*.d')

include $(sort $(wildcard exercises/*/rules.mk))
