# exercises/instructor/rules.mk -- what instructors run over a class, and what grades the grader;
# neither is handed out.
.PHONY: instructor course-secret grade grade-all answers similar report exercise-tables handout \
        gradescope grader-selftest check-exercise

INSTRUCTOR := $(BUILD)/instructor
SELFTEST := $(BUILD)/exercises/selftest/selftest
INSTRUCTOR_SOURCES := $(wildcard exercises/instructor/*.c)
SELFTEST_SOURCES := $(wildcard exercises/selftest/*.c)
SOURCES += $(INSTRUCTOR_SOURCES) $(SELFTEST_SOURCES)
$(INSTRUCTOR): $(call objects,$(INSTRUCTOR_SOURCES)) $(EXERCISES) $(LIBRARY)
$(SELFTEST): $(call objects,$(SELFTEST_SOURCES)) $(EXERCISES) $(LIBRARY)
$(INSTRUCTOR) $(SELFTEST):
	$(call link,$(LIBS))

SECRET := $(or $(RIDGEPOINT_COURSE_SECRET_FILE),$(wildcard exercises/.secret))
instructor: $(INSTRUCTOR)
course-secret: $(INSTRUCTOR) ## make the course's secret, on which hidden numbers depend
	@$(INSTRUCTOR) secret $(or $(RIDGEPOINT_COURSE_SECRET_FILE),exercises/.secret)
grade: $(INSTRUCTOR) $(LAB_PROGRAM) ## grade SUBMISSION=PATH; OUTPUT=, STUDENT=
	@$(INSTRUCTOR) grade '$(SUBMISSION)' $(OUTPUT:%=--output '%') $(STUDENT:%=--student '%') \
	    $(SECRET:%=--secret '%')
grade-all: $(INSTRUCTOR) $(LAB_PROGRAM) ## grade a class, SUBMISSIONS=DIR; OUTPUT=, ROSTER=, WRITTEN=, AGAIN=1
	@$(INSTRUCTOR) grade-all '$(SUBMISSIONS)' $(OUTPUT:%=--output '%') $(ROSTER:%=--roster '%') \
	    $(if $(WRITTEN),--written '$(WRITTEN)') $(if $(ASSIGNMENT),--assignment '$(ASSIGNMENT)') \
	    $(SECRET:%=--secret '%') $(if $(AGAIN),--again)
answers: $(INSTRUCTOR) ## keys to hand out, and what each has to answer by hand; ROSTER=FILE or names, OUTPUT=
	@$(INSTRUCTOR) answers '$(ROSTER)' $(OUTPUT:%=--output '%') $(SECRET:%=--secret '%')
similar: $(INSTRUCTOR) ## pairs that share more than the class does, SUBMISSIONS=DIR
	@$(INSTRUCTOR) similar '$(SUBMISSIONS)'
report: $(INSTRUCTOR) ## how cases did and which misconceptions are about, GRADES=DIR
	@$(INSTRUCTOR) report '$(GRADES)'
exercise-tables: $(INSTRUCTOR) ## write minutes and points into exercises/README.md and INSTRUCTOR.md
	@$(INSTRUCTOR) tables exercises/README.md
	@$(INSTRUCTOR) tables exercises/INSTRUCTOR.md
handout: ## build/handout.tar.gz: what students get, verified
	@exercises/instructor/handout
gradescope: ## build/autograder.zip
	@exercises/instructor/gradescope build/autograder.zip $(SECRET)
grader-selftest: $(SELFTEST) lab-parts ## grade the grader; QUICK=1, ONLY=02
	@$(SELFTEST) $(if $(QUICK),--quick) $(ONLY:%=--only %)
check-exercise: $(SELFTEST) lab-parts ## add the exercise of exercises/INSTRUCTOR.md to a copy, and grade it
	@$(TOOLS)/check_exercise
