package ilflow

import (
	"strings"

	"github.com/sosgo/sosgo/metadata"
)

// SleepAt returns the constant that il passes to the first call of Thread.Sleep at an offset or behind it, before any jump: the longest one if such calls follow each other.
// member names methods by their tokens.
func SleepAt(il []byte, at int, member func(metadata.Token) string) (ms int64, ok bool) {
	last, constant := int64(0), false
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return 0, false
		}
		here := in.Offset+in.Size > at
		switch op := in.Opcode.String(); {
		case here && isCall(&in) && member(in.Token()) == "Thread.Sleep":
			if !constant || ok && last < 0 {
				return 0, false
			}
			if ms, ok = max(ms, last), true; last < 0 {
				return last, true // for ever
			}
		case here && ok && !strings.HasPrefix(op, "ldc.") && op != "nop":
			return ms, true
		case here && (isBranch(&in) || op == "ret" || op == "throw" || op == "switch"):
			return 0, false
		}
		last, constant = Constant(&in)
	}
	return ms, ok
}
