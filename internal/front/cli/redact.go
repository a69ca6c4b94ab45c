package cli

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/internal/base/secrets"
)

// Sent is the option of commands with output that is sent to others (Command.Sends).
type Sent struct {
	Full bool `opt:"full" help:"leave secrets as they are: else passwords, tokens and keys are masked (docs/secrets.md)"`
}

// Mask returns the function that masks secrets in the command's output, or nil without --redact.
func (c *Context) Mask() func(string) string {
	if !c.redact {
		return nil
	}
	return c.masked
}

// MayShowBytes returns an error where secrets are masked: nothing can be masked in bytes of memory. Commands with Bytes
// don't run there, and others ask for options with which they print bytes.
func (c *Context) MayShowBytes() error {
	if !c.redact {
		return nil
	}
	return &UsageError{Command: c.Command.Name, Text: "with --redact no bytes of memory are shown: nothing can be masked in them"}
}

// learnSecrets reads the secrets of the dump, if they are to be masked.
func (c *Context) learnSecrets() error {
	if !c.redact {
		return nil
	}
	if c.Command.Bytes {
		return c.MayShowBytes()
	}
	for i := range c.own.options {
		if o := &c.own.options[i]; o.Reveals {
			c.own.into.FieldByIndex(o.index).SetZero() // it does not undo --redact
		}
	}
	typed := &secrets.Said{}
	for _, word := range c.typed {
		typed.Add(word)
	}
	c.said = &secrets.Said{}
	defer func() { c.ctx = secrets.WithSaid(secrets.WithMask(c.ctx, c.masked), c.said) }()
	c.mask = secrets.NewMasker().Text
	if c.dump == nil || c.app.env.Mask == nil {
		return nil
	}
	mask, err := c.app.env.Mask(c, c.dump, c.Session.runtime)
	if err != nil {
		return fmt.Errorf("secrets: %w", err)
	}
	c.mask = mask.Text
	c.show, c.echo = mask.Cells(c.said), mask.Errors(c.said, typed)
	if c.app.line.JSON {
		document := mask.Document(c.said)
		c.show = func(text string, _ []int) string { return document(text) }
	}
	return nil
}

// Echo declares that the answer repeats a text of the command line: an expression that it has the values of, the name of a file that is written.
// A secret in it is not masked in the answer. All else in an answer is the process's, and a word of the command line that is equal to it must not
// show it.
func (c *Context) Echo(text string) {
	if c.said != nil {
		c.said.Add(text)
	}
}

// EchoHeads declares the heads of an answer's columns: words of the command line or names of fields. Beside each other they may look like a name
// with its secret, and are not masked.
func (c *Context) EchoHeads(heads ...string) {
	if c.said != nil {
		c.said.AddOwn(strings.Join(heads, " "))
	}
}

// shown returns a line as masked does, for the answer: what Echo declares is no secret there, nor are the results of expressions. cells is as in
// secrets.Masker.Cells.
func (c *Context) shown(line string, cells []int) string {
	switch {
	case c.redact && c.show != nil:
		return c.show(line, cells)
	case c.redact && c.app.line.JSON:
		return secrets.NewMasker().Document()(line)
	case c.redact:
		return secrets.NewMasker().Cells(c.said)(line, cells)
	}
	return line
}

// shownCell is shown for a cell before the line is laid out, or nil without --redact.
func (c *Context) shownCell() func(text string) string {
	if !c.redact || c.app.line.JSON {
		return c.Mask()
	}
	return func(text string) string { return c.shown(text, nil) }
}

// echoed is shown for warnings and errors, which repeat what the user typed. Only values of the dump are masked in them.
func (c *Context) echoed(text string) string {
	if c.redact && c.echo != nil {
		return c.echo(text)
	}
	return c.masked(text)
}

// masked returns text with its secrets masked, if requested.
func (c *Context) masked(text string) string {
	switch {
	case !c.redact:
		return text
	case c.mask == nil:
		return secrets.NewMasker().Text(text)
	}
	return c.mask(text)
}
