package cli

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOpenArguments: each option for opening a dump reaches a process that opens one in the same way.
func TestOpenArguments(t *testing.T) {
	c := &Context{Session: &Session{}}
	assert.Empty(t, c.OpenArguments())
	assert.False(t, c.Bounded())
	var want []string
	v := reflect.ValueOf(&c.Session.options).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("opt"), ",")
		if name == "" {
			continue
		}
		switch f := v.Field(i); f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
			want = append(want, "--"+name)
		case reflect.String:
			f.SetString(name)
			want = append(want, "--"+name, name)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"a", "b"}))
			want = append(want, "--"+name, "a", "--"+name, "b")
		case reflect.Int64:
			f.SetInt(1 << 20)
			want = append(want, "--"+name, "1048576")
		default:
			require.Fail(t, "an option of another kind", name)
		}
	}
	c.Session.options.Limits = map[string]uint64{"notes": 7, "ranges": 5}
	assert.Equal(t, append(want, "--limit", "notes=7", "--limit", "ranges=5"), c.OpenArguments())
	assert.True(t, c.Bounded())
	assert.Contains(t, want, "--max-memory")
}
