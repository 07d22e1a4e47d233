// Empty on purpose: the precompiled header of all tests belongs to this file's target
// (proofs-tests/CMakeLists.txt).
