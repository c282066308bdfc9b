sircl_test(schedule_builders unit SOURCES schedule_builders.cpp LINK sircl_internal)
sircl_test(schedule_checker unit SOURCES schedule_checker.cpp LINK sircl_internal)
sircl_test(schedule_cost unit SOURCES schedule_cost.cpp LINK sircl_internal)
sircl_test(schedule_placed unit SOURCES schedule_placed.cpp LINK sircl_internal)
