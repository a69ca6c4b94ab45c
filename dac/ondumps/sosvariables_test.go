package ondumps_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

var (
	sosFrame    = regexp.MustCompile(`^([0-9A-F]{16}) ([0-9A-Fa-f]{16}) [^\[]`)
	sosVariable = regexp.MustCompile(`^ {8}.*?(?:0x([0-9A-F]{16})\)? = |(<CLR reg>)|(<no data>))`)
)

// A sosFrames walks SOS's list of the arguments and locals of a thread's frames.
type sosFrames struct {
	frames map[string]oracleFrame // by SP and IP
	rt     *dac.Runtime

	frame  *oracleFrame
	vars   []codeinfo.Variable
	offset uint32
	args   int
	next   int32
	locals bool
}

// heading starts a frame.
func (s *sosFrames) heading(sp, ip uint64) {
	s.frame, s.args, s.locals = nil, 0, false
	f, ok := s.frames[fmt.Sprintf("%x %x", sp, ip)]
	if !ok {
		return
	}
	info, err := dac.CodeOf(s.rt).MethodAt(target.Addr(ip))
	if err != nil || info.Method == nil {
		return
	}
	if s.vars, err = dac.CodeOf(s.rt).Variables(info); err == nil {
		s.frame, s.offset = &f, info.Offset
	}
}

// place returns the location of the next variable in SOS's form.
func (s *sosFrames) place() string {
	number := s.next
	s.next++
	if s.locals {
		number += int32(s.args)
	} else {
		s.args++
	}
	l, ok := codeinfo.Locate(s.vars, number, s.offset)
	if !ok {
		return "<no data>"
	}
	if a, ok := l.Address(s.frame.registers()); ok {
		return fmt.Sprintf("%016X", uint64(a))
	}
	return "<CLR reg>"
}

// TestVariablesOfSOS compares the locations of arguments and locals with SOS, for every frame.
func TestVariablesOfSOS(t *testing.T) {
	runtimes(t, func(t *testing.T, c *testcase.Case, rt *dac.Runtime) int {
		files, err := filepath.Glob(filepath.Join(c.Dir, "sos", "clrstack-a-t*.txt"))
		require.NoError(t, err)
		if len(files) == 0 {
			t.Skip("there is no output of SOS: clrstack -a")
		}
		s := sosFrames{frames: map[string]oracleFrame{}, rt: rt}
		for _, f := range testcase.Oracle[oracleFrame](t, c, "stacks") {
			if f.Kind == "ManagedMethod" {
				s.frames[fmt.Sprintf("%x %x", number(f.SP), number(f.IP))] = f
			}
		}
		checked := 0
		for _, file := range files {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			for line := range strings.Lines(string(b)) {
				if m := sosFrame.FindStringSubmatch(line); m != nil {
					sp, _ := strconv.ParseUint(m[1], 16, 64)
					ip, _ := strconv.ParseUint(m[2], 16, 64)
					s.heading(sp, ip)
					continue
				}
				if word := strings.TrimSpace(line); word == "PARAMETERS:" || word == "LOCALS:" {
					s.locals, s.next = word == "LOCALS:", 0
					continue
				}
				if m := sosVariable.FindStringSubmatch(line); m != nil && s.frame != nil {
					assert.Equal(t, m[1]+m[2]+m[3], s.place(), "%s: %s: %s", filepath.Base(file), s.frame.Signature, strings.TrimSpace(line))
					checked++
				}
			}
		}
		t.Logf("%d variables", checked)
		return checked
	})
}
