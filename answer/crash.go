package answer

import "github.com/sosgo/sosgo/target"

// A Crash describes why a process died, or what it did if it was alive.
type Crash struct {
	Gaps
	Reason     string             `json:"reason" doc:"what ended the process, in words"`
	Why        Statement          `json:"why,omitzero" doc:"reason with its arguments"`
	Code       string             `json:"code,omitempty" doc:"signal or exception code"`
	Address    Maybe[target.Addr] `json:"address,omitzero" doc:"where it happened, or the faulting address; absent if not in the dump"`
	Where      string             `json:"where,omitempty" doc:"method, or module and offset, of address, if it is that of an instruction"`
	ThreadID   uint32             `json:"osThreadId,omitempty" doc:"the thread that died"`
	ThreadName Text               `json:"threadName,omitzero" doc:"its name"`
	Thread     *Thread            `json:"thread,omitempty" doc:"this thread with its number, if the dump lists it"`
	Likely     string             `json:"likely,omitempty" doc:"the likely cause, in words"`
	Cause      Statement          `json:"cause,omitzero" doc:"likely with its arguments"`
	Verdicts   []Verdict          `json:"verdicts,omitempty" doc:"what is concluded, with its evidence and how strong it is"`
	Signal     *CrashSignal       `json:"signal,omitempty" doc:"the signal (Linux)"`
	Records    []ExceptionRecord  `json:"exceptionRecords,omitempty" doc:"the exception record (Windows), and those that it follows from"`
	Touched    *Touched           `json:"touched,omitempty" doc:"the memory whose access raised it"`
	FailFast   *FailFast          `json:"failFast,omitempty" doc:"the call of Environment.FailFast that ended the process"`
	Contexts   []CrashContext     `json:"contexts,omitempty" doc:"where the thread stood, the best first"`
	ExceptionTree
	Carried []CarriedException `json:"carried,omitempty" doc:"the exceptions of all threads"`
	Stack   []CrashFrame       `json:"stack,omitempty" doc:"managed frames of the thread, leaf first; circles of calls are folded. If the dump has stacks alone, all frames"`
	Frames  int                `json:"frames,omitempty" doc:"number of the stack's frames before folding"`
	Waiting *Waiting           `json:"waiting,omitempty" doc:"what the threads of a process wait for that had not crashed"`

	// Blames is the number, from 1, of the verdict behind Likely, which may add Usual to it; 0 if there is no such
	// verdict.
	Blames int `json:"-"`
	// Usual is the usual meaning of such an exception, if only its type suggests it.
	Usual Statement `json:"-"`
	// StacksOnly reports whether the dump holds nothing of the runtime's data. Stack then has the frames of all code.
	StacksOnly bool `json:"-"`
	// Unmanaged reports whether the thread that died is unknown to the runtime: no managed method is on its stack.
	Unmanaged bool `json:"-"`
	// Alive reports that no crash is recorded.
	Alive bool `json:"-"`
	// Undecided reports that the process is Alive only because the evidence of a crash is unreadable.
	Undecided bool `json:"-"`
	// Record is the crash record that a NativeAOT process wrote; nil for others.
	Record *CrashRecord `json:"-"`
}

// An ExceptionTree is an exception with its causes, each once.
type ExceptionTree struct {
	Exceptions []Exception     `json:"exceptions,omitempty" doc:"the managed exception and its causes, outermost first; causes says how they belong together"`
	Causes     [][]int         `json:"causes,omitempty" doc:"for each of exceptions the numbers of those that caused it"`
	Omitted    []OmittedCauses `json:"omittedCauses,omitempty" doc:"exceptions with more causes than causes lists, and why"`
}

