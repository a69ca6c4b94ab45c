package words

import (
	"slices"
	"sync"

	"github.com/sosgo/sosgo/answer"
)

// Sets of premises that several kinds of conclusions rest on.
var (
	recorded  = []answer.Premise{} // nothing but what the dump records
	onHeap    = []answer.Premise{answer.NoCollection}
	wholeHeap = []answer.Premise{answer.HeapWhole, answer.NoCollection}
	reachable = []answer.Premise{answer.HeapWhole, answer.NoCollection, answer.RootsRead}
	queue     = []answer.Premise{answer.NoCollection, answer.ListComplete}
	stacks    = []answer.Premise{answer.StackComplete}
	frames    = []answer.Premise{answer.StackComplete, answer.CodeFound}
	il        = []answer.Premise{answer.StackComplete, answer.CodeFound, answer.FilesThere}
	threads   = []answer.Premise{answer.ThreadsListed, answer.AllStacks}
	workers   = []answer.Premise{answer.ThreadsListed, answer.AllStacks, answer.ListComplete, answer.NoCollection}
	waits     = []answer.Premise{answer.ThreadsListed, answer.StackComplete, answer.TablesWhole, answer.NoCollection}
	variables = []answer.Premise{answer.StackComplete, answer.HeapWhole, answer.NoCollection, answer.CodeFound}
)

// Suspended lists the premises of conclusions about suspended code: all of it is on the heap.
var Suspended = []answer.Premise{answer.HeapWhole, answer.NoCollection, answer.CodeFound}

// Searched lists the premises of conclusions that no code which can still run leads somewhere: it may be on a stack, or in an object of the heap.
var Searched = slices.Concat(waits, []answer.Premise{answer.AllStacks, answer.HeapWhole, answer.CodeFound, answer.FilesThere})

