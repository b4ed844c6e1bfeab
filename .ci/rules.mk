# rules.mk -- what holds the pages and the size of the project, and the quick tests. The Makefile
# includes it after everything else; .ci/run is what calls these.
.PHONY: reference check-reference check-size check-pages quick

# ---- pages -------------------------------------------------------------------------------------
reference: $(REFERENCE) ## write what each function takes and gives into build/reference
	@echo "build/reference: $(notdir $(REFERENCE))"
check-reference: ## verify that the pages of the reference lack nothing that the headers declare
	@$(TOOLS)/api_reference check $(sort $(PUBLIC_HEADERS))
check-pages: ## verify that what the pages link to, and the paths and names in them, are there
	@$(TOOLS)/check_pages

# ---- size --------------------------------------------------------------------------------------
check-size: ## verify files and lines of each room against .ci/ceilings; LONG=1: what is long
	@.ci/check_size

# ---- a quick answer ----------------------------------------------------------------------------
# What finds most of what a change breaks, in less than a minute once it is built, on two cores: the
# oracle on every op, gradients, graphs and dry runs, what pages and reports say; of the rest the
# cheap part. Left out is what takes a process for each case (the course's grader, confinement), real
# time (calibration, --explain of every kind) or the emulated GPU: those are `make test`'s.
# The longest comes first, so that the others run beside it.
QUICK_ops := ops gradcheck math op_errors conv norm embedding view edges fixtures tensor random
QUICK_engine := autograd adding backward graph tape lifetimes scope storage cache context pool plugin faults
QUICK_layers := layers layers2d layer_contract layer_state layer_sites dry_run dry_cost twins cost \
    init train schedule loader prefetch idx model_text model_text_errors
QUICK_profiler := conventions conventions_tables profile profile_parts preset preset_images session \
    statistics timeline roofline roofline_laws memory_curve memory_report advice_laws leak budget
QUICK_files := safetensors npy checkpoint json json_file memory_json trace_file machine_file tinytorch profile_mlp text
QUICK_course := exercise grading_parts result_json pages
quick: ## the tests that find most, in under a minute once built
	@$(MAKE) --no-print-directory test \
	    TEST='$(QUICK_ops) $(QUICK_engine) $(QUICK_layers) $(QUICK_profiler) $(QUICK_files) $(QUICK_course)'
