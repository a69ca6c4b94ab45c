// Package testcli keeps dumps open for tests that run one command line after the other.
package testcli

import (
	"context"
	"fmt"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
)

// A Kept keeps the dump of one path open, because unpacking it for every question would take longer
// than the answers.
type Kept struct {
	Path    string
	options string
	dump    cli.Dump
}

// Env returns the environment for sessions, without commands. An open dump gives the same answers
// as a new one; TestDeterminism of internal/test/acceptance checks it.
func (k *Kept) Env() cli.Env { return cli.Env{Open: k.open, KeepOpen: true} }

func (k *Kept) open(ctx context.Context, path string, o cli.OpenOptions) (cli.Dump, error) {
	o.Context, o.Progress = nil, nil // of the session, which ends before the dump is closed
	options := fmt.Sprintf("%+v", o)
	if k.dump != nil && path == k.Path && options == k.options {
		return k.dump, nil
	}
	dump, err := commands.Open(ctx, path, o)
	if err != nil || path != k.Path {
		return dump, err
	}
	err = k.Close()
	k.options, k.dump = options, dump
	return dump, err
}

// Close closes the dump, if it is open.
func (k *Kept) Close() error {
	if k.dump == nil {
		return nil
	}
	dump := k.dump
	k.dump = nil
	return dump.Close()
}
