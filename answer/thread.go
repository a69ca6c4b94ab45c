package answer

// ThreadStates are the bits of a managed thread's state, in words.
type ThreadStates struct {
	States []string `json:"states" doc:"what the bits say, from the lowest on"`
}
