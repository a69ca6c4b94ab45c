package answer

import "github.com/sosgo/sosgo/target"

// A Crash says why a process died.
type Crash struct {
	Gaps
	Reason     string       `json:"reason" doc:"what ended the process, in words"`
	Code       string       `json:"code,omitempty" doc:"signal or exception code"`
	Address    target.Addr  `json:"address,omitempty" doc:"where it happened, or the address that was touched"`
	ThreadID   uint32       `json:"osThreadId,omitempty" doc:"the thread that died"`
	ThreadName Text         `json:"threadName,omitzero" doc:"its name"`
	Likely     string       `json:"likely,omitempty" doc:"the likely cause, in words"`
	Exceptions []Exception  `json:"exceptions,omitempty" doc:"the managed exception and its causes, outermost first"`
	Stack      []CrashFrame `json:"stack,omitempty" doc:"managed frames of the thread, leaf first"`

	// Alive: the process had not crashed.
	Alive bool `json:"-"`
	// Record is what a NativeAOT process wrote about itself, nil for others.
	Record *CrashRecord `json:"-"`
}

// A CrashFrame is a frame of the stack of a thread that died.
type CrashFrame struct {
	SP     target.Addr `json:"sp" doc:"stack pointer"`
	IP     target.Addr `json:"ip" doc:"instruction pointer"`
	Method Text        `json:"method" doc:"method, or kind of frame"`
	File   string      `json:"file,omitempty" doc:"source file"`
	Line   int         `json:"line,omitempty" doc:"line in it"`
	Repeat int         `json:"repeat,omitempty" doc:"how often the same call follows itself, if more than once"`
}

// A CrashRecord is what a NativeAOT process wrote about its crash.
type CrashRecord struct {
	Reason         string // a word
	Thread         uint32 // OS id
	HResult        uint32
	RuntimeType    string // a word
	RuntimeBase    target.Addr
	RuntimeVersion string
	Message        string
	Exception      *RecordedException // nil for none
}

// A RecordedException is an exception of a CrashRecord.
type RecordedException struct {
	Exception
	Inners []RecordedException
}
