// Package locks says who holds which lock, who waits for it, and where these waits lead: circles of threads, and threads that
// block until a task completes.
//
// What a thread waits for is noted by the runtime while it waits: ThreadBlockingInfo since .NET 9, Thread::DebugBlockingInfo in
// all versions. The class library's other locks are made of monitors, whose objects they refer to, so that those notes tell of
// them too. Where nothing is noted, what follows from the frames of a thread is marked as inferred.
package locks