// A CrashSignal is the signal that a process received.
type CrashSignal struct {
	Number int32         `json:"number" doc:"number"`
	Name   string        `json:"name" doc:"name"`
	Code   *int32        `json:"code,omitempty" doc:"si_code; absent if the dump has the number alone"`
	Origin string        `json:"origin,omitempty" doc:"name of si_code"`
	Errno  int32         `json:"errno,omitempty" doc:"si_errno"`
	Sender *SignalSender `json:"sender,omitempty" doc:"the process that sent it; absent if none did, or if not in the dump"`
}

// A SignalSender is a process that sent a signal.
type SignalSender struct {
	PID  uint32 `json:"pid" doc:"process id; 0 is outside of the process's namespace"`
	UID  uint32 `json:"uid" doc:"user id"`
	Self bool   `json:"self,omitempty" doc:"it is the process itself"`
}

// An ExceptionRecord is an EXCEPTION_RECORD of Windows, or the runtime's imitation of one.
type ExceptionRecord struct {
	Code       Hex                  `json:"code" doc:"exception code"`
	Name       string               `json:"name,omitempty" doc:"its name"`
	Flags      Hex                  `json:"flags" doc:"ExceptionFlags"`
	Address    target.Addr          `json:"address" doc:"instruction that raised it"`
	Parameters []ExceptionParameter `json:"parameters,omitempty" doc:"ExceptionInformation"`
}

// An ExceptionParameter is a parameter of an exception record.
type ExceptionParameter struct {
	Value Hex    `json:"value" doc:"its value"`
	Name  string `json:"name,omitempty" doc:"what it is, for the codes that are known"`
	Words string `json:"words,omitempty" doc:"the value in words"`
}

// A Touched is the memory that a faulting instruction accessed.
type Touched struct {
	Address target.Addr `json:"address" doc:"address"`
	Access  string      `json:"access,omitempty" doc:"read, write or execute; absent if not in the dump"`
	What    string      `json:"what" doc:"what the address is"`
	Is      Statement   `json:"is,omitzero" doc:"what with its arguments"`
	Source  string      `json:"source" doc:"the record that has it"`
	By      Statement   `json:"by,omitzero" doc:"source as a statement"`
}

// A FailFast is a call of Environment.FailFast.
type FailFast struct {
	Message  Text      `json:"message" doc:"the message"`
	Strength Strength  `json:"strength" doc:"how sure it is that this is the message"`
	Source   string    `json:"source" doc:"where it was found"`
	Found    Statement `json:"found,omitzero" doc:"source as a statement"`
}

// A CrashContext is the position of a thread.
type CrashContext struct {
	Source string             `json:"source" doc:"whose registers these are"`
	IP     Maybe[target.Addr] `json:"ip,omitzero" doc:"instruction pointer"`
	SP     Maybe[target.Addr] `json:"sp,omitzero" doc:"stack pointer"`
	FP     Maybe[target.Addr] `json:"fp,omitzero" doc:"frame pointer"`
	Where  string             `json:"where,omitempty" doc:"method, or module and offset, of the instruction"`
	Place  *CodePlace         `json:"place,omitempty" doc:"of the instruction in its module"`
}

// A CodePlace is an instruction's place in a build of a module. It is the same in all processes that run the build.
type CodePlace struct {
	Module string `json:"module" doc:"file name of the module"`
	Build  string `json:"build,omitempty" doc:"its build id, or time stamp and size; absent if the dump does not record it"`
	Offset Hex    `json:"offset" doc:"of the instruction from the module's base"`
}

// A CarriedState is what the runtime does with a CarriedException.
type CarriedState string

// The states of a CarriedException.
const (
	CarriedUnhandled CarriedState = "unhandled" // the runtime found no handler
	CarriedHandling  CarriedState = "handling"  // it is being handled, or a handler is looked for
	CarriedLast      CarriedState = "last"      // the thread threw it last; it is not being handled any more
	CarriedFatal     CarriedState = "fatal"     // the runtime's own, never thrown: it set it for a fatal error
	CarriedReported  CarriedState = "reported"  // a crash report names it: the thread handles it, or threw it last
)

