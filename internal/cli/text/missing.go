package text

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// Hex16 returns an address as SOS prints it, or the word for why it is missing.
func Hex16[T ~uint64](m answer.Maybe[T]) string {
	if m.Err != nil {
		return answer.Absent(m.Err)
	}
	return report.Hex16(m.Value)
}

// String returns a text, or the word for why it is missing. It is not escaped.
func String(m answer.Maybe[string]) string { return answer.Text{S: m.Value, Err: m.Err}.String() }
