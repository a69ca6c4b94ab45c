package cli

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/sosgo/sosgo/internal/front/report"
)

// heldBytes is the maximum number of bytes held back while the output may fit on the screen.
const heldBytes = 64 << 10

// A pager passes output to the terminal. It holds the output back until it fills the screen, then starts a paging
// program. begin does nothing on a nil pager, which stands for output that is not a terminal.
type pager struct {
	app     *app
	command []string // empty disables paging
	asked   bool     // page even output that fits, as in "| less"
	active  bool     // between begin and end
	held    []byte
	rows    int // screen rows that held fills

	program *exec.Cmd
	pipe    io.WriteCloser
}

// pagerCommand returns the paging program and its arguments, or nil if paging is disabled or the program is not
// installed.
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

// installed returns command if its program exists.
func installed(command []string) []string {
	if len(command) == 0 || command[0] == "cat" {
		return nil
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil
	}
	return command
}

// begin begins an output. If the last of filters is a pager, it is used. end ends the output and returns after the
// user has left the pager.
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

// isPager reports whether a filter is a pager.
func isPager(filter string) bool {
	return slices.Contains([]string{"less", "more"}, strings.ToLower(filter))
}

// through writes the held output and stops holding the rest.
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
		p.rows += 1 + max(utf8.RuneCountInString(report.Plain(line))-2, 0)/width
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
	if options, set := os.LookupEnv("LESS"); !set {
		program.Env = append(program.Env, "LESS=FRX") // exit after a short output, keep colors and the screen
	} else if p.app.colors() {
		program.Env = append(program.Env, "LESS="+options+" -R") // keep colors
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

// end writes the held output, or waits for the program. Meanwhile, Ctrl-C belongs to the program.
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
	_ = p.program.Wait() // the program's exit status does not matter
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
