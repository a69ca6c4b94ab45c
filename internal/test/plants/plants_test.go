package plants

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestShown finds a secret in each spelling, and a short one beside its name alone.
func TestShown(t *testing.T) {
	p := &Truth{Plants: []Plant{{"a", "tmr35CXN-748kf"}}, Beside: []Plant{{"Pin", "Xk5p"}}}
	for _, s := range p.Plants {
		for i, text := range spellings(s.Value) {
			p.forms = append(p.forms, form{s, text, i == 0})
		}
	}
	for _, text := range []string{"x tmr35CXN-748kf y", "TMR35cxn-748KF", base64.StdEncoding.EncodeToString([]byte("tmr35CXN-748kf")), base64.StdEncoding.EncodeToString([]byte("u:tmr35CXN-748kf!")),
		base64.StdEncoding.EncodeToString([]byte("utmr35CXN-748kf!!")), "{'t', 'm', 'r', '3', '5', 'C', ...", "116, 109, 114, 51, 53, 67", "746d723335" + "43584e2d3734386b66"} {
		assert.Len(t, p.Shown(text), 1, text)
	}
	assert.Len(t, p.Shown("Pin = Xk5p"), 1)
	assert.Empty(t, p.Shown("Pin\nXk5p tmr35CXN"))
}
