package answer

import "github.com/sosgo/sosgo/target"

// Initializers lists the type initializers (static constructors) that threw an exception.
type Initializers struct {
	Gaps
	Failed   []FailedInitializer `json:"failed" doc:"classes whose initializer threw an exception, in the order of their modules and tokens"`
	Verdicts []Verdict           `json:"verdicts" doc:"what follows, one for each class; last those whose initializer used another class that had failed"`
}

// A FailedInitializer is a class with a failed initializer. Every use of the class throws a
// TypeInitializationException.
type FailedInitializer struct {
	MethodTable target.Addr `json:"methodTable" doc:"the class"`
	Type        Text        `json:"type" doc:"its name"`
	// Thrown is the TypeInitializationException that the runtime keeps.
	Thrown target.Addr    `json:"thrown,omitempty" doc:"the TypeInitializationException, which the runtime keeps and throws again; absent if it was not found"`
	Cause  *TaskException `json:"cause,omitempty" doc:"the exception that the initializer threw"`
}
