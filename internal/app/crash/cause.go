package crash

import (
	"fmt"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// signalReasons describes the signals that kill processes, if the process raised them itself.
var signalReasons = sync.OnceValue(func() map[string]*words.Sentence {
	return map[string]*words.Sentence{
		"SIGABRT": words.ReasonAborted,
		"SIGSEGV": words.ReasonSegment,
		"SIGBUS":  words.ReasonBus,
		"SIGFPE":  words.ReasonArithmetic,
		"SIGILL":  words.ReasonIllegal,
		"SIGQUIT": words.ReasonQuit,
		"SIGTRAP": words.ReasonTrap,
		"SIGKILL": words.ReasonKilled,
		"SIGSYS":  words.ReasonSeccomp,
	}
})

// busReasons describes the codes of SIGBUS with one cause (BUS_ADRALN, BUS_ADRERR; siginfo.h).
var busReasons = map[int32]*words.Sentence{
	1: words.ReasonAlignment,
	2: words.ReasonShrank,
}

// codeReasons describes the exception codes that kill processes.
var codeReasons = sync.OnceValue(func() map[uint32]*words.Sentence {
	return map[uint32]*words.Sentence{
		codeCLR:         words.ReasonManaged,
		codeAccess:      words.ReasonAccess,
		codeInPage:      words.ReasonInPage,
		codeCPP:         words.ReasonCPP,
		0xc000000d:      words.ReasonParameter,
		0xc0000417:      words.ReasonCParameter,
		0xc000001d:      words.ReasonIllegal,
		0xc0000096:      words.ReasonPrivileged,
		0xc00000fd:      words.ReasonOverflow,
		0x800703e9:      words.ReasonOverflow,
		codeStackBuffer: words.ReasonFastFail,
		0xc0000602:      words.ReasonFastFail,
		codeFailFast:    words.ReasonFailFast,
		0xc0000374:      words.ReasonNativeHeap,
		0xc0000094:      words.ReasonDivided,
		0x80000003:      words.ReasonBreakpoint,
		0x80000004:      words.ReasonStep,
		codeEngine:      words.ReasonEngine,
	}
})

// Reason describes a signal or exception record. pid is the process's own id, or 0 if unknown.
func Reason(x *target.Exception, pid uint32) answer.Statement {
	switch {
	case x == nil:
		return answer.Statement{}
	case x.Requested:
		return words.OnDemand.Of()
	case x.Signal != nil:
		return signalReason(x.Signal, pid)
	}
	if says := codeReasons()[x.Code]; says != nil {
		return says.Of()
	}
	if name := codeNames()[x.Code]; name != "" {
		return words.ExceptionCode.Of(words.Text(fmt.Sprintf("0x%08x", x.Code)), words.NameOfCode.Of(words.Text(name)))
	}
	return words.ExceptionCode.Of(words.Text(x.Words), answer.Statement{})
}

// signalReason distinguishes a signal sent by another process from one raised by this one.
func signalReason(s *target.Signal, pid uint32) answer.Statement {
	says, name := signalReasons()[s.Name()], words.Text(s.Name())
	switch {
	case s.Sent() && s.PID == pid && pid != 0:
		switch {
		case s.Code == target.SIUser || s.Code == target.SIQueue:
			return words.SignalKilled.Of(name, answer.Statement{})
		case s.Number == target.SIGABRT:
			return says.Of()
		}
		return words.SignalSentItself.Of(name)
	case s.Sent() && s.PID == 0:
		return words.SignalFromOutside.Of(name, words.Number(s.UID))
	case s.Sent():
		return words.SignalFromProcess.Of(name, words.Number(s.PID), words.Number(s.UID))
	case says == nil:
		return words.SignalAlone.Of(name, answer.Statement{})
	case !s.Known && s.Number != target.SIGABRT && s.Number != 3:
		return words.SignalAlone.Of(name, words.OrSent.Of(says.Of()))
	case s.Known && s.Code == target.SIKernel && s.Number == target.SIGSEGV:
		return words.ReasonNoAddress.Of()
	case s.Known && s.Number == target.SIGBUS && busReasons[s.Code] != nil:
		return busReasons[s.Code].Of()
	}
	return says.Of()
}

// received reports whether the signal shows no failure of the thread that took it: another process sent it, or a thread of this one sent it to the process,
// which the kernel gives to any thread.
func received(x *target.Exception, pid uint32) bool {
	return x.Signal != nil && x.Signal.Sent() && (x.Signal.Code != target.SITkill || pid == 0 || x.Signal.PID != pid)
}

const (
	nullReference = "System.NullReferenceException"
	outOfMemory   = "System.OutOfMemoryException"

	accessViolation = "System.AccessViolationException"
)

// causes gives the usual meaning of exceptions with an uninformative name. The type alone proves nothing: a program may
// throw any of them.
var causes = sync.OnceValue(func() map[string]*words.Sentence {
	return map[string]*words.Sentence{
		nullReference:                           words.MeansNull,
		outOfMemory:                             words.MeansNoMemory,
		"System.StackOverflowException":         words.MeansRecursion,
		accessViolation:                         words.MeansAccess,
		"System.IndexOutOfRangeException":       words.MeansBounds,
		"System.InvalidCastException":           words.MeansCast,
		"System.DllNotFoundException":           words.MeansNoLibrary,
		"System.TypeInitializationException":    words.MeansInitializer,
		"System.AggregateException":             words.MeansTasks,
		"System.ObjectDisposedException":        words.MeansDisposed,
		"System.ExecutionEngineException":       words.MeansEngine,
		"System.Threading.ThreadAbortException": words.MeansThreadAbort,
	}
})

// helpers maps exception types to parts of the names of the runtime's methods that throw them for compiled code. Before
// .NET 9 the helpers are native and not in stack traces.
var helpers = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"System.IndexOutOfRangeException": "ThrowIndexOutOfRangeException",
		"System.InvalidCastException":     "CastHelpers.",
	}
})

