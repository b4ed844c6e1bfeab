# tests/exercises/rules.mk -- what the tests of the exercises are linked with, and run, beyond the
# helpers of all tests.

# The ledger is a worker's, and no part of the grader.
$(call tests_of,exercise_support): $(BUILD)/exercises/support/ledger.o
# Where hostile code is run, it is run alone.
$(call tests_of,confine confine_runs room build build_secrets grade): \
    $(BUILD)/exercises/selftest/alone.o
# Mutants are the self-test's.
$(call tests_of,lab_check exercises_investigate): $(BUILD)/exercises/selftest/sections.o
# The tests of the parts of the instructor's program are linked with them.
$(call tests_of,grading_parts): $(patsubst %,$(BUILD)/exercises/%.o,instructor/items \
    instructor/tables instructor/fingerprint instructor/similar selftest/sections)
ARCHIVE_PARTS := $(patsubst %,$(BUILD)/exercises/instructor/%.o,archive archive_tar archive_zip)
$(call tests_of,archives): $(ARCHIVE_PARTS) $(patsubst %,$(BUILD)/exercises/instructor/%.o,asked entry)
$(BUILD)/tests/fuzz_archive: $(ARCHIVE_PARTS)
$(BUILD)/tests/fuzz_class: $(patsubst %,$(BUILD)/exercises/instructor/%.o,class roster export results \
    entry asked) $(ARCHIVE_PARTS)
$(BUILD)/tests/fuzz_dialogue: $(BUILD)/tests/exercises/grader/talk.o

$(filter $(call tests_of,lab% keys sealed),$(TEST_PROGRAMS)): | $(LAB_PROGRAM)
$(call tests_of,grading instructor intake): | $(INSTRUCTOR)

# The tests have an exercise of their own, and therefore parts of their own.
SAMPLE_PARTS := $(LAB)/tests
$(SAMPLE_PARTS)/worker/ex90_sample.o: $(LAB)/object/tests/exercises/sample/sample_call.o $(LAB_ENGINE)
	$(link_worker)
$(SAMPLE_PARTS)/tools: $(SAMPLE_PARTS)/worker/ex90_sample.o tests/exercises/sample/ex90_sample.h \
    $(LAB)/tools $(LAB_WORKERS) $(LAB_HEADERS)
	@cp -r $(LAB)/include $(LAB)/worker $(@D) && \
	    cp tests/exercises/sample/ex90_sample.h $(@D)/include/exercises && cp $(LAB)/tools $@
$(call tests_of,grade grade_course build build_secrets): | $(SAMPLE_PARTS)/tools
