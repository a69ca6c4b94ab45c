package ondumps_test

import (
	"fmt"
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

// oracleFrame is a frame of oracle/stacks.jsonl.
type oracleFrame struct {
	OSID      uint32 `json:"osId"`
	Index     int
	IP, SP    string
	Kind      string
	Frame     string
	Signature string
	Registers map[string]string
}

func (f *oracleFrame) key() string { return fmt.Sprint(f.OSID, " ", f.IP, " ", f.SP) }

// oracleRoot is a reference of oracle/stackroots.jsonl.
type oracleRoot struct {
	OSID           uint32 `json:"osId"`
	Object         string
	Interior       bool
	Pinned         bool
	Register       *string
	RegisterOffset int32
	Frame          struct{ IP, SP string }
	Address        string
}

func number(s string) uint64 {
	n, _ := strconv.ParseUint(s, 0, 64)
	return n
}

// registers returns the frame's registers recorded in the oracle.
func (f *oracleFrame) registers() *target.Registers {
	regs := &target.Registers{Arch: target.ArchAMD64}
	for n := target.RAX; n <= target.R15; n++ {
		if v, ok := f.Registers[target.RegName(target.ArchAMD64, n)]; ok {
			regs.Set(n, number(v))
		}
	}
	regs.Set(target.RSP, number(f.SP))
	return regs
}

// TestStackRoots compares the live slots of every frame with the references in the oracle. The oracle omits
// nulls, managed pointers to anything but objects, and frames that an exception has left or with a funclet that
// was reported before. The stack walk decides which frames these are.
func TestStackRoots(t *testing.T) {
	runtimes(t, func(t *testing.T, c *testcase.Case, rt *dac.Runtime) int {
		want := map[string][]string{}
		for _, r := range testcase.OracleIfAny[oracleRoot](t, c, "stackroots") {
			if r.Register == nil {
				continue // reported for an explicit frame
			}
			key := fmt.Sprint(r.OSID, " ", r.Frame.IP, " ", r.Frame.SP)
			text := strings.ToLower(*r.Register) // X19 and Fp in the oracle, x19 and fp in SOS
			if number(r.Address) != 0 {
				text += codeinfo.FormatOffset(r.RegisterOffset)
			}
			want[key] = append(want[key], text+flagText(r.Interior, r.Pinned))
		}
		abi, err := rt.Target().Platform().ABI()
		require.NoError(t, err)
		var d codeinfo.GCDecoder
		var last oracleFrame
		frames, exact, roots, unknown := 0, 0, 0, 0
		for _, f := range testcase.Oracle[oracleFrame](t, c, "stacks") {
			previous := last
			last = f
			if f.Kind != "ManagedMethod" {
				continue
			}
			var state codeinfo.FrameState
			if f.Index == 0 || resumes(previous) {
				state = codeinfo.ActiveFrame
			}
			info, err := dac.CodeOf(rt).MethodAt(target.Addr(number(f.IP)))
			if err != nil || info.Method == nil {
				unknown++
				t.Logf("%s %s: %v", f.IP, f.Signature, err)
				continue
			}
			got, err := liveTexts(rt, &d, info, f.registers(), codeinfo.Query{Offset: info.Offset, State: state, ABI: abi})
			if err != nil {
				assert.ErrorIs(t, err, target.ErrNotInDump)
				unknown++
				continue
			}
			frames++
			roots += len(want[f.key()])
			for _, w := range want[f.key()] {
				assert.Contains(t, got, w, "thread %d frame %d: %s", f.OSID, f.Index, f.Signature)
			}
			if len(got) == len(want[f.key()]) {
				exact++
			}
		}
		t.Logf("%d frames, %d exact, %d references; GC info of %d frames not in the dump", frames, exact, roots, unknown)
		return frames
	})
}

func resumes(f oracleFrame) bool {
	return f.Kind == "Runtime" && (strings.HasPrefix(f.Frame, "Redirected") || f.Frame == "ResumableFrame")
}

func flagText(interior, pinned bool) string {
	var f codeinfo.SlotFlags
	if interior {
		f |= codeinfo.SlotInterior
	}
	if pinned {
		f |= codeinfo.SlotPinned
	}
	return f.String()
}

// liveTexts returns the live slots of a frame that do not hold null.
func liveTexts(rt *dac.Runtime, d *codeinfo.GCDecoder, info dac.CodeInfo, regs *target.Registers, q codeinfo.Query) ([]string, error) {
	if err := dac.CodeOf(rt).DecodeGCInfo(d, info); err != nil {
		return nil, err
	}
	slots, err := d.LiveSlots(nil, q)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range slots {
		v, ok := regs.Get(s.Reg)
		if s.Base != codeinfo.BaseRegister {
			a, known := s.Address(regs, 0)
			if ok = known; known {
				if v, err = target.Uint64(rt.Memory(), a); err != nil {
					return nil, err
				}
			}
		}
		if !ok || v != 0 {
			out = append(out, s.String()+flagText(s.Flags&codeinfo.SlotInterior != 0, s.Flags&codeinfo.SlotPinned != 0))
		}
	}
	return out, nil
}
