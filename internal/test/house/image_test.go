package house_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImages: no container image runs as root.
func TestImages(t *testing.T) {
	b, err := os.ReadFile(".ci/Dockerfile")
	require.NoError(t, err)
	stages := regexp.MustCompile(`(?m)^FROM `).Split(string(b), -1)[1:]
	require.NotEmpty(t, stages)
	for _, s := range stages {
		users := regexp.MustCompile(`(?m)^USER (.*)$`).FindAllStringSubmatch(s, -1)
		if assert.NotEmpty(t, users, s) {
			assert.Equal(t, "65532:65532", users[len(users)-1][1], s)
		}
	}
}
