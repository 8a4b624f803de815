// The source of DTCPrecompiled, whose headers CMakeLists.txt beside it names.
