package ask

import (
	"io"
	"os"

	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/front/cli"
)

// A RulesFile is the name of a file with signature rules. An empty name selects the default rules.
type RulesFile string

// Read returns the validated text of the rules, or "" for the default rules.
func (f RulesFile) Read() (string, error) {
	if f == "" {
		return "", nil
	}
	r, err := os.Open(string(f))
	if err != nil {
		return "", &cli.OpenError{Path: string(f), Err: err}
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, signature.MaxRules+1))
	if err != nil {
		return "", &cli.OpenError{Path: string(f), Err: err}
	}
	if _, err := signature.ParseRules(string(text)); err != nil {
		return "", cli.Usagef("%s: %v", f, err)
	}
	return string(text), nil
}
