// Package locks reports which thread holds which lock, which threads and async methods wait for it, and where the
// waits lead: to deadlocks and to threads that block until a task completes.
//
// It does not judge the heap or the thread pool; package triage combines the findings of several packages.
// Start with Waits and Locks (questions.go), then Reader (reader.go). An answer is made in this order (waits.go):
//
//   - What is there. The locks of the heap and of the runtime (find.go, reader.go, mutexes.go, spinlocks.go, limiters.go), what
//     threads wait for (threadwaits.go, taskwaits.go, constructors.go, callbacks.go), and what suspended code waits for
//     (operations.go, taskset.go, queues.go, dataflow.go, iterators.go). A survey has all of it.
//   - Who has it. The code that has entered a semaphore (holders.go, leases.go, channelpools.go), which the IL says, and
//     whether a lock's recorded owner has it (entered.go).
//   - Who could end a wait: completers.go, takers.go, consumers.go, dependents.go, ends.go, with the code that can still run
//     (internal/reach) and what references lead to (references.go).
//   - What moves. Each conclusion that names a holder asks a course, which follows who waits for whom up to what goes on by
//     itself: moves.go, onward.go, turns.go, sections.go, pauses.go, asks.go, ages.go.
//   - The conclusions, by kind: circles of waits (threadcircles.go, rings.go, crossings.go, standstill.go), held locks
//     (held.go), missing permits (operationwaits.go, permits.go, closed.go), waits that nothing ends (failures.go, lost.go,
//     lostpulses.go, nobodytakes.go, unreached.go), meetings at barriers (meetings.go), waits for other processes
//     (outsiders.go), threads that run for ever (threadgroups.go, loopends.go, spinners.go, circles.go, searches.go, regexes.go).
//   - What is no finding: waits of a process without work (normalwaits.go, services.go), and waits that can't be judged
//     without the program's IL (blind.go, unjudged.go).
//
// The runtime records a thread's wait while it waits: in ThreadBlockingInfo since .NET 9, and in
// Thread::DebugBlockingInfo in all versions. The class library builds its other locks on monitors, so these records
// cover them too. A wait that is concluded from a thread's frames is marked as inferred.
package locks
