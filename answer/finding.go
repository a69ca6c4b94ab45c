package answer

import (
	"slices"

	"github.com/sosgo/sosgo/target"
)

// A Site is a place in the program where threads or suspended code wait, or which failed.
type Site struct {
	Method Text   // the method of the program, or the class that failed; else zero
	Does   string // what it waits for, by kind and type
	Failed []Text // types of the exceptions that it failed with
	Count  int    // how many wait there; 0 means one
	Thread uint32 // OS id of the waiting thread; 0 for suspended code
}

// FailedSite returns the site of a failure with exceptions. If the list is empty, the exception types are unknown.
func FailedSite(where Text, exceptions []TaskException) Site {
	s := Site{Method: where, Failed: []Text{}}
	for i := range exceptions {
		s.Failed = append(s.Failed, exceptions[i].Type)
	}
	if len(s.Failed) == 0 {
		s.Failed = append(s.Failed, Text{Err: target.ErrNotInDump})
	}
	return s
}

// A FindingKind is the subject of a finding or of a clause.
type FindingKind string

// The kinds of findings. docs/triage.md gives the rank of each and the reason.
const (
	NoFinding          FindingKind = ""                          // of a conclusion that is no finding
	FindingCrash       FindingKind = "crash"                     // the process died, or an exception that nothing catches is under way
	FindingHeap        FindingKind = "damaged heap"              // objects of the heap are damaged
	FindingMemory      FindingKind = "out of memory"             // the GC could not get memory
	FindingDeadlock    FindingKind = "deadlock"                  // threads or suspended code wait for each other without an end
	FindingService     FindingKind = "failed hosted service"     // the ExecuteAsync of a BackgroundService failed
	FindingStarting    FindingKind = "host that is starting"     // a host has begun to start, and has not started
	FindingStopping    FindingKind = "host that is stopping"     // a host has begun to stop, and has not stopped
	FindingStarved     FindingKind = "starved thread pool"       // work waits, and no worker is free because they wait themselves
	FindingPile        FindingKind = "growing queue"             // far more work waits than the pool's workers can take
	FindingInitializer FindingKind = "failed type initializer"   // a static constructor threw an exception
	FindingAbandoned   FindingKind = "abandoned lock"            // the owner of a lock has ended
	FindingExhausted   FindingKind = "exhausted pool"            // all connections of a pool are in use, and code waits for one
	FindingDependency  FindingKind = "silent dependency"         // many requests to a server wait long for a connection or for its answer
	FindingHeld        FindingKind = "held lock"                 // threads wait for a lock that another thread holds
	FindingPermits     FindingKind = "no permits"                // suspended code waits for a semaphore or a rate limiter
	FindingFull        FindingKind = "full queue"                // code waits for room in a channel or a BlockingCollection
	FindingPromises    FindingKind = "promises"                  // suspended code waits for promises that nothing has completed
	FindingCircle      FindingKind = "circle of waits"           // threads wait for each other, and a wait can end by itself
	FindingBlocked     FindingKind = "sync over async"           // a thread blocks until a task completes
	FindingWait        FindingKind = "wait"                      // a thread waits for another thread or a static constructor, or several for one Mutex
	FindingFinalizers  FindingKind = "blocked finalizer"         // the finalizer thread waits while objects wait for it
	FindingEnding      FindingKind = "process that is ending"    // Main has returned, or a thread called Environment.Exit
	FindingSpin        FindingKind = "spinning threads"          // threads run without an end, or wait by running
	FindingThreads     FindingKind = "many threads"              // a hundred and more threads of one method wait at one place
	FindingHandles     FindingKind = "many handles"              // tens of thousands of GC handles refer to objects of one type
	FindingFragmented  FindingKind = "fragmented heap"           // much of a generation is free space between objects
	FindingHolder      FindingKind = "large holder"              // an object holds much of the heap
	FindingNative      FindingKind = "native memory"             // malloc has far more memory than the GC heap
	FindingRedis       FindingKind = "redis backlog"             // commands wait to be sent to a Redis server
	FindingClients     FindingKind = "unshared clients"          // HttpClients with connections of their own are made for each use
	FindingTasks       FindingKind = "failed tasks"              // tasks failed, and nothing has looked at their exceptions
	FindingUnload      FindingKind = "load context that stays"   // an AssemblyLoadContext is unloading and stays alive
	FindingCollisions  FindingKind = "hash collisions"           // many keys of a collection have one hash code
	FindingAssemblies  FindingKind = "many assemblies"           // hundreds of assemblies were made at run time and can't be unloaded
	FindingEntryPoint  FindingKind = "entry point that waits"    // an async Main; no finding of a triage
	FindingPoolKeepsUp FindingKind = "thread pool that keeps up" // no finding of a triage
)

