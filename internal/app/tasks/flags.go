package tasks

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/sosgo/sosgo/answer"
)

// Flags is a task's m_stateFlags. The low half holds how the task was created, the high half what happened to it.
// System.Threading.Tasks.Task uses these numbers in all versions from .NET Framework 4.5 to .NET 11: as constants up to
// .NET 6, as the enumeration TaskStateFlags since .NET 7.
type Flags uint32

// Flags that record what happened to a task.
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

// Options of tasks that wait for something else than a worker (Task.cs, InternalTaskOptions).
const (
	optionContinuation Flags = 0x200
	optionPromise      Flags = 0x400
)

// plausible reports whether the flags can be of a task. One that nobody starts has WaitingForActivation from its constructor on, and keeps it
// (Task.cs, TaskConstructorCore).
func (f Flags) plausible() bool {
	return f&(optionContinuation|optionPromise) == 0 || f&FlagWaitingForActivation != 0
}

// flagNames names the bits: Task.CreationOptions and internal options in the low half, states in the high half.
var flagNames = [32]string{
	0: "PreferFairness", 1: "LongRunning", 2: "AttachedToParent", 3: "DenyChildAttach", 4: "HideScheduler", 6: "RunContinuationsAsynchronously",
	9: "ContinuationTask", 10: "PromiseTask", 11: "HiddenState", 12: "LazyCancellation", 13: "QueuedByRuntime", 14: "DoNotDispose",
	16: "Started", 17: "DelegateInvoked", 18: "Disposed", 19: "ExceptionObservedByParent", 20: "CancellationAcknowledged", 21: "Faulted", 22: "Canceled",
	23: "WaitingOnChildren", 24: "RanToCompletion", 25: "WaitingForActivation", 26: "CompletionReserved", 28: "WaitCompletionNotification",
	29: "ExecutionContextIsNull", 30: "TaskScheduledWasFired",
}

// Status returns the value of Task.Status for the flags.
func (f Flags) Status() answer.TaskStatus {
	for _, s := range statuses {
		if f&s.flag != 0 {
			return s.status
		}
	}
	return answer.StatusCreated
}

// statuses are in the order in which Task.Status tests them. The first that is set counts.
var statuses = []struct {
	flag   Flags
	status answer.TaskStatus
}{
	{FlagFaulted, answer.StatusFaulted}, {FlagCanceled, answer.StatusCanceled}, {FlagRanToCompletion, answer.StatusRanToCompletion}, {FlagWaitingOnChildren, answer.StatusWaitingForChildrenToComplete},
	{FlagDelegateInvoked, answer.StatusRunning}, {FlagStarted, answer.StatusWaitingToRun}, {FlagWaitingForActivation, answer.StatusWaitingForActivation},
}

// Completed reports whether the task has completed: successfully, faulted or canceled.
func (f Flags) Completed() bool { return f&(FlagFaulted|FlagCanceled|FlagRanToCompletion) != 0 }

// Names lists the flags, the lowest bit first. Bits without a name are listed as numbers.
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

// sosFlags are the flags that SOS prints, in its order.
var sosFlags = [...]Flags{FlagStarted, FlagDelegateInvoked, FlagDisposed, FlagExceptionObservedByParent, FlagCancellationAcknowledged, FlagFaulted, FlagCanceled,
	FlagWaitingOnChildren, FlagRanToCompletion, FlagCompletionReserved}

// words joins the flags that SOS prints with bars. It returns a blank for no flags.
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
