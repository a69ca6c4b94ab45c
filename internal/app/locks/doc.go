// Package locks reports which thread holds which lock, which threads and async methods wait for it, and where the
// waits lead: to deadlocks and to threads that block until a task completes.
//
// It does not judge the heap or the thread pool; package triage combines the findings of several packages.
// Start with Waits and Locks (questions.go), then Reader (reader.go).
//
// The runtime records a thread's wait while it waits: in ThreadBlockingInfo since .NET 9, and in
// Thread::DebugBlockingInfo in all versions. The class library builds its other locks on monitors, so these records
// cover them too. A wait that is concluded from a thread's frames is marked as inferred.
package locks
