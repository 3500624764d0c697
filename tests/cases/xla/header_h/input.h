// A list in the form of the compiler's own, with two rows that differ from it and most missing.
#define XLA_ERROR_CODE_LIST(X) \
  X("E1001", CompileTimeScopedVmemOom, absl::StatusCode::kResourceExhausted)  \
  X("E2001", CompileTimeMosaicUnsupportedRhsType,                             \
    absl::StatusCode::kInternal)                                              \
  X("E9001", CompileTimePondDry, absl::StatusCode::kOutOfRange)
