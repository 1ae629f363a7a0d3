// doctest's main takes seconds to compile, so it is compiled once and shared by every test program.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
