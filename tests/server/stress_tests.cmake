# The daemon under stress: crashes, hostile clients, overhead. The real binary on loopback and unix
# sockets, bounded in count and time; docs/benchmarks/daemon.md has the full runs and how to repeat
# them. Two of them at once would measure each other.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND AND TARGET cuzk AND TARGET cuzk_server)
  set(sanitized "")
  if(CUZK_SANITIZE)
    set(sanitized --sanitized)
  endif()
  foreach(test crash abuse overhead)
    add_test(NAME server/stress_${test}
             COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/stress_${test}.py
                     $<TARGET_FILE:cuzk> ${sanitized})
    set_tests_properties(server/stress_${test} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77
                                                          RESOURCE_LOCK stress)
  endforeach()
  set_tests_properties(server/stress_crash server/stress_abuse server/stress_overhead
                       PROPERTIES LABELS quick)
endif()
