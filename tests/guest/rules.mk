# tests/guest/rules.mk -- the calls of every public function with NULL, made from the headers.
NULL_CALLS := $(BUILD)/tests/null_calls
$(NULL_CALLS).c: profiler/ridgepoint.h $(LIBRARY_HEADERS) tests/guest/null_values.h \
    tests/guest/null_calls.h $(TOOLS)/null_calls.awk
	@mkdir -p $(@D)
	@$(CC) -std=c11 -D_GNU_SOURCE -I. -E -o $@.i $<
	@awk -f $(TOOLS)/null_calls.awk tests/guest/null_values.h $@.i >$@
$(NULL_CALLS).o: $(NULL_CALLS).c $(BUILD)/command
	$(call compile,$(COMPILE))
SOURCES += tests/guest/null_values.c
$(call tests_of,null_calls): $(NULL_CALLS).o $(BUILD)/tests/guest/null_values.o
