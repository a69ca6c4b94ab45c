package cli

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// heldBytes is how much of an output is held back at most while it may still fit on the screen.
const heldBytes = 64 << 10

// A pager is the terminal that output goes to. It holds an output back until that fills the screen, and then starts a
// program that shows it in pages. On a nil pager, as where the output is no terminal, begin does nothing.
type pager struct {
	app     *app
	command []string // empty: output is not paged
	asked   bool     // by | less: also output that fits
	active  bool     // an output has begun and has not ended
	held    []byte
	rows    int // of the screen that held takes

	program *exec.Cmd
	pipe    io.WriteCloser
}

// pagerCommand returns the program that shows output in pages, with its arguments; none if the user wants none, or if there is none.
func (a *app) pagerCommand() []string {
	if a.globals.NoPager || a.session.options.Sandbox || a.globals.Sandbox || a.env.getenv("TERM") == "dumb" {
		return nil
	}
	text := "less"
	for _, name := range []string{"PAGER", "SOSGO_PAGER"} {
		if v, set := a.env.lookupEnv(name); set {
			text = v
		}
	}
	return installed(strings.Fields(text))
}

// installed returns a command if its program is there.
func installed(command []string) []string {
	if len(command) == 0 || command[0] == "cat" {
		return nil
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil
	}
	return command
}

// begin begins an output, whose filters may end with the name of a pager. The function that it returns ends the output, and
// returns when the user has seen enough.
func (p *pager) begin(filters [][]word) (end func()) {
	if p == nil || p.active {
		return func() {}
	}
	p.command, p.asked, p.active = p.app.pagerCommand(), false, true
	if n := len(filters); n > 0 && isPager(filters[n-1][0].text) && !p.app.session.options.Sandbox {
		var command []string
		for _, w := range filters[n-1] {
			command = append(command, w.text)
		}
		if command = installed(command); command != nil {
			p.command, p.asked = command, true
		}
	}
	return p.end
}

// isPager reports whether a filter shows the output in pages.
func isPager(filter string) bool {
	return slices.Contains([]string{"less", "more"}, strings.ToLower(filter))
}

// through lets the rest of an output pass as it comes.
func (p *pager) through() error {
	if p == nil || p.pipe != nil {
		return nil
	}
	p.command = nil
	_, err := p.app.screen.Write(p.held)
	p.held, p.rows = nil, 0
	return err
}

func (p *pager) Write(b []byte) (int, error) {
	switch {
	case p.pipe != nil:
		return p.pipe.Write(b)
	case !p.active || len(p.command) == 0:
		return p.app.screen.Write(b)
	}
	p.held = append(p.held, b...)
	width, height := p.app.screenSize()
	for line := range strings.Lines(string(b)) {
		p.rows += 1 + max(utf8.RuneCountInString(line)-2, 0)/width
	}
	if !p.asked && p.rows < height && len(p.held) < heldBytes {
		return len(b), nil
	}
	if err := p.start(); err != nil {
		return len(b), p.through()
	}
	_, err := p.pipe.Write(p.held)
	p.held = nil
	return len(b), err
}

// start starts the program.
func (p *pager) start() error {
	program := exec.Command(p.command[0], p.command[1:]...)
	program.Stdout, program.Stderr = p.app.screen, p.app.stderr.w
	program.Env = os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		program.Env = append(program.Env, "LESS=FRX") // end with a short output, show it in color, leave it on the screen
	}
	pipe, err := program.StdinPipe()
	if err != nil {
		return err
	}
	p.app.stderr.hold()
	if err := program.Start(); err != nil {
		p.app.stderr.release()
		return err
	}
	p.program, p.pipe = program, pipe
	return nil
}

// end shows what was held back, or waits for the program. Ctrl-C is the program's meanwhile.
func (p *pager) end() {
	p.active = false
	if p.pipe == nil {
		_ = p.through() // the sink has reported errors of the screen
		return
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-p.app.env.Interrupt:
			case <-done:
				return
			}
		}
	}()
	_ = p.pipe.Close()
	_ = p.program.Wait() // how it ended is between the user and the program
	close(done)
	p.program, p.pipe, p.rows = nil, nil, 0
	p.app.stderr.release()
}

// screenSize returns the width and height of the terminal.
func (a *app) screenSize() (width, height int) {
	if f, ok := a.screen.(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	return defaultWidth, 24
}