// A Severity is how much harm a finding does.
type Severity string

// The severities of findings, the most severe first.
const (
	SeverityFatal   Severity = "fatal"   // the process died, or can't go on
	SeverityHigh    Severity = "high"    // a part of it can't go on, or nearly no memory is left
	SeverityWarning Severity = "warning" // something is slower or larger than it need be, or failed without harm
)

// A Finding is a problem of the process: what is wrong, who is affected, the evidence, and what to do next.
type Finding struct {
	Kind      FindingKind `json:"kind" doc:"what is wrong: a kind of docs/triage.md"`
	Severity  Severity    `json:"severity" doc:"fatal (the process died or can't go on), high (a part of it can't), warning"`
	Strength  Strength    `json:"strength" doc:"of text: that of the weakest clause that it rests on"`
	Statement             // what is wrong and who is affected, on one line
	// Clauses are the parts of the statement, which may differ in strength: what happened, why, and what follows.
	Clauses []Verdict   `json:"clauses,omitempty" doc:"the statements that it consists of, each with its own strength and evidence"`
	Thread  uint32      `json:"osThreadId,omitempty" doc:"the thread concerned"`
	Object  target.Addr `json:"object,omitempty" doc:"the object concerned"`
	Count   int         `json:"count,omitempty" doc:"how many threads, tasks or objects are concerned alike, if more than one"`
	Next    []string    `json:"next,omitempty" doc:"commands that show more, the best first"`
	Identity
}

// Repeats reports whether the finding's own statement says what c says: it begins with it, or c is a phrase of it.
func (f *Finding) Repeats(c *Verdict) bool {
	says := Arg{Type: ArgPhrase, Value: f.Says}
	for i := range len(f.Args) - len(c.Args) + 1 {
		if i > 0 {
			says = f.Args[i-1]
		}
		if says.Type == ArgPhrase && says.Value == c.Says && slices.EqualFunc(c.Args, f.Args[i:i+len(c.Args)], Arg.same) {
			return true
		}
	}
	return false
}

// A Triage lists the problems of a process, the most severe first.
type Triage struct {
	Gaps
	Findings []Finding      `json:"findings" doc:"what is wrong, the most severe and surest first"`
	Quiet    []string       `json:"quiet" doc:"what was looked at whole without a finding"`
	Unknown  []TriageAbsent `json:"unknown" doc:"what could not be looked at, or not whole"`
}

// A TriageAbsent is a subject that was not checked, or checked only in part.
type TriageAbsent struct {
	Subject string `json:"subject" doc:"what was to be looked at"`
	Partly  bool   `json:"partly,omitempty" doc:"a part of it was looked at: what is missing may be a finding"`
	Moving  bool   `json:"moving,omitempty" doc:"only what a garbage collection in progress was moving is missing: the process is no worse for it, and the exit code is as if nothing was"`
	Reason  string `json:"reason" doc:"why it could not"`
	Settles string `json:"settles,omitempty" doc:"what would settle it: another file or another kind of dump"`

	// Err is the reason as an error.
	Err error `json:"-"`
}
