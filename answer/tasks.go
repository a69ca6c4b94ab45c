package answer

import "github.com/sosgo/sosgo/target"

// A TaskState is what the flags of a task say.
type TaskState struct {
	Task   target.Addr `json:"task,omitzero" doc:"the task, if one was asked about"`
	Type   Text        `json:"type,omitzero" doc:"its type"`
	Flags  Hex         `json:"flags" doc:"m_stateFlags"`
	Status string      `json:"status" doc:"what Task.Status says: \"Created\", \"WaitingForActivation\", \"WaitingToRun\", \"Running\", \"WaitingForChildrenToComplete\", \"RanToCompletion\", \"Canceled\" or \"Faulted\""`
	Names  []string    `json:"names" doc:"the flags by their names in the framework, the lowest bit first: options of the task, then what happened to it"`
}
