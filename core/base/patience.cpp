#include "core/base/patience.h"

#include <utility>

namespace tallyfs {
namespace {

thread_local const Patience::Ended* current = nullptr;

}  // namespace

Patience::Patience(Ended ended) : ended_(std::move(ended)) { current = &ended_; }

Patience::~Patience() { current = nullptr; }

bool Patience::has_ended() { return current && (*current)(); }

}  // namespace tallyfs
