package dap

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPathsOfPDBs: a path of a PDB leads to no place but the folders that the client named.
func TestPathsOfPDBs(t *testing.T) {
	m := sourceMap{"/src": "/home/me/app", `C:\work`: "/home/me/work/", `\\HOST\share`: "/home/me/share", "/none": ""}
	for _, c := range []struct{ file, want string }{
		{"/src/a/x.cs", "/home/me/app/a/x.cs"},
		{`C:\work\a\x.cs`, "/home/me/work/a/x.cs"},
		{`\\HOST\share\x.cs`, "/home/me/share/x.cs"}, // read in the folder that was named
		{"/cwd/here/x.cs", "/cwd/here/x.cs"},
		{"/net/evil/x.cs", ""},
		{"/net/.//../etc", ""},
		{"/src/../../etc/passwd", ""},
		{`/src\..\..\etc\passwd`, ""},
		{"/src/a/../x.cs", ""}, // a may be a link
		{"/cwd/here/../../etc/passwd", ""},
		{"/cwd/hereafter/x.cs", ""},
		{`\\OTHER\share\x.cs`, ""},
		{`//OTHER/share/x.cs`, ""},
		{`\\?\UNC\OTHER\share\x.cs`, ""},
		{"/none/x.cs", ""},
		{"x.cs", ""},
		{"../x.cs", ""},
		{"", ""},
	} {
		path, ok := localPath(m, "/cwd/here", c.file)
		assert.Equal(t, c.want, path, c.file)
		assert.Equal(t, c.want != "", ok, c.file)
	}
	_, ok := localPath(nil, "", "/cwd/here/x.cs")
	assert.False(t, ok, "no folder is named")
}
