#include "CLifelineTesting.h"

/// Asked by ThreadSanitizer, where a test is built with it.
///
/// A continuation that another thread resumes in the moment before its task has suspended is reported as a race: the runtime orders the
/// two by an atomic, but it isn't instrumented. Only reports whose innermost function is that of the continuation itself are left out.
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void) {
    return "race_top:withUnsafeThrowingContinuation\n"
           "race_top:withUnsafeContinuation\n";
}
