package answer

import "github.com/sosgo/sosgo/target"

// A GCRoot says what a root of the garbage collector is.
type GCRoot struct {
	Kind         string        `json:"kind" doc:"\"handle\", \"finalizer\", \"stack\" or \"thread statics\""`
	Name         string        `json:"name" doc:"the root in a few words"`
	Object       target.Addr   `json:"object" doc:"the object that it refers to, or into"`
	Address      target.Addr   `json:"address,omitempty" doc:"the handle, or where the reference is; absent for a register"`
	Strong       bool          `json:"strong" doc:"it keeps the object alive by itself"`
	Interior     bool          `json:"interior,omitempty" doc:"it may point into the object"`
	Pinned       bool          `json:"pinned,omitempty" doc:"it keeps the object where it is"`
	Conservative bool          `json:"conservative,omitempty" doc:"the word only looks like a reference, and the collector has to take it for one"`
	Handle       string        `json:"handle,omitempty" doc:"type of the handle, as gchandles has it"`
	Holder       string        `json:"holder,omitempty" doc:"what of the runtime holds the handle"`
	Critical     bool          `json:"critical,omitempty" doc:"it waits for a finalizer that runs after the others"`
	Thread       *GCRootThread `json:"thread,omitempty" doc:"thread that has the root"`
	Frame        *GCRootFrame  `json:"frame,omitempty" doc:"frame that holds the root"`
	Place        string        `json:"place,omitempty" doc:"the register, or register and offset, of the reference in the frame"`
	Variable     Text          `json:"variable,omitzero" doc:"argument or local that holds the reference"`
}

// A GCRootThread is the thread that has a root.
type GCRootThread struct {
	Index     int    `json:"index" doc:"number of the thread (DBG), -1 where no OS thread runs it"`
	OSID      uint32 `json:"osThread,omitempty" doc:"id of the OS thread"`
	ManagedID uint32 `json:"managedThread,omitempty" doc:"managed id"`
	Name      Text   `json:"name,omitzero" doc:"name of the thread"`
}

// A GCRootFrame is the frame that holds a root.
type GCRootFrame struct {
	Index  int         `json:"index" doc:"place of the frame in the stack, 0 for the top; -1 for what stands beside the frames"`
	IP     target.Addr `json:"ip,omitempty" doc:"instruction pointer"`
	SP     target.Addr `json:"sp" doc:"stack pointer, or address of an explicit frame"`
	Method Text        `json:"method,omitzero" doc:"the method"`
	Class  string      `json:"class,omitempty" doc:"class of an explicit frame"`
}
