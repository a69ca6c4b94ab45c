package answer

import "github.com/sosgo/sosgo/target"

// Flows lists the values of AsyncLocals by the ExecutionContexts that carry them.
type Flows struct {
	Gaps
	Flows []Flow `json:"flows" doc:"the ExecutionContexts that have values, those of threads first" text:"AsyncLocal values"`
	More  int    `json:"more,omitempty" doc:"how many further ones are left out" text:"% more ExecutionContexts are not listed"`
}

// A Flow is an ExecutionContext with the code that runs or will run in it.
type Flow struct {
	Context target.Addr `json:"context" doc:"the ExecutionContext" text:"=ExecutionContext %"`
	Threads []Worker    `json:"threads,omitempty" doc:"the threads that run with it"`
	Methods int64       `json:"methods,omitempty" doc:"how many suspended async methods will go on with it" text:"% suspended async method|% suspended async methods"`
	First   *AsyncFrame `json:"first,omitempty" doc:"the first of these; as the frames of dumpasync"`
	Values  []FlowValue `json:"values" doc:"the values of its AsyncLocals that are no null" text:"values"`
}

// A FlowValue is the value of an AsyncLocal.
type FlowValue struct {
	Address    target.Addr `json:"address" doc:"the value"`
	Type       Text        `json:"type" doc:"its type"`
	Text       string      `json:"text,omitempty" doc:"what a string or a value in a box says" text:"="`
	Activities []Activity  `json:"activities,omitempty" doc:"the activity that it is, with those that this is a part of, the innermost first" text:"activity;row"`
	Scopes     []string    `json:"scopes,omitempty" doc:"what the scopes of logging note with each line of the log, the outermost first" text:"log scope"`
}
