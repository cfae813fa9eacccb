#include "feeders/client/fork_handlers.h"

#include "feeders/client/errno_guard.h"

namespace tallyfs {
namespace {

CellFiles::Interrupted interrupted(const ThreadBuffer* own) {
  using Interrupted = CellFiles::Interrupted;
  return own && own->is_in_file() ? Interrupted::kCall : Interrupted::kNoCall;
}

}  // namespace

void ForkHandlers::before(const ThreadBuffer* own) {
  its_.mutex.lock();
  its_.samples.cell_files().before_fork(interrupted(own));
  its_.buffers.lock_all();
}

void ForkHandlers::after_in_parent(const ThreadBuffer* own) {
  its_.samples.cell_files().after_fork_in_parent(interrupted(own));
  its_.buffers.unlock_all();
  its_.mutex.unlock();
}

void ForkHandlers::after_in_child(ThreadBuffer* own) {
  its_.buffers.reset_in_child(own);
  its_.inherited.fall_asleep(its_.registry);
  its_.samples.cell_files().abandon(interrupted(own));
  if (own && own->is_in_file()) own->expect_parents_call();
  its_.samples.reset_in_child();
  its_.delivery.reset_in_child();
  its_.progress.reset_in_child();
  its_.replay.reset_in_child();
  its_.registrar.inherit();
  its_.publisher.inherit();
  its_.events.reset_in_child();
  its_.changes.reset_in_child();
  its_.reports.clear();
  its_.connection.reset_in_child();
  its_.upkeep.has_rung = false;
  its_.thread.reset_in_child();
  its_.mutex.unlock();
}

void ForkHandlers::wake_up_in_child() {
  if (!its_.inherited.may_be_asleep()) [[likely]]
    return;
  const ErrnoGuard guard;
  its_.thread.start();
  const MutexLock lock(its_.mutex);
  its_.inherited.restore(its_.registry);
}

}  // namespace tallyfs
