package ondumps_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// withoutIL opens a dump without the IL of the program's methods, as where the program's files were mapped and are missing. It returns how many methods lost theirs. The
// classes kept, and what is nested in them, have it: a dump may have some pages of a file.
func withoutIL(t *testing.T, d *sosgo.Dump, kept ...string) (bare *sosgo.Dump, lost int) {
	t.Helper()
	sound := &testdump.Altered{Target: d.Target()}
	rt, err := view(t, sound.Open(t, sosgo.Options{Offline: true})).Process.Runtime()
	require.NoError(t, err)
	modules, err := rt.KnownModules()
	require.NoError(t, err)
	code := dac.CodeOf(rt)
	var holes []target.Range
	for _, m := range modules {
		name, err := m.SimpleName()
		require.NoError(t, err)
		if answer.LibraryMethod(name + ".") {
			continue
		}
		md, err := m.Metadata()
		require.NoError(t, err)
		for row := uint32(1); row <= md.RowCount(metadata.TableMethodDef); row++ {
			if _, err := code.ILOf(m, row); err != nil { // the first reads the headers of the image, too
				continue
			}
			owner, err := md.MethodOwner(row)
			require.NoError(t, err)
			class, err := md.TypeDefFullName(owner)
			require.NoError(t, err)
			if slices.ContainsFunc(kept, func(of string) bool { return class == of || strings.HasPrefix(class, of+"+") }) {
				continue
			}
			holes = append(holes, sound.Reads(func() { _, _ = code.ILOf(m, row) })...)
			lost++
		}
	}
	return (&testdump.Altered{Target: d.Target(), Holes: holes}).Open(t, sosgo.Options{Offline: true}), lost
}

// saysUnread is the form of a reason of missing IL.
const saysUnread = `^(whether the waits? of [0-9]+ (thread|suspended operation).* ends?(, the first in .+)?` +
	`|what the waiting code does|whether thread .*): (the IL of [0-9]+ of [0-9]+ methods of \w+\.dll|IL of method)`

// TestWithoutIL opens all canned dumps of waits without the IL of the program's methods. What could be said with it is said, or the locks were read in part: that is
// never silent. What goes on is no finding.
func TestWithoutIL(t *testing.T) {
	list, err := filepath.Glob("../../../../testdata/dumps/waits/*/*.dmp.zst")
	require.NoError(t, err)
	if len(list) == 0 {
		t.Skip("there are no canned dumps here")
	}
	for _, path := range list {
		name := strings.TrimSuffix(filepath.Base(path), ".dmp.zst")
		t.Run(name, func(t *testing.T) {
			t.Attr(testcase.AttrCase, name)
			d := openCanned(t, path)
			with, err := triage.Triage(t.Context(), view(t, d).Process, triage.Options{NoHeap: true})
			require.NoError(t, err)
			bare, _ := withoutIL(t, d)
			without, err := triage.Triage(t.Context(), view(t, bare).Process, triage.Options{NoHeap: true})
			require.NoError(t, err)
			reasons := unreadIL(without)
			if len(with.Findings) == 0 {
				var says []string
				for i := range without.Findings {
					f := &without.Findings[i]
					if f.Kind == answer.FindingHeld && f.Severity == answer.SeverityWarning && strings.Contains(f.Text, " itself waits for ") {
						continue // who holds and who waits is read without IL, and not whether it goes on
					}
					says = append(says, f.Text)
				}
				assert.Empty(t, says, "nothing is wrong with the process")
			}
			if len(without.Findings) < len(with.Findings) {
				assert.NotEmpty(t, reasons, "some findings need the IL: %d of %d are left", len(without.Findings), len(with.Findings))
			}
			assert.LessOrEqual(t, len(reasons), 1, "the reason is said once")
			for _, r := range reasons {
				assert.Regexp(t, saysUnread, r)
			}
		})
	}
}

// unreadIL returns why subjects of a triage were read in part, where IL is missing.
func unreadIL(a *answer.Triage) (out []string) {
	for _, u := range a.Unknown {
		if errors.Is(u.Err, dac.ErrILMissing) && !slices.Contains(out, u.Reason) {
			out = append(out, u.Reason)
		}
	}
	return out
}

// TestUnreadCode: one note names the waits that only the program's code may end, as many as are wrong, and the file with its IL. It is missing where nothing waits so.
func TestUnreadCode(t *testing.T) {
	for path, says := range map[string]string{
		endedWaits: "whether the waits of 36 threads and 4 suspended operations end, the first in Depot.LaneGone.<Run>m__1: the IL of 151 of 151 methods of Debuggee.dll is not in the dump",
		idleWaits:  "",
	} {
		bare, lost := withoutIL(t, openCanned(t, path))
		require.NotZero(t, lost)
		w, err := locks.Waits(t.Context(), view(t, bare).Process, locks.Options{})
		require.NoError(t, err)
		if says == "" {
			assert.Empty(t, w.Noted())
			continue
		}
		require.Len(t, w.Noted(), 1)
		err = w.Noted()[0]
		assert.EqualError(t, err, says)
		assert.ErrorIs(t, err, target.ErrNotInDump)
		var advises interface{ Advice() string }
		require.ErrorAs(t, err, &advises)
		assert.Contains(t, advises.Advice(), "Debuggee.dll: --modules DIR")
	}
}
