package triage

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
)

// severities lists the severities of findings, the most severe first.
var severities = []answer.Severity{answer.SeverityFatal, answer.SeverityHigh, answer.SeverityWarning}

// A ranked is a kind of findings with its severity and the commands that show more. docs/triage.md explains the order.
type ranked struct {
	kind     answer.FindingKind
	severity answer.Severity
	next     []string
}

// ranks lists the kinds of findings. Within a severity, earlier kinds come first.
var ranks = []ranked{
	{answer.FindingCrash, answer.SeverityFatal, []string{"crashinfo"}},
	{answer.FindingDeadlock, answer.SeverityFatal, []string{"waits", "locks"}},
	{answer.FindingHeap, answer.SeverityFatal, []string{"verifyheap"}},
	{answer.FindingService, answer.SeverityHigh, []string{"host"}},
	{answer.FindingStopping, answer.SeverityHigh, []string{"host"}},
	{answer.FindingStarved, answer.SeverityHigh, []string{"threadpool -wi", "waits"}},
	{answer.FindingExhausted, answer.SeverityHigh, []string{"sqlpools"}},
	{answer.FindingRedis, answer.SeverityHigh, []string{"redis"}},
	{answer.FindingDependency, answer.SeverityHigh, []string{"httpclients"}},
	{answer.FindingPermits, answer.SeverityHigh, []string{"waits"}},
	{answer.FindingFull, answer.SeverityHigh, []string{"waits"}},
	{answer.FindingPromises, answer.SeverityHigh, []string{"waits"}},
	{answer.FindingInitializer, answer.SeverityHigh, []string{"initializers"}},
	{answer.FindingAbandoned, answer.SeverityHigh, []string{"locks"}},
	{answer.FindingMemory, answer.SeverityHigh, []string{"analyzeoom", "leaks"}},
	{answer.FindingPile, answer.SeverityHigh, []string{"threadpool -wi"}},
	{answer.FindingHeld, answer.SeverityHigh, []string{"waits", "locks"}},
	{answer.FindingCircle, answer.SeverityHigh, []string{"waits"}},
	{answer.FindingFinalizers, answer.SeverityHigh, []string{"finalizequeue", "clrstack -all"}},
	{answer.FindingStarting, answer.SeverityWarning, []string{"host"}},
	{answer.FindingEnding, answer.SeverityWarning, []string{"crashinfo", "clrstack -all"}},
	{answer.FindingSpin, answer.SeverityWarning, []string{"clrstack -all"}},
	{answer.FindingBlocked, answer.SeverityWarning, []string{"waits", "dumpasync"}},
	{answer.FindingWait, answer.SeverityWarning, []string{"waits"}},
	{answer.FindingThreads, answer.SeverityWarning, []string{"waits", "clrstack -all"}},
	{answer.FindingHandles, answer.SeverityWarning, []string{"gchandles -stat", "gchandles -retained"}},
	{answer.FindingFragmented, answer.SeverityWarning, []string{"waste", "gchandles -type Pinned"}},
	{answer.FindingHolder, answer.SeverityWarning, []string{"leaks"}},
	{answer.FindingCollisions, answer.SeverityWarning, []string{"leaks"}},
	{answer.FindingNative, answer.SeverityWarning, []string{"memory -malloc"}},
	{answer.FindingUnload, answer.SeverityWarning, []string{"contexts"}},
	{answer.FindingAssemblies, answer.SeverityWarning, []string{"contexts", "memory"}},
	{answer.FindingClients, answer.SeverityWarning, []string{"httpclients"}},
	{answer.FindingTasks, answer.SeverityWarning, []string{"tasks -faulted"}},
}

// normal lists the kinds of verdicts that are not findings.
var normal = []answer.FindingKind{answer.NoFinding, answer.FindingEntryPoint, answer.FindingPoolKeepsUp}

// place returns the index of a kind in ranks. An unknown kind comes last.
func place(kind answer.FindingKind) int {
	if i := slices.IndexFunc(ranks, func(r ranked) bool { return r.kind == kind }); i >= 0 {
		return i
	}
	return len(ranks)
}

func severityOf(kind answer.FindingKind) answer.Severity {
	if i := place(kind); i < len(ranks) {
		return ranks[i].severity
	}
	return answer.SeverityWarning
}

func next(kind answer.FindingKind) []string {
	if i := place(kind); i < len(ranks) {
		return slices.Clone(ranks[i].next)
	}
	return nil
}
