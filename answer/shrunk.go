package answer

// Shrunk describes a dump that was written without the memory that no answer about its process needs.
type Shrunk struct {
	Gaps
	File    string       `json:"file" doc:"the new dump"`
	Size    int64        `json:"size" doc:"bytes of the dump before"`
	Written int64        `json:"written" doc:"bytes of the new file"`
	LeftOut uint64       `json:"leftOut" doc:"bytes of memory that were left out"`
	Before  bool         `json:"before,omitempty" doc:"the dump was shrunk before, and nothing more was left out"`
	Kinds   []ShrunkKind `json:"kinds" doc:"what was left out"`
}

// A ShrunkKind is a kind of memory that was omitted.
type ShrunkKind struct {
	Kind  string `json:"kind" doc:"what it was"`
	Bytes uint64 `json:"bytes" doc:"bytes that were left out"`
}
