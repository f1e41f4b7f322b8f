// How a long kernel is told to give up: the caller keeps a byte, the kernel looks at it now and
// then.
#pragma once

#include <cstdint>

namespace anonymatch {

/// A read-only view of the caller's cancel byte; a default-made one never cancels.
class CancelFlag {
public:
    CancelFlag() = default;
    explicit CancelFlag(const std::uint8_t* flag) : flag_(flag) {}

    [[nodiscard]] bool raised() const noexcept {
        return flag_ != nullptr && __atomic_load_n(flag_, __ATOMIC_RELAXED) != 0;
    }

private:
    const std::uint8_t* flag_ = nullptr;
};

}  // namespace anonymatch