// A Fault is the part of a managed exception that LikelyCause uses.
type Fault struct {
	Type    string           // type name
	Message string           // may be empty
	Details answer.Statement // what its fields hold beyond the message
	Trace   []Place
	Cause   answer.Statement // the proved meaning here; zero if only the usual meaning is known
	Unusual bool             // the usual meaning of Type does not apply, for example because the program throws it
}

// A Place is a frame of an exception's stack trace, as printed.
type Place struct {
	Function string // module and method
	File     string // source file; empty if unknown
	Line     int    // in File
}

// LikelyCause describes the meaning of an unhandled exception and its causes. chain starts with the outermost
// exception. The usual meaning of a type is marked as such. The statement is zero for an empty chain.
func LikelyCause(chain []Fault) answer.Statement { return notCaught(chain, true) }

// notCaught states that an exception was not caught, and its causes. usual adds the usual meaning of a type, which is no evidence.
func notCaught(chain []Fault, usual bool) answer.Statement {
	return causeSays(words.NotCaught, chain, usual)
}

// itsException describes an exception and its causes.
func itsException(chain []Fault) answer.Statement { return causeSays(words.ItsException, chain, false) }

// causeSays fills in a sentence with an exception and its causes.
func causeSays(sentence *words.Sentence, chain []Fault, usual bool) answer.Statement {
	if len(chain) == 0 {
		return answer.Statement{}
	}
	root := &chain[len(chain)-1]
	var message, caused answer.Statement
	if len(chain) > 1 {
		if says := chain[0].message(); !says.IsZero() && !announces(chain[0].Type, says.Text) {
			message = words.ColonMessage.Of(says)
		}
		caused = words.CausedBy.Of(words.Type(root.Type))
	}
	return sentence.Of(words.Type(chain[0].Type), message, caused, rootDetails(root, usual))
}

