package answer

import "github.com/sosgo/sosgo/target"

// Where says where in the GC heap an address lies.
type Where struct {
	Address    target.Addr `json:"address" doc:"the address that was asked for"`
	Found      bool        `json:"found" doc:"whether it lies in the heap; else the other fields are absent"`
	Heap       int         `json:"heap" doc:"number of the GC's heap"`
	Segment    target.Addr `json:"segment,omitempty" doc:"the segment or region"`
	Generation string      `json:"generation,omitempty" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\", \"frozen\", \"reserve\" for memory behind the committed one, \"???\""`
	Allocated  *Range      `json:"allocated,omitempty" doc:"from the first object to the end of the last"`
	Committed  *Range      `json:"committed,omitempty" doc:"committed memory"`
	Reserved   *Range      `json:"reserved,omitempty" doc:"reserved memory behind it"`
}
