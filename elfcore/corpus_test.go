package elfcore_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/elfcore"
	"github.com/sosgo/sosgo/internal/mmapfile"
	"github.com/sosgo/sosgo/target"
)

// A corpusCase is a folder of the corpus that holds an ELF core.
type corpusCase struct {
	dir, name string
	core      *elfcore.File
	opened    time.Duration
}

// corpus calls f for every ELF core of the folder that SOSGO_CORPUS names.
func corpus(t *testing.T, f func(*testing.T, *corpusCase)) {
	root := os.Getenv("SOSGO_CORPUS")
	if root == "" {
		t.Skip("SOSGO_CORPUS is not set")
	}
	dirs, err := filepath.Glob(filepath.Join(root, "*", "manifest.json"))
	require.NoError(t, err)
	for _, manifest := range dirs {
		c := &corpusCase{dir: filepath.Dir(manifest)}
		c.name = filepath.Base(c.dir)
		if strings.HasPrefix(c.name, "win-") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			src, err := mmapfile.Open(filepath.Join(c.dir, c.name+".dmp"), false)
			require.NoError(t, err)
			defer src.Close()
			start := time.Now()
			c.core, err = elfcore.Open(src)
			c.opened = time.Since(start)
			require.NoError(t, err)
			f(t, c)
		})
	}
}

// lines calls f for each line of a file of the case, if it has it.
func (c *corpusCase) lines(t *testing.T, name string, f func(line string)) bool {
	file, err := os.Open(filepath.Join(c.dir, name))
	if os.IsNotExist(err) {
		return false
	}
	require.NoError(t, err)
	defer file.Close()
	s := bufio.NewScanner(file)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		f(s.Text())
	}
	require.NoError(t, s.Err())
	return true
}

func parseHex(t *testing.T, s string) uint64 {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	require.NoError(t, err)
	return v
}

func TestCorpusOpens(t *testing.T) {
	corpus(t, func(t *testing.T, c *corpusCase) {
		assert.Empty(t, c.core.Warnings())
		assert.Less(t, c.opened, 20*time.Millisecond)
	})
}

func TestCorpusManifest(t *testing.T) {
	corpus(t, func(t *testing.T, c *corpusCase) {
		b, err := os.ReadFile(filepath.Join(c.dir, "manifest.json"))
		require.NoError(t, err)
		var m struct {
			PID     uint32
			Tool    string
			Threads []struct{ TID uint32 }
		}
		require.NoError(t, json.Unmarshal(b, &m))
		assert.Equal(t, m.PID, c.core.Process().ID)
		ids := map[uint32]bool{}
		for _, th := range c.core.Threads() {
			ids[th.ID] = true
			assert.False(t, th.Stack.Size() == 0, "thread %d has no stack", th.ID)
		}
		for _, th := range m.Threads {
			assert.True(t, ids[th.TID], "thread %d", th.TID)
		}
		e, ok := c.core.Exception()
		assert.Equal(t, m.Tool == "runtime", ok, "exception")
		if ok {
			assert.Equal(t, "SIGABRT", e.Words)
		}
	})
}

// TestCorpusModules compares with the module list of SOS and of ClrMD.
func TestCorpusModules(t *testing.T) {
	line := regexp.MustCompile(`^([0-9A-F]{16}) ([0-9A-F]{8,}) (/.*)$`)
	corpus(t, func(t *testing.T, c *corpusCase) {
		ours := map[target.Addr]target.Module{}
		for _, m := range c.core.Modules() {
			ours[m.Base] = m
		}
		listed := map[target.Addr]bool{}
		found := c.lines(t, "sos/modules.txt", func(s string) {
			f := line.FindStringSubmatch(s)
			if f == nil {
				return
			}
			base := target.Addr(parseHex(t, f[1]))
			listed[base] = true
			m, ok := ours[base]
			if assert.True(t, ok, "missing: %s", s) {
				assert.Equal(t, f[3], m.Path)
				assert.Equal(t, f[2], fmt.Sprintf("%08X", sizeOfSOS(c.core.Modules(), m)), "%v %s", m.Base, m.Path)
			}
		})
		if !found {
			return
		}
		for a, m := range ours {
			// SOS does not list the dynamic linker.
			assert.True(t, listed[a] || strings.Contains(m.Path, "/ld-linux"), "SOS does not list %v %#x %s", a, m.Size, m.Path)
		}
	})
}

// sizeOfSOS is the size that SOS prints for m: of PE images SizeOfImage, as
// far as that is free, even where the image lies flat.
func sizeOfSOS(all []target.Module, m target.Module) uint64 {
	if m.SizeOfImage == 0 {
		return m.Size
	}
	size := uint64(m.SizeOfImage)
	for _, o := range all {
		if o.Base > m.Base {
			size = min(size, uint64(o.Base-m.Base))
		}
	}
	return size
}