// rootDetails describes an exception without its type.
func rootDetails(root *Fault, usual bool) answer.Statement {
	var message, meaning, place answer.Statement
	if root.Message != "" || !root.Details.IsZero() {
		message = words.ColonMessage.Of(root.message())
	}
	if !root.Cause.IsZero() {
		meaning = words.ThisMeans.Of(root.Cause)
	} else if c := root.usual(); usual && !c.IsZero() {
		meaning = words.Usually.Of(c)
	}
	if p := Culprit(root.Trace); p != nil {
		place = inFunction(p)
	}
	return words.RootDetails.Of(message, meaning, place)
}

// message returns the message of an exception for use in a sentence, with what its fields hold beyond it.
func (f *Fault) message() answer.Statement {
	text := words.Text(clipped(f.Message))
	switch {
	case f.Details.IsZero():
		return text
	case text.IsZero():
		return words.FieldsAlone.Of(f.Details)
	}
	return words.WithFields.Of(text, f.Details)
}

// usual returns the usual meaning of an exception, or the zero Statement if its meaning here is known.
func (f *Fault) usual() answer.Statement {
	if says := causes()[f.Type]; says != nil && f.Cause.IsZero() && !f.Unusual {
		return says.Of()
	}
	return answer.Statement{}
}

// inFunction names a function with its line.
func inFunction(p *Place) answer.Statement {
	return words.InFunction.Of(words.Method(sourceName(p.Function)), sourceLine(p.File, p.Line))
}

// sourceName returns the name of a function as its source code has it, for sentences.
func sourceName(function string) string {
	return strings.TrimSuffix(compilernames.Pretty(function), " [state machine]")
}

// sourceLine names a line of source code, or returns the zero Statement.
func sourceLine(file string, line int) answer.Statement {
	if file == "" {
		return answer.Statement{}
	}
	return words.AtSourceLine.Of(words.Text(file), words.Number(line))
}

// wrappers maps exceptions that announce an inner exception to the beginning of that default message. A program may set
// another message.
var wrappers = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"System.AggregateException":                   "One or more errors occurred",
		"System.TypeInitializationException":          "The type initializer for ",
		"System.Reflection.TargetInvocationException": "Exception has been thrown by the target of an invocation",
	}
})

// announces reports whether the message of an exception only announces its inner exception.
func announces(class, message string) bool {
	usual := wrappers()[class]
	return usual != "" && strings.HasPrefix(message, usual)
}

// clipped prepares a message for use in a sentence: without the final full stop, stack traces, and text beyond 500
// characters.
func clipped(text string) string {
	const longest = 500
	if i := strings.Index(text, traceLine); i > 0 {
		text = text[:i] // the answer has the stack itself
	}
	if start, _ := answer.CutText(text, longest); len(start) < len(text) {
		_, all := answer.CutText(text, -1)
		return fmt.Sprintf("%s… (%s)", start, answer.Count(int(all), "character", "characters"))
	}
	if text = strings.TrimRight(text, " \t\r\n"); strings.HasSuffix(text, "..") {
		return text
	}
	return strings.TrimSuffix(text, ".")
}

// traceLine begins a stack trace line in messages of assertions and remote exceptions.
const traceLine = "\n   at "

// Culprit returns the innermost place outside of the framework in trace (leaf first), where the fault most likely is.
// If all are in the framework it returns the innermost place; for an empty trace it returns nil. Names in System or
// Microsoft count as the framework.
func Culprit(trace []Place) *Place {
	for i := range trace {
		if !ofFramework(trace[i].Function) {
			return &trace[i]
		}
	}
	if len(trace) == 0 {
		return nil
	}
	return &trace[0]
}

// ofFramework reports whether a function, with or without its module, has a name in System or Microsoft.
func ofFramework(function string) bool {
	return strings.HasPrefix(function, "System.") || strings.HasPrefix(function, "Microsoft.")
}
