package answer

// Scrubbed describes a dump that was written without the data of its process.
type Scrubbed struct {
	Gaps
	File    string         `json:"file" doc:"the new dump"`
	Size    int64          `json:"size" doc:"bytes of the dump, before and after"`
	Written int64          `json:"written" doc:"bytes of the file"`
	Secrets int            `json:"secrets" doc:"values known as secrets that were looked for in the whole file"`
	Kinds   []ScrubbedKind `json:"kinds" doc:"what was replaced"`
}

// A ScrubbedKind is a kind of data that was replaced.
type ScrubbedKind struct {
	Kind  string `json:"kind" doc:"what it was"`
	Bytes uint64 `json:"bytes" doc:"bytes that were replaced"`
}
