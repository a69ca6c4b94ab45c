package answer_test

import (
	"encoding/json"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// A missing value is not zero. Text shows words in its place, JSON omits a number or has null, and both keep the
// reason. An empty list of references is a zero.
func Example() {
	missing := &target.MemoryError{Addr: 0x7efbcd80b550, Size: 8, Err: target.ErrNotInDump}
	var row struct {
		answer.Gaps
		Type answer.Text          `json:"type"`
		Size answer.Maybe[uint64] `json:"size,omitzero"`
		Refs answer.Maybe[int]    `json:"refs,omitzero"`
	}
	row.Type = row.Text("", missing)
	row.Size = answer.Of(uint64(0), missing)
	row.Refs = answer.Known(0)
	b, err := json.Marshal(row)
	fmt.Println(string(b), err)
	fmt.Println(row.Type, row.Size.Err(), row.Noted())
	// Output:
	// {"type":null,"refs":0} <nil>
	// <not in dump> 8 bytes at 0x7efbcd80b550 are not in the dump [8 bytes at 0x7efbcd80b550 are not in the dump]
}
