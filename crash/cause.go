package crash

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// reasons are the codes that processes die of, in words.
var reasons = map[string]string{
	"SIGABRT":    "the process aborted itself: an unhandled exception, FailFast, or a native assertion",
	"SIGSEGV":    "memory was touched that the process may not touch",
	"SIGBUS":     "memory was touched that is not there: a mapped file that shrank, or a wrong alignment",
	"SIGFPE":     "an arithmetic fault in native code",
	"SIGILL":     "an instruction that the processor does not have",
	"SIGQUIT":    "somebody asked for the dump (SIGQUIT)",
	"SIGTRAP":    "a breakpoint or a trap",
	"SIGKILL":    "the process was killed",
	"0xe0434352": "a managed exception was not handled",
	"0xc0000005": "memory was touched that the process may not touch (access violation)",
	"0xc00000fd": "the stack overflowed",
	"0xc0000409": "the process ended itself at once (fail fast)",
	"0xc0000374": "the native heap is corrupt",
	"0xc0000094": "an integer was divided by zero in native code",
	"0x80000003": "a breakpoint",
	"0x80131506": "the runtime found an error in itself (ExecutionEngineException)",
}

// Reason says in words what a signal or exception record stands for.
func Reason(x *target.Exception) string {
	name, _, _ := strings.Cut(x.Words, "/")
	if s, ok := reasons[strings.ToLower(name)]; ok {
		return s
	}
	if s, ok := reasons[name]; ok {
		return s
	}
	return "exception or signal " + x.Words
}

// causes explain the exceptions whose name alone does not.
var causes = map[string]string{
	"System.NullReferenceException":         "a member was used of a reference that was null",
	"System.OutOfMemoryException":           "no memory could be had: the GC heap, native memory, or the limit of the container",
	"System.StackOverflowException":         "a method called itself without end: the stack shows which",
	"System.AccessViolationException":       "native code, or unsafe code, touched memory that is not its own",
	"System.IndexOutOfRangeException":       "an array was used with an index outside its bounds",
	"System.InvalidCastException":           "an object was not of the type that the code took it for",
	"System.DllNotFoundException":           "a native library was not found where the process looked for it",
	"System.TypeInitializationException":    "a static constructor threw: the inner exception says what",
	"System.AggregateException":             "tasks failed: the inner exceptions say how",
	"System.ObjectDisposedException":        "an object was used after it had been disposed",
	"System.Threading.ThreadAbortException": "the thread was aborted",
}

// A Fault is what LikelyCause looks at of a managed exception.
type Fault struct {
	Type    string // its name
	Message string // empty if it has none
	Trace   []Place
}

// A Place is a frame of an exception's stack trace, as it is printed.
type Place struct {
	Function string // module and method
	File     string // of the source; empty if it is not known
	Line     int    // in File
}

// LikelyCause words what an exception that was not caught and its causes,
// outermost first, say together. It is empty for no exception.
func LikelyCause(chain []Fault) string {
	if len(chain) == 0 {
		return ""
	}
	first, root := chain[0], chain[len(chain)-1]
	var b strings.Builder
	fmt.Fprintf(&b, "%s was not caught", first.Type)
	if len(chain) > 1 {
		fmt.Fprintf(&b, "; it goes back to %s", root.Type)
	}
	if root.Message != "" {
		fmt.Fprintf(&b, ": %s", root.Message)
	}
	if s, ok := causes[root.Type]; ok {
		fmt.Fprintf(&b, " (%s)", s)
	}
	if p := Culprit(root.Trace); p != nil {
		fmt.Fprintf(&b, ", in %s", p.Function)
		if p.File != "" {
			fmt.Fprintf(&b, " [%s @ %d]", p.File, p.Line)
		}
	}
	return b.String()
}

// Culprit is the innermost place of a trace, leaf first, that is not the
// framework's: there a fault is most likely made. Where all are, it is the
// innermost; nil for an empty trace. It goes by names, and a program whose own
// begin with System or Microsoft is taken for the framework.
func Culprit(trace []Place) *Place {
	for i := range trace {
		if f := trace[i].Function; !strings.HasPrefix(f, "System.") && !strings.HasPrefix(f, "Microsoft.") {
			return &trace[i]
		}
	}
	if len(trace) == 0 {
		return nil
	}
	return &trace[0]
}
