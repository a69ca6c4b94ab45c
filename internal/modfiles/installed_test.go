package modfiles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

func TestInstalled(t *testing.T) {
	root, packages := filepath.Join(t.TempDir(), "dot[net]"), t.TempDir()
	for _, v := range []string{"8.0.5", "10.0.1"} {
		dir := filepath.Join(root, "shared", "Microsoft.NETCore.App", v)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "libcoreclr.so"), nil, 0o644))
	}
	s := Installed{DotnetRoots: []string{root}, PackageFolders: []string{packages}}
	list := func(path string) (out []string) {
		for p := range s.Candidates(&target.Module{Path: path}, nil) {
			rel, err := filepath.Rel(root, p)
			require.NoError(t, err)
			out = append(out, rel)
		}
		return out
	}
	require.Equal(t, []string{
		filepath.Join("shared", "Microsoft.NETCore.App", "10.0.1", "libcoreclr.so"),
		filepath.Join("shared", "Microsoft.NETCore.App", "8.0.5", "libcoreclr.so"),
	}, list("/elsewhere/libcoreclr.so"))
	require.Empty(t, list("/elsewhere/*"))
	require.Empty(t, list("/elsewhere/.."))

	var got []string
	for p := range s.Candidates(&target.Module{Path: `C:\Users\me\.nuget\packages\Npgsql\8.0.3\lib\net8.0\Npgsql.dll`}, nil) {
		got = append(got, p)
	}
	require.Equal(t, []string{filepath.Join(packages, "npgsql", "8.0.3", "lib", "net8.0", "Npgsql.dll")}, got)
	for p := range s.Candidates(&target.Module{Path: `/x/packages/a/1.0/../../../../etc/passwd`}, nil) {
		t.Errorf("a recorded path leads to %s", p)
	}
}
