package secrets

import (
	"context"
	"strings"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

type maskKey struct{}

// WithMask returns a context for answers that are sent: what reads texts of the process to compute with them, such as
// an expression that cuts them, masks them first.
func WithMask(ctx context.Context, mask func(string) string) context.Context {
	return context.WithValue(ctx, maskKey{}, mask)
}

// MaskOf returns the mask of a context, or nil.
func MaskOf(ctx context.Context) func(string) string {
	mask, _ := ctx.Value(maskKey{}).(func(string) string)
	return mask
}

// Masked returns a text as an answer in ctx may compare or cut it: what finds a part of a secret by its characters
// would show it, one by one.
func Masked(ctx context.Context, text string) string {
	if mask := MaskOf(ctx); mask != nil {
		return mask(text)
	}
	return text
}

// cutMark marks the end of a text that was cut.
const cutMark = "\u2026"

// CutEnd returns the beginning of a text as it may be shown where mask masks: what ends it may begin a secret, which mask knows only with
// a mark of the cut behind it. What shows a part of a text without such a mark calls it for the part. A nil mask changes nothing.
func CutEnd(part string, mask func(string) string) string {
	if mask == nil || part == "" {
		return part
	}
	return strings.TrimSuffix(mask(part+cutMark), cutMark)
}

// Cut returns a text, or CutEnd of it if it is a part of one, for an answer in ctx.
func Cut(ctx context.Context, text string, whole bool) string {
	if whole {
		return text
	}
	return CutEnd(text, MaskOf(ctx))
}

// MostElements is how many elements are looked at. More are hidden.
const MostElements = 64 << 20

// Elements of an array are read in pieces that share their ends.
const (
	pieceElements  = 64 << 10
	sharedElements = 4 << 10
)

// HidesElements reports whether mask changes the text that n elements of an array at a stand for: elements of one byte are
// UTF-8, elements of two bytes UTF-16, and others no text. A text that is too long to be looked at is hidden.
func HidesElements(mem target.Memory, a target.Addr, n uint32, size int, mask func(string) string) (bool, error) {
	if size > 2 || n > MostElements {
		return size <= 2, nil
	}
	for from := uint32(0); from < n; from += pieceElements - sharedElements {
		piece := min(n-from, pieceElements)
		b, err := target.Bytes(mem, a+target.Addr(from)*target.Addr(size), int(piece)*size)
		if err != nil {
			return false, err
		}
		text := string(b)
		if size == 2 {
			text = utf16text.String(b)
		}
		if mask(text) != text {
			return true, nil
		}
		if from+piece == n {
			break
		}
	}
	return false, nil
}
