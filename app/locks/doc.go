// Package locks reports which thread holds which lock, who waits for it, and where these waits lead:
// to cycles of threads, and to threads that block until a task completes.
//
// A thread's wait is recorded while it waits: in ThreadBlockingInfo since .NET 9, and in Thread::DebugBlockingInfo in all versions. The
// class library builds its other locks on monitors, whose objects refer to them, so these records cover them too. A wait that is concluded
// from a thread's frames is marked as inferred.
//
// Stability: unstable.
package locks
