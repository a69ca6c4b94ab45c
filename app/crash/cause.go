package crash

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/answer/words"
	"github.com/sosgo/sosgo/target"
)

// signalReasons describes the signals that kill processes, if the process raised them itself.
var signalReasons = map[string]string{
	"SIGABRT": "the process aborted itself (SIGABRT)",
	"SIGSEGV": "access to memory that is not accessible to the process",
	"SIGBUS":  "access to missing memory: a mapped file that shrank, or a wrong alignment",
	"SIGFPE":  "an arithmetic fault in native code",
	"SIGILL":  "an illegal instruction",
	"SIGQUIT": "a dump was requested (SIGQUIT)",
	"SIGTRAP": "a breakpoint or a trap",
	"SIGKILL": "the process was killed",
	"SIGSYS":  "a forbidden system call (seccomp)",
}

// busReasons describes the codes of SIGBUS with one cause (BUS_ADRALN, BUS_ADRERR; siginfo.h).
var busReasons = map[int32]string{
	1: "access to memory with a wrong alignment",
	2: "access to missing memory: a mapped file that shrank or can't be read",
}

// codeReasons describes the exception codes that kill processes.
var codeReasons = map[uint32]string{
	codeCLR:         "a managed exception was not handled",
	codeAccess:      "access to memory that is not accessible to the process (access violation)",
	codeInPage:      "memory could not be read from its file (in-page error)",
	codeCPP:         "a C++ exception was not handled",
	0xc000000d:      "a function was called with an invalid parameter",
	0xc0000417:      "a function of the C library was called with an invalid parameter",
	0xc000001d:      "an illegal instruction",
	0xc0000096:      "a privileged instruction",
	0xc00000fd:      "the stack overflowed",
	0x800703e9:      "the stack overflowed",
	codeStackBuffer: "the process ended itself at once (fail fast)",
	0xc0000602:      "the process ended itself at once (fail fast)",
	codeFailFast:    "the program ended itself (Environment.FailFast)",
	0xc0000374:      "the native heap is corrupt",
	0xc0000094:      "an integer was divided by zero in native code",
	0x80000003:      "a breakpoint",
	0x80000004:      "a single step",
	codeEngine:      "the runtime found an error in itself (ExecutionEngineException)",
}

// Reason describes a signal or exception record in words. pid is the process's own id, or 0 if unknown.
func Reason(x *target.Exception, pid uint32) string {
	switch {
	case x == nil:
		return ""
	case x.Requested:
		return "taken on demand; no crash recorded"
	case x.Signal != nil:
		return signalReason(x.Signal, pid)
	}
	if s, ok := codeReasons[x.Code]; ok {
		return s
	}
	if name := codeNames[x.Code]; name != "" {
		return fmt.Sprintf("exception 0x%08x (%s)", x.Code, name)
	}
	return "exception " + x.Words
}

// signalReason distinguishes a signal sent by another process from one raised by this one.
func signalReason(s *target.Signal, pid uint32) string {
	words := signalReasons[s.Name()]
	switch {
	case s.Sent() && s.PID == pid && pid != 0:
		if s.Number == target.SIGABRT {
			return words
		}
		return fmt.Sprintf("the process sent itself %s (raise or kill)", s.Name())
	case s.Sent() && s.PID == 0:
		return fmt.Sprintf("%s was sent by the kernel or by a process of another pid namespace (user %d)", s.Name(), s.UID)
	case s.Sent():
		return fmt.Sprintf("%s was sent by process %d (user %d)", s.Name(), s.PID, s.UID)
	case words == "" || !s.Known && s.Number != target.SIGABRT && s.Number != 3:
		if words != "" {
			words = ": " + words + ", or a process sent it (unknown)"
		}
		return "signal " + s.Name() + words
	case s.Known && s.Code == target.SIKernel && s.Number == target.SIGSEGV:
		return "a fault for which the kernel reports no address: a non-canonical address, a privileged instruction, a misaligned operand, or no stack for a signal"
	case s.Known && s.Number == target.SIGBUS && busReasons[s.Code] != "":
		return busReasons[s.Code]
	}
	return words
}

// fromOutside reports whether another process sent the signal, which then shows no failure of this one.
func fromOutside(x *target.Exception, pid uint32) bool {
	return x.Signal != nil && x.Signal.Sent() && (pid == 0 || x.Signal.PID != pid)
}

const (
	nullReference = "System.NullReferenceException"
	outOfMemory   = "System.OutOfMemoryException"
)

