# Helpers for the folders of Nereid.

set(NEREID_WARNINGS -Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
if(PROJECT_IS_TOP_LEVEL)
  set(NEREID_WARNINGS -Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 reports bounds of inlined std::string and std::vector code that cannot be exceeded (GCC bugs 105329,
  # 105651, 107852).
  list(APPEND NEREID_WARNINGS -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
endif()

if(NEREID_UNITY)
  # Of several files at once: lambdas of class templates that capture types of their file, and values that are
  # set whenever they are read but not where the optimiser sees it.
  list(APPEND NEREID_WARNINGS -Wno-subobject-linkage -Wno-maybe-uninitialized)
endif()

# What every target of ours is compiled with.
function(nereid_compile_options target)
  target_compile_options(${target} PRIVATE ${NEREID_WARNINGS} -fvisibility=hidden -fvisibility-inlines-hidden)
  target_compile_options(${target} PRIVATE ${NEREID_DEFAULT_OPTIMISATION})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  if(NEREID_SANITIZE)
    # Not vptr: it needs the type information that code beside LLVM is compiled without, and takes the constructor
    # of std::make_shared_for_overwrite's control block for an object of another type.
    target_compile_options(${target} PUBLIC -fsanitize=${NEREID_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${NEREID_SANITIZE})
  endif()
endfunction()

# nereid_unity(target): its files may be compiled several at once; names that are local to one must not clash.
function(nereid_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${NEREID_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# nereid_cold(target): code that runs once for a command or a kernel, and whose time is not seen beside LLVM's:
# half of the optimiser's work.
function(nereid_cold target)
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
endfunction()

# nereid_library(NAME source...): the static library nereid_NAME.
function(nereid_library name)
  add_library(nereid_${name} STATIC ${ARGN})
  nereid_compile_options(nereid_${name})
  nereid_unity(nereid_${name})
  target_link_libraries(nereid_${name} PUBLIC fmt::fmt)
endfunction()

# nereid_use_llvm(target): link LLVM's shared library; its headers are system headers with LLVM's own flags.
function(nereid_use_llvm target)
  target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS
                                               __STDC_LIMIT_MACROS)
  target_compile_options(${target} PRIVATE -fno-rtti)
  target_link_libraries(${target} PUBLIC LLVM)
endfunction()

# nereid_executable(target source...): a program that exports nothing but main, so that another LLVM opened
# at run time cannot bind to the weak symbols of the one that is linked.
function(nereid_executable target)
  add_executable(${target} ${ARGN})
  nereid_compile_options(${target})
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
endfunction()

# nereid_test(NAME source... ): the GoogleTest program test_NAME; link libraries with target_link_libraries.
function(nereid_test name)
  nereid_executable(test_${name} ${ARGN})
  target_link_libraries(test_${name} PRIVATE GTest::gtest_main)
  gtest_discover_tests(test_${name} PROPERTIES TIMEOUT 600 DISCOVERY_TIMEOUT 60)
endfunction()
