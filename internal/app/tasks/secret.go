package tasks

import (
	"context"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/secrets"
)

// hideSecrets hides the variables and fields of frames that are secrets by their names, where secrets are masked.
func hideSecrets(ctx context.Context, frames []answer.AsyncFrame) {
	if secrets.MaskOf(ctx) == nil {
		return
	}
	for i := range frames {
		f := &frames[i]
		hideVariables(f.Variables)
		for _, saved := range f.Saved {
			hideVariables(saved)
		}
		for k := range f.Fields {
			if v := &f.Fields[k]; secrets.Holds(v.Name.S) && isText(v.Plain()) {
				v.Stored = answer.Stored{Missing: answer.Reason{Err: answer.ErrHidden}}
			}
		}
	}
}

func hideVariables(list []answer.AsyncVariable) {
	for i := range list {
		if v := &list[i]; secrets.Holds(v.Name) && isText(v.Value) {
			v.Value = secrets.Mask
		}
	}
}

// isText reports whether the line of a value has a text or begins with a number: the names of types, of enums and of Booleans have neither.
func isText(line string) bool {
	return strings.Contains(line, `"`) || strings.IndexAny(line, "'(-0123456789") == 0 && line != "0" && !strings.HasPrefix(line, "0x") ||
		strings.HasPrefix(line, "System.Char[") || strings.HasPrefix(line, "System.Byte[")
}
