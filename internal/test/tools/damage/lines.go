package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
)

// A line is a command with its arguments.
type line struct {
	command string
	text    string
	reads   []place // read from the undamaged dump's file
	at      []place // places of its addresses, and what they point to
	sound   uint64  // checksum of its output for the undamaged dump
}

// linesPerCommand is the number of lines of each command for one subject.
const linesPerCommand = 5

// about lists the kinds of values for each argument of a command, the best first. Commands that are
// not listed get any address.
var about = map[string][][]string{
	"eval": {{"dumpheap.address"}}, "dumparray": {{"dumpheap.address"}}, "dumpdelegate": {{"dumpheap.address"}}, "dumpobj": {{"dumpheap.address", "object"}},
	"dumpobjgcrefs": {{"dumpheap.address", "object"}}, "dumpstring": {{"dumpheap.address"}}, "dumpvc": {{"methodTable"}, {"dumpheap.address"}},
	"gcwhere": {{"dumpheap.address"}}, "listnearobj": {{"dumpheap.address"}}, "verifyobj": {{"dumpheap.address"}}, "dumpalc": {{"dumpheap.address"}},
	"findappdomain": {{"dumpheap.address"}}, "printexception": {{"dumpexceptions.address", "dumpheap.address"}},
	"dumpmt": {{"methodTable"}}, "dumpclass": {{"dumpclass.class", "eeClass", "methodTable"}}, "dumpmd": {{"methodDesc"}}, "dumpil": {{"methodDesc"}},
	"clru": {{"ip", "methodDesc"}}, "gcinfo": {{"methodDesc", "ip"}}, "ehinfo": {{"methodDesc", "ip"}}, "ip2md": {{"ip"}}, "dumpmodule": {{"module"}},
	"dumpassembly": {{"assembly"}}, "dumpdomain": {{"domain"}}, "savemodule": {{"imageBase", "modules.address"}}, "dumpsig": {{"any"}, {"module"}},
	"dumpsigelem": {{"any"}, {"module"}}, "traverseheap": {}, "pack": {}, "report": {}, "scrub": {}, "shrink": {},
}

// words are texts for arguments and options, by command and by the argument's name. The default is
// the name of a type.
var words = map[string][]string{
	"gen": {"gen0", "gen1", "gen2", "loh", "poh", "foh"}, "heap": {"0", "0", "1"},
	"generation": {"gen0", "gen1", "gen2", "loh", "poh", "foh", "0"}, "id": {"0", "1", "9", "8"}, "state": {"1021220", "ffffffff"},
	"token": {"02000002", "06000001", "04000001", "06ffffff", "70000001"}, "form": {"speedscope", "pprof", "folded"},
	"time": {"2026-11-26T09:00:00Z", "30s"}, "modified": {"2026-11-26T09:00:00Z"}, "label": {"service=shop"},
}

// needed are commands that need an address unless one was given before.
var needed = map[string]bool{"d": true, "da": true, "db": true, "dc": true, "dd": true, "dp": true, "dq": true, "du": true, "dw": true}

// generate generates lines for every command that needs a dump.
func (s *subject) generate(random *rand.Rand) {
	for _, c := range commands.All() {
		if !c.NeedsDump || c.Serves {
			continue
		}
		n := linesPerCommand
		if options, _ := c.Declares(); len(options) > 4 {
			n *= 2
		}
		if needed[c.Name] {
			n = 3
		}
		seen := map[string]bool{}
		for i := range n {
			text := s.line(random, &c, i == 0)
			if !seen[text] {
				seen[text] = true
				s.lines = append(s.lines, line{command: c.Name, text: text})
			}
		}
	}
}

// line returns a line for a command. A bare line has no options and few arguments.
func (s *subject) line(random *rand.Rand, c *cli.Command, bare bool) string {
	out := []string{c.Name}
	if c.Name == "pack" || c.Name == "report" || c.Name == "scrub" || c.Name == "shrink" { // FILE is a required option
		return c.Name + " -o " + quote(filepath.Join(s.out(), "written"))
	}
	options, args := c.Declares()
	for i := range options {
		o := &options[i]
		if bare || random.IntN(4) > 0 || o.Kind == cli.File || o.Name == "end" || s.selects(o.Name) && random.IntN(2) == 0 {
			continue
		}
		if o.Kind == cli.Bool {
			out = append(out, "-"+o.Name)
		} else if v := s.value(random, c, o.Name, o.Kind, o.Choices, 0); v != "" {
			out = append(out, "-"+o.Name, v)
		}
	}
	address := 0
	for i := range args {
		a := &args[i]
		if c.DumpArg || a.Optional && (a.Kind == cli.Address && !needed[c.Name] && random.IntN(4) == 0 || a.Kind != cli.Address && (bare || random.IntN(2) > 0)) {
			break
		}
		v := s.value(random, c, a.Name, a.Kind, a.Choices, address)
		if v == "" {
			break
		}
		if a.Kind == cli.Address {
			address++
		}
		out = append(out, v)
	}
	return strings.Join(out, " ")
}

// selects reports whether an option omits most of an answer.
func (s *subject) selects(option string) bool {
	switch option {
	case "min", "max", "type", "mt", "start", "length", "gen", "heap", "segment":
		return true
	}
	return false
}

// value returns a value for the named argument or option, or "". nth counts the addresses before
// it.
func (s *subject) value(random *rand.Rand, c *cli.Command, name string, kind cli.Kind, choices []string, nth int) string {
	if w := words[name]; len(w) > 0 {
		return w[random.IntN(len(w))]
	}
	if len(choices) > 0 {
		return choices[random.IntN(len(choices))]
	}
	switch kind {
	case cli.Address:
		return s.address(random, c, name, nth)
	case cli.Int, cli.Size:
		return strconv.Itoa([]int{0, 1, 2, 7, 100, 4096}[random.IntN(6)])
	case cli.File:
		return quote(filepath.Join(s.out(), "written"))
	case cli.TypeName:
		v, _ := s.pools.pick(random, "=type", "=name", "=className")
		if c.Name == "name2ee" {
			return "* " + quote(v)
		}
		return quote(v)
	}
	switch name {
	case "thread", "what":
		v, _ := s.pools.pick(random, "=osId")
		if n, err := strconv.ParseUint(v, 10, 32); err == nil {
			return "0x" + hex(n)
		}
		return ""
	case "module":
		return quote("*")
	case "end": // of a range
		return "7fffffffffff"
	case "pattern":
		return "System"
	case "expression":
		form := []string{"type(0x%s)", "size(0x%s)", "gen(0x%s)", "refs(0x%s)", "0x%s + 8"}
		return quote(fmt.Sprintf(form[random.IntN(len(form))], s.address(random, c, name, nth)))
	}
	v, _ := s.pools.pick(random, "=name", "=type")
	return quote(v)
}

func (s *subject) address(random *rand.Rand, c *cli.Command, name string, nth int) string {
	wanted := about[c.Name]
	var keys []string
	switch {
	case name == "mt":
		keys = []string{"methodTable"}
	case name == "module":
		keys = []string{"module"}
	case nth < len(wanted) && random.IntN(6) > 0:
		keys = wanted[nth]
	}
	v, ok := s.pools.pick(random, append(keys, "any")...)
	if !ok {
		return "7f0000001000"
	}
	return v
}

func quote(s string) string {
	if s == "" || strings.ContainsAny(s, " '<>|") {
		return `"` + s + `"`
	}
	return s
}
