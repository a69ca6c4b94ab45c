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
	s := &Installed{DotnetRoots: []string{root}, PackageFolders: []string{packages}}
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

// TestInstalledHere checks that the default folders come from the environment and the user's home.
func TestInstalledHere(t *testing.T) {
	home, root, packages := t.TempDir(), t.TempDir(), t.TempDir()
	for _, v := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(v, home)
	}
	t.Setenv("DOTNET_ROOT", root)
	t.Setenv("NUGET_PACKAGES", packages)
	roots := (&Installed{}).roots()
	require.Equal(t, root, roots[0], "the user's own comes first")
	require.Equal(t, filepath.Join(home, ".dotnet"), roots[len(roots)-1])
	require.Equal(t, []string{packages}, (&Installed{}).packages())

	t.Setenv("DOTNET_ROOT", "")
	t.Setenv("NUGET_PACKAGES", "")
	require.Equal(t, roots[1:], (&Installed{}).roots())
	require.Equal(t, []string{filepath.Join(home, ".nuget", "packages")}, (&Installed{}).packages())

	for _, v := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(v, "")
	}
	require.Equal(t, roots[1:len(roots)-1], (&Installed{}).roots())
	require.Empty(t, (&Installed{}).packages())
}

// TestInstalledStops checks that the search stops when the caller does.
func TestInstalledStops(t *testing.T) {
	root, packages := t.TempDir(), t.TempDir()
	for _, v := range []string{"8.0.5", "10.0.1"} {
		write(t, filepath.Join(root, "shared", "Microsoft.NETCore.App", v, "a.dll"), nil)
	}
	m := &target.Module{Path: "/root/.nuget/packages/a/1.0/lib/a.dll"}
	for name, c := range map[string]struct {
		s    *Installed
		want string
	}{
		"roots": {&Installed{DotnetRoots: []string{root}, PackageFolders: []string{packages}},
			filepath.Join(root, "shared", "Microsoft.NETCore.App", "10.0.1", "a.dll")},
		"packages": {&Installed{DotnetRoots: []string{}, PackageFolders: []string{packages, root}}, filepath.Join(packages, "a", "1.0", "lib", "a.dll")},
	} {
		var got []string
		for p := range c.s.Candidates(m, nil) {
			got = append(got, p)
			break
		}
		require.Equal(t, []string{c.want}, got, name)
	}
}

// TestInstalledLooksOnce checks that folders are listed once for all modules.
func TestInstalledLooksOnce(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "shared", "Microsoft.NETCore.App", "8.0.5")
	write(t, filepath.Join(dir, "a.dll"), nil)
	s := &Installed{DotnetRoots: []string{root}, PackageFolders: []string{}}
	list := func(name string) (out []string) {
		for p := range s.Candidates(&target.Module{Path: "/app/" + name}, nil) {
			out = append(out, p)
		}
		return out
	}
	require.Equal(t, []string{filepath.Join(dir, "a.dll")}, list("a.dll"))
	write(t, filepath.Join(root, "shared", "Later.App", "9.0.0", "a.dll"), nil)
	write(t, filepath.Join(dir, "b.dll"), nil)
	require.Equal(t, []string{filepath.Join(dir, "a.dll")}, list("a.dll"), "a folder that came later is not seen")
	require.Equal(t, []string{filepath.Join(dir, "b.dll")}, list("b.dll"))
}
