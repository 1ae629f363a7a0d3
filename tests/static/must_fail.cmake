# The first line of SOURCE says what must happen:
#   // does not compile: REGEX     the compiler refuses it, and its message matches REGEX
#   // compiles                    the control: proof that the others fail for their own reason
file(STRINGS "${SOURCE}" lines LIMIT_COUNT 1)
set(ENV{LC_ALL} C)
execute_process(
  COMMAND "${COMPILER}" -std=c++20 -fsyntax-only -Wall -Wextra -Wconversion -Werror "-I${INCLUDE}" "${SOURCE}"
  RESULT_VARIABLE status ERROR_VARIABLE message OUTPUT_VARIABLE message)
if(lines MATCHES "^// does not compile: (.+)$")
  set(expected "${CMAKE_MATCH_1}")
  if(status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} compiles, and must not")
  elseif(NOT message MATCHES "${expected}")
    message(FATAL_ERROR "${SOURCE} fails for another reason than '${expected}':\n${message}")
  endif()
elseif(lines MATCHES "^// compiles")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} must compile:\n${message}")
  endif()
else()
  message(FATAL_ERROR "${SOURCE}: the first line must say what is expected")
endif()
