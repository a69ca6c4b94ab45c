package tasks

import (
	"fmt"
	"math/bits"
	"strings"
)

// Flags are the field m_stateFlags of a task. The framework keeps in its low half how the task was created, and in its high
// half what happened to it. The numbers are those of System.Threading.Tasks.Task in all versions from .NET Framework 4.5 to
// .NET 11: constants up to .NET 6, the enumeration TaskStateFlags since .NET 7.
type Flags uint32

// The flags that say what happened to a task.
const (
	FlagStarted                   Flags = 0x10000
	FlagDelegateInvoked           Flags = 0x20000
	FlagDisposed                  Flags = 0x40000
	FlagExceptionObservedByParent Flags = 0x80000
	FlagCancellationAcknowledged  Flags = 0x100000
	FlagFaulted                   Flags = 0x200000
	FlagCanceled                  Flags = 0x400000
	FlagWaitingOnChildren         Flags = 0x800000
	FlagRanToCompletion           Flags = 0x1000000
	FlagWaitingForActivation      Flags = 0x2000000
	FlagCompletionReserved        Flags = 0x4000000
	FlagWaitCompletionNotified    Flags = 0x10000000
	FlagExecutionContextIsNull    Flags = 0x20000000
	FlagTaskScheduledWasFired     Flags = 0x40000000
)

// flagNames are the names of the bits: of Task.CreationOptions and of the internal options that share their half, then of
// the states.
var flagNames = [32]string{
	0: "PreferFairness", 1: "LongRunning", 2: "AttachedToParent", 3: "DenyChildAttach", 4: "HideScheduler", 6: "RunContinuationsAsynchronously",
	9: "ContinuationTask", 10: "PromiseTask", 11: "HiddenState", 12: "LazyCancellation", 13: "QueuedByRuntime", 14: "DoNotDispose",
	16: "Started", 17: "DelegateInvoked", 18: "Disposed", 19: "ExceptionObservedByParent", 20: "CancellationAcknowledged", 21: "Faulted", 22: "Canceled",
	23: "WaitingOnChildren", 24: "RanToCompletion", 25: "WaitingForActivation", 26: "CompletionReserved", 28: "WaitCompletionNotification",
	29: "ExecutionContextIsNull", 30: "TaskScheduledWasFired",
}

// The values of System.Threading.Tasks.TaskStatus.
const (
	Created                      = "Created"
	WaitingForActivation         = "WaitingForActivation"
	WaitingToRun                 = "WaitingToRun"
	Running                      = "Running"
	WaitingForChildrenToComplete = "WaitingForChildrenToComplete"
	RanToCompletion              = "RanToCompletion"
	Canceled                     = "Canceled"
	Faulted                      = "Faulted"
)

// Status is what Task.Status returns for the flags.
func (f Flags) Status() string {
	for _, s := range statuses {
		if f&s.flag != 0 {
			return s.status
		}
	}
	return Created
}

// statuses are in the order in which Task.Status looks at them: of several flags the first one counts.
var statuses = []struct {
	flag   Flags
	status string
}{
	{FlagFaulted, Faulted}, {FlagCanceled, Canceled}, {FlagRanToCompletion, RanToCompletion}, {FlagWaitingOnChildren, WaitingForChildrenToComplete},
	{FlagDelegateInvoked, Running}, {FlagStarted, WaitingToRun}, {FlagWaitingForActivation, WaitingForActivation},
}

// Completed reports whether the task has come to its end, whichever.
func (f Flags) Completed() bool { return f&(FlagFaulted|FlagCanceled|FlagRanToCompletion) != 0 }

// Names lists the flags, the lowest bit first. A bit without a name is its number.
func (f Flags) Names() []string {
	out := []string{}
	for bit, name := range flagNames {
		switch {
		case f&(1<<bit) == 0:
		case name == "":
			out = append(out, fmt.Sprintf("%#x", 1<<bit))
		default:
			out = append(out, name)
		}
	}
	return out
}

// sosFlags are the flags that SOS tells of, in its order.
var sosFlags = [...]Flags{FlagStarted, FlagDelegateInvoked, FlagDisposed, FlagExceptionObservedByParent, FlagCancellationAcknowledged, FlagFaulted, FlagCanceled,
	FlagWaitingOnChildren, FlagRanToCompletion, FlagCompletionReserved}

// words are the flags that SOS tells of, with bars between them; a blank for none.
func (f Flags) words() string {
	var out []string
	for _, flag := range sosFlags {
		if f&flag != 0 {
			out = append(out, flagNames[bits.TrailingZeros32(uint32(flag))])
		}
	}
	if out == nil {
		return " "
	}
	return strings.Join(out, "|")
}