// conclusions lists what each kind of conclusion rests on. The rooms that conclude add what a single conclusion rests on besides.
var conclusions = []struct {
	rests []answer.Premise
	kinds []*Sentence
}{
	// A record, a flag or a counter of the process says it. Sentences that leave a question open rest on nothing either.
	{recorded, []*Sentence{CantBeJudged, MadeAssemblies,
		SignalSentItself, SignalKilled, SignalFromOutside, SignalFromProcess, SignalAlone, ExceptionCode, OnDemand, RecordMissing, RecordUnread, RecordMissingBut, RecordUnreadBut, OwnReason,
		ReasonAborted, ReasonSegment, ReasonBus, ReasonAlignment, ReasonShrank, ReasonArithmetic, ReasonIllegal, ReasonQuit, ReasonTrap,
		ReasonKilled, ReasonSeccomp, ReasonNoAddress, ReasonManaged, ReasonAccess, ReasonInPage, ReasonCPP, ReasonParameter, ReasonCParameter,
		ReasonPrivileged, ReasonOverflow, ReasonFastFail, ReasonFailFast, ReasonNativeHeap, ReasonDivided, ReasonBreakpoint, ReasonStep,
		ReasonEngine, ReasonReport, ReasonNoSignal, ReasonNoneMarked,
		OwnRecord, Accessed, MappingFailed, SentFault, RaisedException, Faulted, FatalError, FatalMessage, CrashUnknown, CauseUnknown, ReportException,
		PoolUnknown, PoolUncounted, MayKeepUp, WorkersUnknown,
		KeeperUnknown, UnreachedReadable, HoldersUnread, LeakMayHide, RootsUnproved, TypesNameless, LittleRead,
		InitializerFailed, AllocationFailed, BudgetUsedUp, HeapLimit, Follows, FollowsAbout, UsuallyMeans}},

	// The objects that it names are read from the heap. More such objects would not refute it.
	{onHeap, []*Sentence{RefersToAllocator, NotCaught, AbortedHandling, FailedCommand, FailedTask, FailedAlike, AsyncVoid, OfClassFailed, ServiceFailed, HostStopping, HostStartWaits, ClientsUnshared,
		OneHashCode, Collisions, TimerOverlaps, Overwritten, EndsBefore, AwaitFinalizer, BlocksOf, HandlesOf, BlocksOfArrays, HandlesOfArrays}},
	{append(slices.Clip(queue), answer.StackComplete), []*Sentence{ItemsSignal, BehindLock}},
	{append(slices.Clip(onHeap), answer.StackComplete), []*Sentence{OutsideSilent, OutputUnread}},
	{queue, []*Sentence{AbandonedWaiters, RedisSilent, DatabaseSilent, DatabaseUnopened, ServerSilent, ServerUnopened, Backlog, OneInBacklog, WaitForConnection, RequestsWait, PoolWithoutWork}},

	// An object that is missing, or a root, would change the numbers or refute it.
	{wholeHeap, []*Sentence{Fragmented, NativeMemory}},
	{reachable, []*Sentence{Interned, Holder, Holders, WeakHandles, Timers, TimersAtLeast, Delays, Handlers, ContextStays, ItIsKept,
		IsGarbage, GarbageUntil, UnreachedFrozen, OnlyStacks, NoPathForCollection, CanBeUnloaded, LittleLives, HeapSmall, NoProofOfLeak, NoHolder}},
	{[]answer.Premise{answer.HeapAtRest, answer.HeapWhole, answer.NoGap}, []*Sentence{DamagedHeap}},
	{append(slices.Clip(reachable), answer.CodeFound), []*Sentence{Forgotten, Unended}},
	{[]answer.Premise{answer.HandlesRead}, []*Sentence{ManyHandles}},
	{[]answer.Premise{answer.HandlesRead, answer.NoCollection}, []*Sentence{PinnedObjects}},

	// Frames, code and variables show it.
	{stacks, []*Sentence{Overflowed, FailFast, AssertionFailed, FinalizerDoes, CalledExit, RunsExit}},
	{frames, []*Sentence{ThreadRuns, ManyThreads, NeverEnds, ThreadsRun, ThreadsRan}},
	{append(slices.Clip(frames), answer.NoCollection), []*Sentence{HostStartsOn, Matches}}, // and objects of the heap
	{il, []*Sentence{FollowsLoop, ThreadSpins, ThreadsSpin}},
	{append(slices.Clip(il), answer.NoCollection), []*Sentence{GoesRound, GoesRoundOr, SearchesRound, FollowsCircle}},
	{[]answer.Premise{answer.CodeFound}, []*Sentence{JumpedTo, CodeFaulted, TouchesNone, MethodReturns, ReturnLed}},
	{[]answer.Premise{answer.CodeFound, answer.FilesThere}, []*Sentence{NullUses}},
	{variables, []*Sentence{InHandsOf, CallsWaitIn, ServedSilent, ServedWait, CodeSilent}},

	// Another thread could refute it.
	{[]answer.Premise{answer.ThreadsListed}, []*Sentence{NoCrash}},
	{append(slices.Clip(Suspended), answer.ThreadsListed, answer.AllStacks), []*Sentence{HostNotStarted}},
	{threads, []*Sentence{Aborted, AbortedWith, MainReturned, MainReturnedBut}},
	{workers, []*Sentence{PilesUpThoughFree, PilesUp, KeepsUp, Starved, NearlyStarved, PoolBusy}},
	{waits, []*Sentence{MonitorDeadlock, MonitorCircle, Deadlock, CircleOfWaits, ContextDeadlock, SchedulerDeadlock, SyncOverAsync, EntryWaits, OtherWait, HeldLock, SameHandle,
		FullCollection, FullSemaphore}},
	{Searched, []*Sentence{Meeting, LostPulse, WaitersFor, TakenAgain, TakenAgainMany}},
	{slices.Concat(waits, []answer.Premise{answer.HeapAtRest}), []*Sentence{Unheld}}, // a collector at work leaves no lock behind

	// Other suspended code could refute it.
	{Suspended, []*Sentence{OperationsWait, OnePromise, ChainBehind, Unanswered, AwaitsItself, AwaitRing, Reentered, ReenteredMany, ClosedPermits, LeasedAgain, LeasedAgainMany}},
	{waits, []*Sentence{ThreadReenters}},
}

// restsOn returns the premises of conclusions by kind.
var restsOn = sync.OnceValue(func() map[string][]answer.Premise {
	out := map[string][]answer.Premise{}
	for _, row := range conclusions {
		for _, s := range row.kinds {
			out[s.says] = row.rests
		}
	}
	return out
})
