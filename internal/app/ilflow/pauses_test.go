package ilflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/metadata"
)

// TestPausesIn checks which loops pause a constant number of times, in the forms in which compilers write them. The loop is from the first nop (00) on.
func TestPausesIn(t *testing.T) {
	const (
		load, store    = this + "\x7b\x02\x00\x00\x04", "\x7d\x02\x00\x00\x04" // the field 2
		zero, one      = "\x16", "\x17"
		twenty, ms     = "\x1f\x14", "\x1f\x19"
		add, blt, br   = "\x58", "\x32", "\x2b"
		copyTo, copyOf = "\x0a", "\x06"
		ret            = "\x2a"
	)
	first := this + zero + store
	raise := load + copyTo + this + copyOf + one + add + store
	plain := this + load + one + add + store
	loop := func(body string, test string) string { // jumps back to the nop
		return "\x00" + body + test + blt + string([]byte{byte(256 - 1 - len(body) - len(test) - 2)}) + ret
	}
	for name, c := range map[string]struct {
		il   string
		want int64
	}{
		"a field of the state machine":                 {first + loop(ms+callDelay+raise, load+twenty), 20},
		"by another compiler":                          {first + loop(ms+callDelay+plain, load+twenty), 20},
		"a local variable":                             {zero + "\x0b" + loop(ms+callDelay+"\x07"+one+add+"\x0b", "\x07"+twenty), 20},
		"with a token":                                 {first + loop(ms+this+"\x7b\x03\x00\x00\x04"+callDelay+raise, load+twenty), 20},
		"from an unknown number on":                    {this + "\x03" + store + loop(ms+callDelay+raise, load+twenty), 0},
		"up to an unknown number":                      {first + loop(ms+callDelay+raise, load+"\x03"), 0},
		"for an unknown time":                          {first + loop("\x03"+callDelay+raise, load+twenty), 0},
		"two pauses":                                   {first + loop(ms+callDelay+ms+callDelay+raise, load+twenty), 0},
		"no pause":                                     {first + loop(raise, load+twenty), 0},
		"the number is set anew":                       {first + loop(first+ms+callDelay+raise, load+twenty), 0},
		"its address is taken":                         {first + this + "\x7c\x02\x00\x00\x04\x26" + loop(ms+callDelay+raise, load+twenty), 0},
		"a turn without a step":                        {first + loop(br+string([]byte{byte(len(ms + callDelay + raise))})+ms+callDelay+raise, load+twenty), 0},
		"another variable is raised than the one read": {first + loop(ms+callDelay+"\x07"+one+add+"\x0b", load+twenty), 0},
	} {
		start := -1
		for in, err := range metadata.Instructions([]byte(c.il)) {
			require.NoError(t, err, name)
			if in.Opcode.String() == "nop" && start < 0 {
				start = in.Offset
			}
		}
		require.GreaterOrEqual(t, start, 0, name)
		// A jump back to the nop is one to the instruction behind it for what leaves out nops.
		il := []byte(c.il)
		end := len(il) - 1
		il[end-1]++
		turns, ok := PausesIn(il, start+1, end, nil, calledName)
		assert.Equal(t, c.want > 0, ok, name)
		assert.Equal(t, c.want, turns, name)
		_, two := PausesIn(il, start+1, end, []int{start + 1, start + 2}, calledName)
		assert.False(t, two, "%s: another await in the loop", name)
		for n := range il {
			_, _ = PausesIn(il[:n], start+1, end, nil, calledName) // an answer, and no panic
		}
	}
}

// TestFinds: code finds what another one has made if what it reads before it leaves is stored behind an await. It begins with the end of the await.
func TestFinds(t *testing.T) {
	const (
		owner                        = "\x07" // ldloc.1
		loadA, storeA, storeB, addrA = "\x7b\x01\x00\x00\x04", "\x7d\x01\x00\x00\x04", "\x7d\x02\x00\x00\x04", "\x7c\x01\x00\x00\x04"
		brfalse, brtrue, ret         = "\x2c", "\x2d", "\x2a"
		pause                        = "\x1f\x19" + callDelay + getAwaiter + isCompleted + "\x26" + getResult
	)
	leave := owner + callRelease + "\x26" + ret
	for name, c := range map[string]struct {
		il   string
		want bool
	}{
		"it is renewed":                   {getResult + owner + loadA + brfalse + "\x08" + leave + pause + owner + "\x14" + storeA + leave, true},
		"it is renewed, and volatile":     {getResult + owner + addrA + readOf + brfalse + "\x08" + leave + pause + owner + addrA + "\x14" + writeOf + leave, true},
		"something else is stored":        {getResult + owner + loadA + brfalse + "\x08" + leave + pause + owner + "\x14" + storeB + leave, false},
		"nothing is stored":               {getResult + owner + loadA + brfalse + "\x08" + leave + pause + leave, false},
		"each pauses":                     {getResult + owner + loadA + "\x26" + pause + owner + "\x14" + storeA + leave, false},
		"it reads its own state machine":  {getResult + this + loadA + brfalse + "\x08" + leave + pause + this + "\x14" + storeA + leave, false},
		"the way around does not give up": {getResult + owner + loadA + brtrue + "\x01" + ret + pause + owner + "\x14" + storeA + leave, false},
	} {
		g, err := ReadFlow(&metadata.MethodBody{Code: []byte(c.il)})
		require.NoError(t, err, name)
		releases := g.CallsBehind(0, func(m metadata.Token) bool { return calledName(m) == "SemaphoreSlim.Release" })
		assert.Equal(t, c.want, g.Finds(0, releases, calledName), name)
	}
}
