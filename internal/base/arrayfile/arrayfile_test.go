package arrayfile_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/arrayfile"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/target"
)

var key = arrayfile.Key{1, 2, 3}

// sections returns arrays of several sizes: one is empty, one is larger than a checksummed piece.
func sections() []arrayfile.Section {
	long := make([]uint32, 300_000)
	for i := range long {
		long[i] = uint32(i * i)
	}
	return []arrayfile.Section{
		{Name: "long", Data: arrayfile.Bytes(long)},
		{Name: "none", Data: arrayfile.Bytes([]uint64(nil))},
		{Name: "bytes", Data: []byte{1, 2, 3}},
		{Name: "words", Data: arrayfile.Bytes([]uint64{1 << 60, 5})},
	}
}

func written(t testing.TB, list []arrayfile.Section) string {
	name := filepath.Join(t.TempDir(), "arrays")
	require.NoError(t, arrayfile.Write(t.Context(), name, key, list))
	return name
}

func TestWriteAndOpen(t *testing.T) {
	name := written(t, sections())
	for _, o := range []arrayfile.Options{{}, {Workers: 1}, {NoMmap: true, Budget: offheap.NewBudget(0)}} {
		f, err := arrayfile.Open(t.Context(), name, key, o)
		require.NoError(t, err)
		require.Equal(t, o.NoMmap, o.Budget.InUse() > 0)
		for _, s := range sections() {
			got, err := arrayfile.Values[byte](f, s.Name)
			require.NoError(t, err)
			require.True(t, bytes.Equal(s.Data, got), s.Name)
		}
		words, err := arrayfile.Values[uint64](f, "words")
		require.NoError(t, err)
		require.Equal(t, []uint64{1 << 60, 5}, words)
		_, err = arrayfile.Values[uint32](f, "bytes")
		require.ErrorIs(t, err, target.ErrCorrupt)
		_, err = arrayfile.Values[uint32](f, "other")
		require.ErrorIs(t, err, target.ErrCorrupt)
		require.NoError(t, f.Close())
		require.Zero(t, o.Budget.InUse())
	}
}

// TestRefused: Open distinguishes a missing file, a file with another key, and a truncated or
// extended one.
func TestRefused(t *testing.T) {
	name := written(t, sections())
	_, err := arrayfile.Open(t.Context(), name, arrayfile.Key{1}, arrayfile.Options{})
	require.ErrorIs(t, err, target.ErrUnsupported)
	_, err = arrayfile.Open(t.Context(), name+"x", key, arrayfile.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	for _, n := range []int{0, 1, 100, 4095, 4096, 5000, len(whole) / 2, len(whole) - 1, len(whole) + 1} {
		cut := append(bytes.Clone(whole), 0)[:n]
		require.NoError(t, os.WriteFile(name, cut, 0o600))
		_, err = arrayfile.Open(t.Context(), name, key, arrayfile.Options{})
		require.ErrorIs(t, err, target.ErrCorrupt, "%d bytes", n)
	}
	for at, b := range map[int]byte{16: 9, 20: 2} { // byte order, version
		other := bytes.Clone(whole)
		other[at] = b
		require.NoError(t, os.WriteFile(name, other, 0o600))
		_, err = arrayfile.Open(t.Context(), name, key, arrayfile.Options{})
		require.ErrorIs(t, err, target.ErrUnsupported)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, os.WriteFile(name, whole, 0o600))
	_, err = arrayfile.Open(ctx, name, key, arrayfile.Options{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = arrayfile.Open(t.Context(), name, key, arrayfile.Options{NoMmap: true, Budget: offheap.NewBudget(1000)})
	require.ErrorIs(t, err, target.ErrLimit)
}

// TestFlips: a flipped bit is either detected, or lies in padding and changes no section.
func TestFlips(t *testing.T) {
	list := []arrayfile.Section{{Name: "a", Data: []byte("some bytes")}, {Name: "b", Data: arrayfile.Bytes([]uint32{1, 2, 3})}}
	name := written(t, list)
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	refused := 0
	for at := range whole {
		if at > 200 && at%4096 > 12 && at%997 != 0 {
			continue // zeros up to the next page
		}
		for bit := at % 3; bit < 8; bit += 3 {
			flipped := bytes.Clone(whole)
			flipped[at] ^= 1 << bit
			require.NoError(t, os.WriteFile(name, flipped, 0o600))
			f, err := arrayfile.Open(t.Context(), name, key, arrayfile.Options{Workers: 1, NoMmap: true})
			if err != nil {
				refused++
				continue
			}
			for _, s := range list {
				got, err := arrayfile.Values[byte](f, s.Name)
				require.NoError(t, err)
				require.Equal(t, s.Data, got, "bit %d of byte %d", bit, at)
			}
			require.NoError(t, f.Close())
		}
	}
	require.Greater(t, refused, 400)
}

// TestWriteOver: Write replaces a file of its own kind and no other file.
func TestWriteOver(t *testing.T) {
	name := written(t, sections())
	require.NoError(t, arrayfile.Write(t.Context(), name, key, sections()[2:]))
	require.NoError(t, os.WriteFile(name, []byte("a letter to a friend"), 0o600))
	require.ErrorIs(t, arrayfile.Write(t.Context(), name, key, sections()), fs.ErrExist)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "a letter to a friend", string(text))
	require.Error(t, arrayfile.Write(t.Context(), filepath.Join(name, "below"), key, sections()))
	require.Error(t, arrayfile.Write(t.Context(), name, key, []arrayfile.Section{{Name: "a name of more than 24 bytes"}}))
	require.Error(t, arrayfile.Write(t.Context(), name, key, make([]arrayfile.Section, 1000)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, arrayfile.Write(ctx, filepath.Join(t.TempDir(), "arrays"), key, sections()), context.Canceled)
}

// FuzzOpen: for any content, Open returns, and sections lie inside the file.
func FuzzOpen(f *testing.F) {
	name := written(f, []arrayfile.Section{{Name: "a", Data: []byte("some bytes")}, {Name: "b", Data: arrayfile.Bytes([]uint32{1, 2, 3})}})
	whole, err := os.ReadFile(name)
	require.NoError(f, err)
	f.Add(whole)
	f.Add(whole[:5000])
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, noMmap := range []bool{false, true} {
			file, err := arrayfile.Open(context.Background(), name, key, arrayfile.Options{NoMmap: noMmap})
			if err != nil {
				continue
			}
			for _, s := range []string{"a", "b"} {
				if list, err := arrayfile.Values[uint32](file, s); err == nil && len(list)*4 > len(data) {
					t.Fatalf("%d values in %d bytes", len(list), len(data))
				}
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Store an array that took long to compute, and map it the next time.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, name, key := context.Background(), filepath.Join(dir, "squares"), arrayfile.Key{7}
	squares := []uint32{0, 1, 4, 9}
	fmt.Println(arrayfile.Write(ctx, name, key, []arrayfile.Section{{Name: "squares", Data: arrayfile.Bytes(squares)}}))

	f, err := arrayfile.Open(ctx, name, key, arrayfile.Options{})
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Println(arrayfile.Values[uint32](f, "squares"))
	_, err = arrayfile.Open(ctx, name, arrayfile.Key{8}, arrayfile.Options{})
	fmt.Println(err)
	// Output:
	// <nil>
	// [0 1 4 9] <nil>
	// it is of something else
}
