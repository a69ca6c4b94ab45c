// Command incidentbot describes a dump in Markdown for an incident's channel: what is wrong with the process, why it
// died, and what its threads do. Secrets are masked as far as they are known.
//
//	incidentbot FILE
//
// It writes what can be read and counts missing rows and values. The exit code is 1 if a section is incomplete; the text
// has the reason.
//
// Stability: unstable.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/text"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: incidentbot FILE")
		os.Exit(2)
	}
	if err := describe(context.Background(), os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "incidentbot:", err)
		os.Exit(1)
	}
}

// errPartly replaces errors that are in the text, where their secrets are masked.
var errPartly = errors.New("not everything could be read; the text says what is missing")

// describe writes the text about a dump.
func describe(ctx context.Context, w io.Writer, path string) error {
	d, err := sosgo.Open(path, sosgo.Options{Offline: true})
	if err != nil {
		return err
	}
	defer d.Close()
	v, noRuntime := d.View("") // without a runtime, the operating system's record of a crash remains
	p := &page{}
	p.printf("# Incident\n\n")
	unsearched := 0
	mask, err := v.Mask(sosgo.WithNotes(ctx, func(error) { unsearched++ }))
	switch {
	case err != nil:
		return fmt.Errorf("nothing is shown, because its secrets are unknown: %w", err)
	case unsearched > 0:
		p.printf("**Secrets may be in this text**: %d parts of the process could not be searched for them.\n\n", unsearched)
	}
	p.section("What is wrong", noRuntime, func(o text.Options) error {
		found, err := v.Triage(ctx, sosgo.TriageOptions{})
		if found == nil {
			return err
		}
		return errors.Join(err, text.Triage(&p.body, found, o))
	})
	p.section("Crash", nil, func(o text.Options) error {
		c, err := v.Crash(ctx, sosgo.CrashOptions{})
		if c == nil {
			return err
		}
		return errors.Join(err, text.Crash(&p.body, c, o))
	})
	p.section("Stacks", nil, func(o text.Options) error {
		var so sosgo.StackOptions
		so.Source = true
		list, err := v.Stacks(ctx, so)
		if list == nil {
			return err
		}
		return errors.Join(err, text.Stacks(&p.body, list, o)) // the error of the list is text.Stacks's
	})
	return p.write(w, mask)
}

// A page collects the text, which is masked as a whole.
type page struct {
	out  bytes.Buffer
	body bytes.Buffer // of a section
	err  error        // errPartly if a section is incomplete
}

// write writes the text without secrets.
func (p *page) write(w io.Writer, mask func(string) string) error {
	_, err := io.WriteString(w, mask(p.out.String()))
	return errors.Join(err, p.err)
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.out, format, args...) }

// section writes a heading, what write adds to p.body, and why that is incomplete.
func (p *page) section(title string, before error, write func(text.Options) error) {
	p.body.Reset()
	missing := 0
	err := write(text.Options{All: true, Missing: func(error) { missing++ }})
	if missing > 0 {
		fmt.Fprintf(&p.body, "\nMissing rows and values: %d\n", missing)
	}
	if err = errors.Join(before, err); err != nil {
		fmt.Fprintf(&p.body, "\nIncomplete: %q\n", err)
		p.err = errPartly
	}
	fence := "```"
	for strings.Contains(p.body.String(), fence) { // text of the dump must not end the block
		fence += "`"
	}
	p.printf("## %s\n\n%stext\n%s%s\n\n", title, fence, p.body.String(), fence)
}