// A CarriedException is the exception of a thread.
type CarriedException struct {
	Thread    Thread       `json:"thread" doc:"the thread"`
	State     CarriedState `json:"state" doc:"unhandled (the runtime found no handler), handling (it is being handled), last (thrown last, and handled no more), fatal (set by the runtime for a fatal error), reported (by a crash report: handled, or thrown last)"`
	Exception target.Addr  `json:"exception,omitempty" doc:"the exception object; absent if a crash report has no address"`
	Type      Text         `json:"type" doc:"its type"`
	Message   *Text        `json:"message,omitempty" doc:"its message"`
}

// A CrashFrame is a frame of the stack of a thread that died.
type CrashFrame struct {
	SP          target.Addr `json:"sp" doc:"stack pointer"`
	IP          target.Addr `json:"ip" doc:"instruction pointer"`
	Method      Text        `json:"method" doc:"method, or kind of frame"`
	Place       *CodePlace  `json:"place,omitempty" doc:"of the instruction in its module, if no method is known"`
	Guess       string      `json:"guess,omitempty" doc:"how the frame was found, if without unwind data: by frame pointer or by scan"`
	File        string      `json:"file,omitempty" doc:"source file"`
	Line        int         `json:"line,omitempty" doc:"line in it"`
	AtException bool        `json:"atException,omitempty" doc:"the walk began here: at the registers of the exception that the dump was written for, and not those that the thread had then"`
	Cycle       int         `json:"cycle,omitempty" doc:"number of frames, from this one on, that repeat themselves together"`
	Repeat      int         `json:"repeat,omitempty" doc:"how often these frames were there, if more than once"`

	Definition *Definition `json:"-"` // of the method, if its name can't be read
}

// Waiting describes what the threads of a process do or wait for.
type Waiting struct {
	Gaps
	Threads   []WaitingThread `json:"threads" doc:"the managed threads that the OS runs"`
	Monitors  []Monitor       `json:"monitors,omitempty" doc:"monitors that are owned and that threads wait for"`
	Deadlocks [][]Thread      `json:"deadlocks,omitempty" doc:"circles: each thread waits for a monitor that the next one owns, the last for one of the first"`
}

// A WaitingThread is a thread with its activity.
type WaitingThread struct {
	Thread
	ThreadActivity
	Monitor target.Addr `json:"monitor,omitempty" doc:"object whose monitor it waits to enter"`
	How     string      `json:"how,omitempty" doc:"how that is known: recorded (the runtime notes it), inferred (from the frames that wait)"`
	Timeout *int32      `json:"timeoutMs,omitempty" doc:"how long it waits for that at most; absent for ever, or if it is not recorded"`
}

// A Monitor is a lock of an object that threads wait for.
type Monitor struct {
	Object  target.Addr `json:"object" doc:"the object"`
	Type    Text        `json:"type" doc:"its type"`
	Owner   *Thread     `json:"owner,omitempty" doc:"thread that holds it; absent if it is gone"`
	Waiters uint32      `json:"waiters" doc:"number of threads that wait"`
	Waiting []Thread    `json:"waiting,omitempty" doc:"threads that were found to wait"`
}

// A CrashRecord is a NativeAOT process's own record of its crash.
type CrashRecord struct {
	Reason         string // a word
	Thread         uint32 // OS id
	HResult        uint32
	RuntimeType    string // a word
	RuntimeBase    target.Addr
	RuntimeVersion string
	Message        string
	Exception      *RecordedException // nil if there is no exception
}

// A RecordedException is an exception of a CrashRecord.
type RecordedException struct {
	Exception
	Inners []RecordedException
}

// OmittedCauses records why some causes of an exception are not listed: for example, the list of an
// AggregateException's inner exceptions is not in the dump.
type OmittedCauses struct {
	Exception int    `json:"exception" doc:"its number in exceptions"`
	Reason    string `json:"reason" doc:"why"`
	Err       error  `json:"-"`
}
