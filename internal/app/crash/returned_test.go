package crash_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestMainReturned checks that Main has returned if the first thread is a background thread outside managed code, and
// that the threads that keep the process alive are named. Another process's dump is changed to be so.
func TestMainReturned(t *testing.T) {
	const waiting = 29 // the first managed id of threads that wait for locks; those before sleep
	for name, in := range map[string]struct {
		root, background, frames, others bool
		from                             uint32 // the first managed id of the other threads
	}{
		"returned":      {root: true, background: true, others: true, from: waiting},
		"at work":       {root: true, background: true, others: true, from: 4},
		"ending":        {root: true, background: true},
		"in Main":       {root: true, background: true, frames: true, others: true},
		"foreground":    {root: true, others: true},
		"no .NET's own": {background: true, others: true},
	} {
		t.Run(name, func(t *testing.T) {
			sound := testdump.Open(t, "net10-stacks")
			rt, err := sound.Runtime()
			require.NoError(t, err)
			offset := func(structure, member string) target.Addr {
				off, err := rt.Layout().Offset(structure, member)
				require.NoError(t, err)
				return target.Addr(off)
			}
			root, err := rt.RootAssembly()
			require.NoError(t, err)
			require.NotZero(t, root)
			domain, err := rt.AppDomain()
			require.NoError(t, err)
			var damage []testcase.Damage
			if !in.root {
				damage = append(damage, testdump.Words(domain.Addr+offset("AppDomain", "RootAssembly"), 0))
			}
			list, err := rt.Threads()
			require.NoError(t, err)
			kept, background := 0, uint32(0)
			for _, th := range list {
				state := th.State
				switch {
				case th.OSID == sound.Target().Process().ID:
					if state &^= dac.ThreadBackground; in.background {
						state |= dac.ThreadBackground
					}
					if !in.frames {
						damage = append(damage, testdump.Words(th.Addr+offset("Thread", "Frame"), ^uint64(0)))
					}
				case th.Finalizer || th.OSID == 0 || th.ManagedID < max(in.from, 4):
				case in.others && kept < 2:
					kept++
					state &^= dac.ThreadBackground
				}
				damage = append(damage, testcase.Damage{At: th.Addr + offset("Thread", "State"), Bytes: binary.LittleEndian.AppendUint32(nil, uint32(state))})
				if state&dac.ThreadBackground != 0 && state&(dac.ThreadDead|dac.ThreadUnstarted) == 0 {
					background++
				}
			}
			store, err := rt.GlobalPointer("ThreadStore")
			require.NoError(t, err)
			damage = append(damage, testcase.Damage{At: store + offset("ThreadStore", "BackgroundCount"), Bytes: binary.LittleEndian.AppendUint32(nil, background)})
			v, err := sound.Damaged(t, damage...).View("")
			require.NoError(t, err)
			_, err = v.Process.Threads()
			require.NoError(t, err)
			page, err := crash.Describe(t.Context(), v.Process, crash.Options{})
			require.NoError(t, err)
			var said []string
			for _, v := range page.Verdicts {
				if len(v.Text) > 4 && v.Text[:4] == "Main" {
					said = append(said, v.Text)
					assert.Equal(t, answer.StrengthLikely, v.Strength)
				}
			}
			switch name {
			case "returned":
				require.Len(t, said, 1)
				assert.Regexp(t, `^Main has returned; foreground threads keep the process alive: \d+ \(0x[0-9a-f]+\) ".*", \d+ \(0x[0-9a-f]+\) ".*"$`, said[0])
			case "ending":
				assert.Equal(t, []string{"Main has returned, and no foreground thread is left: the process is ending"}, said)
			default:
				assert.Empty(t, said)
			}
		})
	}
}

// TestServerBehindMain checks that a process does not end if a foreground thread waits for the next item of a collection and another thread may add one. If
// no other thread is left, nothing but the wait keeps it. A wait for a pulse or an event in a loop that goes on is such a service, too, but not one wait, nor
// a loop that counts.
func TestServerBehindMain(t *testing.T) {
	for name, want := range map[string]bool{"fed": false, "alone": true, "loop": false, "event": false, "once": true, "counted": true} {
		d, err := sosgo.Open("../../../testdata/dumps/waits/net10-foreground/net10-"+name+".dmp.zst", sosgo.Options{Offline: true})
		require.NoError(t, err)
		defer d.Close()
		v, err := d.View("")
		require.NoError(t, err)
		page, err := crash.Describe(t.Context(), v.Process, crash.Options{})
		require.NoError(t, err)
		ends := slices.ContainsFunc(page.Verdicts, func(v answer.Verdict) bool { return v.Kind == answer.FindingEnding })
		assert.Equal(t, want, ends, name)
	}
}