// causes gives the usual meaning of exceptions with an uninformative name. The type alone proves nothing: a program may
// throw any of them.
var causes = map[string]string{
	nullReference:                           "a null reference was used, or in unsafe code a pointer near 0",
	outOfMemory:                             "out of memory: the GC heap, native memory, or the limit of the container",
	"System.StackOverflowException":         "endless recursion: the stack shows which method",
	"System.AccessViolationException":       "native or unsafe code accessed memory that is not its own",
	"System.IndexOutOfRangeException":       "an index was outside the bounds of an array, a span or a string",
	"System.InvalidCastException":           "an object was cast to a type that it does not have",
	"System.DllNotFoundException":           "a native library was not found",
	"System.TypeInitializationException":    "a static constructor threw the inner exception",
	"System.AggregateException":             "tasks failed with the inner exceptions",
	"System.ObjectDisposedException":        "an object was used after it was disposed",
	"System.ExecutionEngineException":       "the runtime found an error in itself",
	"System.Threading.ThreadAbortException": "the thread was aborted",
}

// helpers maps exception types to parts of the names of the runtime's methods that throw them for compiled code. Before
// .NET 9 the helpers are native and not in stack traces.
var helpers = map[string]string{
	"System.IndexOutOfRangeException": "ThrowIndexOutOfRangeException",
	"System.InvalidCastException":     "CastHelpers.",
}

// A Fault is the part of a managed exception that LikelyCause uses.
type Fault struct {
	Type    string // type name
	Message string // may be empty
	Trace   []Place
	Cause   string // the proved meaning here; empty if only the usual meaning is known
	Unusual bool   // the usual meaning of Type does not apply, for example because the program throws it
}

// A Place is a frame of an exception's stack trace, as printed.
type Place struct {
	Function string // module and method
	File     string // source file; empty if unknown
	Line     int    // in File
}

// LikelyCause describes the meaning of an unhandled exception and its causes. chain starts with the outermost
// exception. The usual meaning of a type is marked as such. The text is empty for an empty chain.
func LikelyCause(chain []Fault) string { return notCaught(chain, true).Text }

// provedCause is LikelyCause without the usual meaning of types, which is no evidence.
func provedCause(chain []Fault) string { return notCaught(chain, false).Text }

// notCaught states that an exception was not caught, and its causes.
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
		if text := clipped(chain[0].Message); text != "" && !announces(chain[0].Type, text) {
			message = words.ColonMessage.Of(words.Text(text))
		}
		caused = words.CausedBy.Of(words.Type(root.Type))
	}
	return sentence.Of(words.Type(chain[0].Type), message, caused, rootDetails(root, usual))
}

// rootDetails describes an exception without its type.
func rootDetails(root *Fault, usual bool) answer.Statement {
	var message, meaning, place answer.Statement
	if root.Message != "" {
		message = words.ColonMessage.Of(words.Text(clipped(root.Message)))
	}
	if root.Cause != "" {
		meaning = words.ThisMeans.Of(words.Text(root.Cause))
	} else if c := root.usual(); usual && c != "" {
		meaning = words.Usually.Of(words.Text(c))
	}
	if p := Culprit(root.Trace); p != nil {
		place = inFunction(p)
	}
	return words.RootDetails.Of(message, meaning, place)
}

// usual returns the usual meaning of an exception, or "" if its meaning here is known.
func (f *Fault) usual() string {
	if f.Cause != "" || f.Unusual {
		return ""
	}
	return causes[f.Type]
}

// inFunction names a function with its line.
func inFunction(p *Place) answer.Statement {
	return words.InFunction.Of(words.Method(p.Function), sourceLine(p.File, p.Line))
}

// sourceLine names a line of source code, or returns the zero Statement.
func sourceLine(file string, line int) answer.Statement {
	if file == "" {
		return answer.Statement{}
	}
	return words.AtSourceLine.Of(words.Text(file), words.N(line))
}

// wrappers maps exceptions that announce an inner exception to the beginning of that default message. A program may set
// another message.
var wrappers = map[string]string{
	"System.AggregateException":                   "One or more errors occurred",
	"System.TypeInitializationException":          "The type initializer for ",
	"System.Reflection.TargetInvocationException": "Exception has been thrown by the target of an invocation",
}

// announces reports whether the message of an exception only announces its inner exception.
func announces(class, message string) bool {
	usual := wrappers[class]
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
