package answer

import (
	"slices"

	"github.com/sosgo/sosgo/target"
)

// How strong a Verdict is.
const (
	StrengthRecorded = "recorded" // the dump says it
	StrengthProved   = "proved"   // it follows from what the dump says
	StrengthLikely   = "likely"   // it follows from names, or from what is usual
	StrengthPossible = "possible" // nothing speaks against it, and little for it
	StrengthUnknown  = "unknown"  // the dump does not record it
)

// strengths are those of verdicts, the strongest first.
var strengths = []string{StrengthRecorded, StrengthProved, StrengthLikely, StrengthPossible, StrengthUnknown}

// Weakest returns the weakest of several strengths. A conclusion is no stronger than what it rests on. No strength at all, or a word that is
// none, is StrengthUnknown.
func Weakest(list ...string) string {
	at := -1
	for _, s := range list {
		n := slices.Index(strengths, s)
		if n < 0 {
			n = len(strengths) - 1
		}
		at = max(at, n)
	}
	if at < 0 {
		return StrengthUnknown
	}
	return strengths[at]
}

// CompareStrength returns a negative number if a is stronger than b, 0 if they are equally strong, and a positive number otherwise.
func CompareStrength(a, b string) int {
	return slices.Index(strengths, Weakest(a)) - slices.Index(strengths, Weakest(b))
}

// A Verdict is a statement about a process with what it is concluded from.
type Verdict struct {
	Kind     string   `json:"kind,omitempty" doc:"what it is about, a kind of finding; absent for a statement that is no finding"`
	Text     string   `json:"text" doc:"the statement"`
	Strength string   `json:"strength" doc:"recorded (in the dump), proved (it follows), likely (from names or custom), possible (little speaks for it), unknown (not in the dump)"`
	Evidence []string `json:"evidence,omitempty" doc:"what it is concluded from"`
	Count    int      `json:"count,omitempty" doc:"how many threads or operations it is about alike, if more than one"`
	Show     []string `json:"show,omitempty" doc:"commands that show the evidence"`

	// Sites are the places in the program that the statement is about. The signature of a finding is made of them. Those of a circle of waits are
	// in its order; those of other statements are in any.
	Sites []Site `json:"-"`

	// Thing names what the threads of Sites wait for, where all of them wait for one lock or handle.
	Thing string `json:"-"`
}

// A Site is a place in the program where threads or suspended code stand, or that failed.
type Site struct {
	Method Text   // the method of the program, or the class that failed; zero if there is none
	Does   string // what it waits for, by kind and type
	Failed []Text // types of the exceptions that it failed with
	Count  int    // how many stand there; 0 is one
	Thread uint32 // the OS id of the thread that stands there; 0 for suspended code
}

// FailedSite returns the site of what failed with exceptions. Without exceptions their types are unknown.
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

// The kinds of findings. docs/triage.md has the rank of each with its reason.
const (
	FindingCrash       = "crash"                     // the process died, or an exception that nothing catches is under way
	FindingHeap        = "damaged heap"              // objects of the heap are damaged
	FindingMemory      = "out of memory"             // the GC could not get memory
	FindingDeadlock    = "deadlock"                  // threads or suspended code wait for each other without an end
	FindingService     = "failed hosted service"     // the ExecuteAsync of a BackgroundService failed
	FindingStopping    = "host that is stopping"     // a host has begun to stop, and has not stopped
	FindingStarved     = "starved thread pool"       // work waits, and no worker is free because they wait themselves
	FindingPile        = "growing queue"             // far more work waits than the pool's workers can take
	FindingInitializer = "failed type initializer"   // a static constructor threw an exception
	FindingAbandoned   = "abandoned lock"            // the owner of a lock has ended
	FindingExhausted   = "exhausted pool"            // all connections of a pool are in use, and code waits for one
	FindingHeld        = "held lock"                 // threads wait for a lock that another thread holds
	FindingPermits     = "no permits"                // suspended code waits for a semaphore, a channel or a rate limiter
	FindingPromises    = "promises"                  // suspended code waits for promises that nothing has completed
	FindingCircle      = "circle of waits"           // threads wait for each other, and a wait can end by itself
	FindingBlocked     = "sync over async"           // a thread blocks until a task completes
	FindingWait        = "wait"                      // a thread waits for another thread or a static constructor, or several for one Mutex
	FindingFinalizers  = "blocked finalizer"         // the finalizer thread waits while objects wait for it
	FindingSpin        = "spinning threads"          // threads run without an end, or wait by running
	FindingThreads     = "many threads"              // a hundred and more threads of one method wait at one place
	FindingHandles     = "many handles"              // tens of thousands of GC handles refer to objects of one type
	FindingFragmented  = "fragmented heap"           // much of a generation is free space between objects
	FindingHolder      = "large holder"              // an object holds much of the heap
	FindingNative      = "native memory"             // malloc has far more memory than the GC heap
	FindingRedis       = "redis backlog"             // commands wait to be sent to a Redis server
	FindingClients     = "unshared clients"          // HttpClients with connections of their own are made for each use
	FindingTasks       = "failed tasks"              // tasks failed, and nothing has looked at their exceptions
	FindingUnload      = "load context that stays"   // an AssemblyLoadContext is unloading and stays alive
	FindingEntryPoint  = "entry point that waits"    // an async Main; no finding of a triage
	FindingPoolKeepsUp = "thread pool that keeps up" // no finding of a triage
)

// The severities of findings, the most severe first.
const (
	SeverityFatal   = "fatal"   // the process died, or can't go on
	SeverityHigh    = "high"    // a part of it can't go on, or nearly no memory is left
	SeverityWarning = "warning" // something is slower or larger than it need be, or failed without harm
)

// A Finding is something about a process that a person should know: what is wrong, who is concerned, how that is known, and how to go on.
type Finding struct {
	Kind     string `json:"kind" doc:"what is wrong: a kind of docs/triage.md"`
	Severity string `json:"severity" doc:"fatal (the process died or can't go on), high (a part of it can't), warning"`
	Text     string `json:"text" doc:"what is wrong, and who is concerned, in a line"`
	Strength string `json:"strength" doc:"of text: that of the weakest clause that it rests on"`
	// Clauses are statements of different strengths: what happened, why, and what follows.
	Clauses []Verdict   `json:"clauses,omitempty" doc:"the statements that it consists of, each with its own strength and evidence"`
	Thread  uint32      `json:"osThreadId,omitempty" doc:"the thread concerned"`
	Object  target.Addr `json:"object,omitempty" doc:"the object concerned"`
	Count   int         `json:"count,omitempty" doc:"how many threads, tasks or objects are concerned alike, if more than one"`
	Next    []string    `json:"next,omitempty" doc:"commands that show more, the best first"`
	Identity
}

// A Triage lists what is wrong with a process, the most severe first.
type Triage struct {
	Gaps
	Findings []Finding      `json:"findings" doc:"what is wrong, the most severe and surest first"`
	Quiet    []string       `json:"quiet" doc:"what was looked at whole without a finding"`
	Unknown  []TriageAbsent `json:"unknown" doc:"what could not be looked at, or not whole"`
}

// A TriageAbsent is a subject that a triage could not look at, or not whole.
type TriageAbsent struct {
	Subject string `json:"subject" doc:"what was to be looked at"`
	Partly  bool   `json:"partly,omitempty" doc:"a part of it was looked at: what is missing may be a finding"`
	Reason  string `json:"reason" doc:"why it could not"`
	Settles string `json:"settles,omitempty" doc:"what would settle it: another file or another kind of dump"`

	// Err is the reason as an error.
	Err error `json:"-"`
}
