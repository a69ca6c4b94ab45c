package dac

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestForeignLayout checks that a layout of another version is reported.
func TestForeignLayout(t *testing.T) {
	for version, want := range map[string]string{"7.0.5": "8.0", "8.0.23.53103": "", "8.0": "", "": "", "80.0.1": "8.0"} {
		inst := &Instance{}
		inst.version.Do(func() { inst.versionStr = version })
		assert.Equal(t, want, (&Runtime{inst: inst, measuredOn: "8.0"}).ForeignLayout(), version)
	}
	inst := &Instance{}
	inst.version.Do(func() { inst.versionStr = "4.700.20.11803" })
	assert.Empty(t, (&Runtime{inst: inst, measuredOn: "3.1"}).ForeignLayout(), "3.1 calls its files so")
}
