sircl_test(schedule_builders unit SOURCES unit/schedule_builders.cpp LINK sircl_internal)
sircl_test(schedule_checker unit SOURCES unit/schedule_checker.cpp LINK sircl_internal)
sircl_test(schedule_cost unit SOURCES unit/schedule_cost.cpp LINK sircl_internal)
